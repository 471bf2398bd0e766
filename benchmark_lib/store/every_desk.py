"""Tools of every desk: search the knowledge base, hand over to a person, close the ticket."""

from typing import Annotated, Any

from .desk import Desk
from .tools import FromPolicy, Tool, tool

HANDOVER, CLOSE, SEARCH = "hand_over_to_human", "close_ticket", "search_knowledge_base"
PASSAGES, NAMED = 4, 6
"""Number of passages that a search returns in full, and of further ones that it only names."""


@tool()
def search_knowledge_base(
    desk: Desk, query: Annotated[str, "The matter in a few English words, whatever the customer writes in."]
) -> dict[str, Any]:
    """Search the rules and guides of the shop, in English: the best four articles, and the names of up to six more."""
    found = desk.store.search.knowledge_base(query, PASSAGES + NAMED)
    shown = found[:PASSAGES]
    named = {f["article_id"]: f["title"] for f in found[PASSAGES:]}
    for passage in shown:
        named.pop(passage["article_id"], None)
    return {"passages": shown, "see_also": [f"{article_id} {title}" for article_id, title in named.items()]}


@tool(write=True)
def hand_over_to_human(
    desk: Desk,
    queue: Annotated[str, FromPolicy("queues"), "The team that takes over."],
    reason: Annotated[str, "Why, in a few words."],
    summary: Annotated[str, "What the colleague must know: what is verified, what is only claimed, what is asked."],
) -> dict[str, Any]:
    """Hand the conversation to a human colleague. After it you write one last message, and no tool works any more."""
    row = desk.add("tickets", "HO", {"queue": queue, "reason": reason, "summary": summary})
    desk.over = "handed_over"
    return {"handover_id": row["id"], "queue": queue}


@tool(write=True)
def close_ticket(desk: Desk, resolution: Annotated[str, "How it was solved."]) -> dict[str, Any]:
    """Close the ticket, once the customer has said that nothing is left. After it you write one last message."""
    row = desk.add("tickets", "TK", {"resolution": resolution})
    desk.over = "closed"
    return {"ticket_id": row["id"], "status": "closed"}


def with_every_desks(own: dict[str, Tool]) -> dict[str, Tool]:
    """Return a desk's own and common tools: reads first, those that end a conversation last."""
    reads, writes = ({name: t for name, t in own.items() if t.write == write} for write in (False, True))
    return {**reads, SEARCH: search_knowledge_base, **writes, HANDOVER: hand_over_to_human, CLOSE: close_ticket}
