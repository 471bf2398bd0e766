"""Sly agents, which use no model and do not know the case: each tries to pass without work.

They see what any agent sees, and have rows in the audit: if one passes, score, customer or facts have a loophole.
"""

from . import acting, base, pouring
from .base import Sly, words


def _agent(name: str, does: str = "", like: str = "Sly", **traits: object) -> type[Sly]:
    """Return an agent's class: the class that it is like, with its traits."""
    parent: type[Sly] = {**vars(base), **vars(pouring), **vars(acting)}[like]
    return type(name, (parent,), {"__doc__": does or parent.__doc__, **traits})


SLY = {f"sly_{name}": _agent(name, **entry) for name, entry in words()["agents"].items()}
"""Sly agents by name; ``scripted:sly_pour`` plays one."""
