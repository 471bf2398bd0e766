"""Sly agents: no model, no case knowledge, and each a way of passing without doing the work.

They see what any agent sees, and are rows of the audit: where one passes, score, customer or facts have a hole.
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
