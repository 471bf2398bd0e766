"""Sly agents, without model or case knowledge: each tries to pass without doing the work.

They see the same as any agent and are rows of the audit: if one passes, score, customer or facts have a hole.
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
