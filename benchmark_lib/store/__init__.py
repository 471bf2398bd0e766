"""The simulated desk: an immutable store, a copy-on-write desk for every conversation, and the tools on it."""

from .desk import Desk
from .kinds import DeskKind, register_kind
from .tools import FromPolicy, NotFound, Tool, load_tools, tool, tools_of
from .world import Store, foreign_named, load_store
