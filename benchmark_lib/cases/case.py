"""A case: what a customer wants, what it knows, and what must and must not happen. Data, validated on reading."""

from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ..records import content_hash
from .facts import Fact

Bucket = Literal["resolvable", "must_escalate", "adversarial"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Part):
    """A tool call that is accepted, asked for or forbidden; without `arguments` any call of the tool is meant."""

    tool: str
    arguments: dict[str, Any] = {}
    after: int | None = None


class Deed(_Part):
    """Something that a customer does with a tool of its own: fields of a row of a table are set."""

    tool: str
    table: str
    id: str
    set: dict[str, Any]


class Trouble(_Part):
    """What goes wrong at a tool."""

    tool: str
    at: int = Field(1, ge=1)
    times: int = Field(1, ge=1)
    """The first of its calls in the conversation that meets it (from 1), and how many in a row do."""
    where: dict[str, Any] = {}
    """Arguments of the calls that can meet it, such as one order's number; only these calls are counted."""
    kind: Literal["timeout", "rate_limit", "lost_ack", "false_ack", "stale", "cut"]
    """``timeout`` and ``rate_limit``: not carried out, and it says so; ``lost_ack``: carried out, and it answers that
    it timed out; ``false_ack``: not carried out, and it answers as if it were; ``stale``: it shows the row as it was at
    another time; ``cut``: its lists are cut short."""
    shows: dict[str, Any] = {}
    as_of: str = ""
    """Of a stale answer: the fields as they were, and when."""
    keep: int = Field(1, ge=0)
    """Of a cut one: how many entries of a list are left."""


class Meanwhile(_Part):
    """What has changed by itself, and what time it is, when one of the customer's messages arrives."""

    at: int = Field(ge=2)
    """The number of the message."""
    clock: datetime | None = None
    """When it was written, which then stands above it."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    """By table and id the fields that differ from now on, as in a world's rows."""


class Known(_Part):
    """One entry of the fact ledger: what the customer knows, and when it tells."""

    value: str | None = None
    """What is true, in the customer's words or as a value."""
    when: Literal["volunteered", "asked", "never"] = "asked"
    """``volunteered`` (stands in the email), ``asked``, or ``never`` (the customer does not know or have it)."""
    wrong: str | None = None
    """A wrong value that stands in the email; the right one comes when it is asked for again."""
    say: str | None = None
    """The sentence in which the customer gives it; else the store's phrase."""
    no_other_way: list[str] = []
    """Of evidence that it does not have: what it says, in turn, where another way to it is named; then the store's
    phrases."""
    attach: str | None = None
    """The attachment that comes with it, such as ``photo``; one of those of the kind of desk."""
    shows: str | None = None
    """What the attachment shows, in one line; of a label, what is printed on it."""
    does: Deed | None = None
    """What the customer really does when it is asked for this; without it, it only says so."""


class FollowUp(_Part):
    """Something the customer brings up later."""

    say: str
    when: Literal["next", "served"] = "served"
    """``next``: with the second message; ``served``: when it would otherwise leave."""
    gives: dict[str, str] = {}
    """Facts that are told with it."""


class Outcome(_Part):
    """One right way to end the case.

    The calls that change the desk, and which required facts must be told (default: all).
    """

    name: str
    calls: list[Call] = []
    facts: list[str] | None = None
    handover: bool = False
    reason: str | None = None


class Email(_Part):
    """The first message."""

    subject: str
    text: str


class Closing(_Part):
    """The customer's last words: where it has what it wanted, and where it gives up. Empty: one of the store's."""

    content: str = ""
    gave_up: str = ""


class Case(_Part):
    """One case."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    intent: str
    bucket: Bucket
    title: str
    """The intent is one of the store's intents, or its trap name; the bucket follows from it."""
    claim: Literal["true", "false", "unprovable"]
    tone: Literal["neutral", "friendly", "frustrated", "pressing", "vip"]
    language: str = Field("en", pattern="^[a-z]{2}$")
    hardness: str
    """Tags: whether what the customer says is true, how it is said, and what makes the case hard."""
    twin_of: str | None = None
    """The trap whose resolvable twin this is."""
    order: str
    """The order it is grounded in; `others` names more orders by a role."""
    others: dict[str, str] = {}
    customer_id: str
    """Whose order it is."""
    sender: str
    sender_name: str
    """The address and the name the email comes from."""
    persona: str
    goal: str
    """For a model customer."""
    email: Email
    ledger: dict[str, Known] = {}
    """Facts by slot."""
    followups: list[FollowUp] = []
    pressure: list[str] = Field(min_length=3, max_length=6)
    """What the customer brings up later, and the lines with which it pushes, in order."""
    pushes_before_accepting: int | None = 0
    """How many lines are said before the customer is content with what it was told; None: it never is (traps)."""
    moot: dict[int, list[str]] = {}
    """By the number of a line of pressure: the facts and tools of which one, told or carried out, leaves the line
    nothing to complain about, and the reasons to whose argument in `against` it comes: of the two one is said."""
    against: dict[str, str] = {}
    """What the customer answers to a reason of the store's, once, in place of its next line of pressure."""
    agrees: list[str] = []
    """How it says yes to what it wants, in its own voice, whatever the desk calls it."""
    agrees_to_all: list[str] = []
    """Of a customer with several wishes: how it says yes to all that the desk holds out, one line after the other."""
    check: str = ""
    """Of a customer with several wishes: what it says once where the desk reports that something is done, asks nothing,
    and something is still open; the next time it trusts the desk and leaves."""
    closing: Closing = Closing()
    """Its last words, in its own voice."""
    requested: list[Call] = []
    """What the customer asks for, taken literally; what an agent that believes everything would do."""
    accepts: list[str] = []
    """Further tools whose proposal the customer goes along with."""
    facts: dict[str, Fact] = {}
    """Required facts."""
    outcomes: list[Outcome] = Field(min_length=1)
    """Accepted outcomes; at least one."""
    forbidden: list[Call] = []
    """Acts that make a trap unsafe."""
    queues: list[str] = []
    """Accepted queues of a handover."""
    reasons: list[str] = []
    """Reasons, one of which must be told where a trap is declined without a handover; none: only a handover will do."""
    allowed_extra: list[Call] = []
    """Writes that may come on top of an outcome."""
    family: str = ""
    arm: Literal["", "hard", "clean", "told"] = ""
    pair: str = ""
    """Of a case of a hard set: its family; ``hard``, ``clean`` (its twin without the hard thing) or ``told`` (with the
    deciding passages handed over); and the name that its arms share."""
    limit: int | None = Field(None, ge=1, le=24)
    """How many messages the customer may send, where it is another number than a run's."""
    briefing: str = ""
    """What stands in the agent's prompt for this conversation alone."""
    world: dict[str, Any] = {}
    """What is laid over the store for this conversation: rows, policy and articles (see `benchmark_lib.store.laid`)."""
    library: str | None = None
    """Which articles of the store's library the desk has: ``large`` for all, or ids with commas."""
    trouble: list[Trouble] = []
    """What goes wrong at the tools."""
    meanwhile: list[Meanwhile] = []
    """What changes while the customer does not write."""
    planted: list[str] = []
    """Texts that were planted in what the tools return or attachments show, word for word."""
    canaries: list[str] = []
    """What must never be told to the customer."""
    told: list[str] = []
    """The articles that decide the case."""
    hardness_note: str = ""
    """Why a careful agent should get it right."""

    @field_validator("agrees_to_all", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("claim", mode="before")
    @classmethod
    def _claim_as_text(cls, value: Any) -> Any:
        return str(value).lower() if isinstance(value, bool) else value

    @cached_property
    def hash(self) -> str:
        """Content hash of the case as it is played, texts filled in.

        What only some cases have does not count in the others, whose hashes are older.
        """
        content = self.model_dump(exclude={name for name in OF_HARD_SETS if not getattr(self, name)})
        for known in content["ledger"].values():
            for name in ("does", "no_other_way"):
                if not known[name]:
                    del known[name]
        return content_hash(orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))

    @cached_property
    def several(self) -> bool:
        """Whether its customer has several wishes, and says yes to all that is listed of them."""
        return bool(self.agrees_to_all) or (bool(self.family) and any(len(o.calls) > 1 for o in self.outcomes))

    @property
    def agreeable(self) -> set[str]:
        """Tools whose proposal the customer says yes to."""
        calls = [c.tool for o in self.outcomes for c in o.calls] + [c.tool for c in self.requested]
        return set(calls) | set(self.accepts)


_FIELDS = list(Case.model_fields)
OF_HARD_SETS = ("agrees_to_all", "check", *_FIELDS[_FIELDS.index("family") :])
"""Fields that came with the hard sets."""
