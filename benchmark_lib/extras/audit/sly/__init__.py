"""Sly agents, which use no model and do not know the case: each tries to pass without work.

They see what any agent sees, and have rows in the audit: if one passes, score, customer or facts have a loophole.
"""

from . import acting, keywords, pouring, talking
from .base import NAMED, Sly

SLY: dict[str, type[Sly]] = {
    name: agent
    for file in (pouring, acting, talking, keywords)
    for name, agent in NAMED.items()
    if agent.__module__ == file.__name__
}
"""Sly agents by name; ``scripted:sly_pour`` plays one."""
