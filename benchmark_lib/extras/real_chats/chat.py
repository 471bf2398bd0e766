"""A conversation between two people, as every format of import is read into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Did:
    """One act of the human agent: a button, an API call or a canned reply.

    Attributes
    ----------
    name : str
        The act as the log names it.
    values : dict of str to str
        What the agent entered, by field.
    result : Any
        The system's answer; None if the log has none.
    suggested : list of str
        Acts that the tool suggested at that moment, best first.
    text : str
        What the customer read, for a canned reply; otherwise the log's own line about the act.
    """

    name: str
    values: dict[str, str] = field(default_factory=dict)
    result: Any = None
    suggested: list[str] = field(default_factory=list)
    text: str = ""


@dataclass
class ChatLine:
    """One line of a chat: the words of a side, or an act of the agent (then `did` is set)."""

    side: str
    text: str = ""
    did: Did | None = None


@dataclass
class RealChat:
    """One chat.

    Attributes
    ----------
    id : str
        Unique among the chats of an import.
    lines : list of Line
        In the order of the log; `side` is ``agent`` or ``customer``.
    record : dict of str to Any
        What the company's records hold about the customer: names, addresses, numbers. Its values are personal data.
    about : dict of str to str
        What the log says about the chat itself, such as its topic.
    procedure : str
        Name of the written procedure that applies, or empty.
    handed_over, resolved : bool or None
        The outcome, if the log states it.
    """

    id: str
    lines: list[ChatLine] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    procedure: str = ""
    handed_over: bool | None = None
    resolved: bool | None = None
