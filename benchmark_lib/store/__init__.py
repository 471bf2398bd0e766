"""Simulate a desk: an immutable store, a copy-on-write desk for each conversation, and its tools."""

from .desk import Desk
from .kinds import DeskKind, register_kind
from .tools import FromPolicy, NotFound, Tool, load_tools, tool, tools_of
from .world import Store, foreign_named, load_store
