"""The messages of all conversations in packed scripts, which only the search page loads.

A page opened from disk may load scripts of its folder but may not fetch data. Each script holds one call with one
packed text in base 64, so nothing that a model or customer wrote can become code.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ...scoring.written import visible
from .conversations import ConversationPage
from .folder import Folder, Subfolder
from .words import packed

CHUNK = 4_000_000
"""How many characters of text go into one script, before packing."""


class Messages:
    """Every message of a site, each distinct text once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._spoken: dict[str, list[int]] = {}

    def add(self, talk: ConversationPage, raw: dict[str, Any]) -> None:
        """Add the messages of one record."""
        self._spoken[talk.href] = [
            2 * self._places.setdefault(visible(m["text"]), len(self._places)) + (m["side"] == "agent")
            for m in in_order(raw["messages"])
        ]

    def write(self, folder: Folder | Subfolder, talks: Sequence[ConversationPage]) -> list[str]:
        """Write the scripts.

        Parameters
        ----------
        talks : sequence of ConversationPage
            In the order of the list of transcripts.

        Returns their addresses. The first names the texts of each conversation, message by message: twice the place of
        the text, and one more where the agent wrote it. The others hold the texts, in order.
        """
        parts = [[self._spoken[t.href] for t in talks], *_chunks(self._places)]
        names = []
        for number, part in enumerate(parts):
            names.append(f"search/messages-{number}.js")
            folder.write(names[-1], packed(part), "search")
        return names


def in_order(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as a transcript shows and numbers them: by turn, the customer's before the agent's."""
    return sorted(messages, key=lambda m: (m["turn"], m["side"] != "customer"))


def _chunks(texts: Iterable[str]) -> Iterable[list[str]]:
    """Texts in lists of about `CHUNK` characters."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
