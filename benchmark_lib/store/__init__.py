"""The simulated shop: an immutable store, a copy-on-write desk for every conversation, and the tools on it."""

from .desk import Desk
from .tools import FromPolicy, NotFound, Tool, load_tools, tool
from .world import Store, load_store

__all__ = ["Desk", "FromPolicy", "NotFound", "Store", "Tool", "load_store", "load_tools", "tool"]
