"""The simulated desk.

An immutable store, a copy-on-write desk for every conversation, the tools on it, and what is one kind of desk's own.
"""

from .desk import Desk
from .kinds import DeskKind, register_kind
from .tools import FromPolicy, NotFound, Tool, load_tools, tool, tools_of
from .world import Store, load_store

__all__ = [
    "Desk",
    "DeskKind",
    "FromPolicy",
    "NotFound",
    "Store",
    "Tool",
    "load_store",
    "load_tools",
    "register_kind",
    "tool",
    "tools_of",
]
