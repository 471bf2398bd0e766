"""Simulate a desk: an immutable store, a view of it for each conversation, and tools."""

from .desk import Desk
from .kinds import DeskKind, Store, register_kind
from .tools import FromPolicy, NotFound, Tool, load_tools, tool, tools_of
from .world import FolderStore, foreign_named, load_store
