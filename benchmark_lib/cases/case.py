"""Validate cases: what a customer wants and knows, and what must and must not happen."""

from functools import cached_property
from typing import Annotated, Any, Literal

import orjson
from pydantic import BeforeValidator, Field

from ..records import content_hash
from ..store.trouble import CustomerAction, Meanwhile, Part, Trouble
from .facts import Fact
from .hard import OF_HARD_CASES, USUAL, Terms

Bucket = Literal["resolvable", "must_escalate", "adversarial"]


class Call(Part):
    """An accepted, requested or forbidden call; without `arguments`, any call to the tool."""

    tool: str
    arguments: dict[str, Any] = {}
    after: int | None = None


class Known(Part):
    """One entry of the fact ledger: what the customer knows, and when it discloses it."""

    value: str | None = None
    """True value, in the customer's words or as data."""
    when: Literal["volunteered", "asked", "never"] = "asked"
    """``volunteered`` (in the email), ``asked``, or ``never`` (the customer does not know or have it)."""
    wrong: str | None = None
    """Wrong value in the email; the customer corrects it when asked again."""
    say: str | None = None
    """Sentence in which the customer discloses it; by default the store's phrase."""
    no_other_way: list[str] = []
    """Answers, in order, to suggestions for obtaining missing evidence in another way; then the store's phrases."""
    attach: str | None = None
    """Attachment that comes with it, such as ``photo``; one of the desk's kinds."""
    shows: str | None = None
    """Content of the attachment in one line; for a label, the print on it."""
    does: CustomerAction | None = None
    """Action that the customer really takes when asked for this; without one, the customer only claims to act."""


class FollowUp(Part):
    """A request that the customer brings up later."""

    say: str
    when: Literal["next", "served"] = "served"
    """``next``: with the second message; ``served``: instead of leaving."""
    gives: dict[str, str] = {}
    """Facts that the customer discloses with it."""


class Outcome(Part):
    """One right way to end the case: calls that change the desk, and facts (default: all)."""

    name: str
    calls: list[Call] = []
    facts: list[str] | None = None
    handover: bool = False
    reason: str | None = None


class Email(Part):
    """The first message."""

    subject: str
    text: str


class Closing(Part):
    """The customer's last words when content and when giving up; by default, the store's."""

    content: str = ""
    gave_up: str = ""


class Case(Part):
    """One case."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    intent: str
    bucket: Bucket
    title: str
    """Title, and intent: one of the store's intents or the name of a trap, which determines the bucket."""
    claim: Annotated[
        Literal["true", "false", "unprovable"], BeforeValidator(lambda c: str(c).lower() if isinstance(c, bool) else c)
    ]
    tone: Literal["neutral", "friendly", "frustrated", "pressing", "vip"]
    language: str = Field("en", pattern="^[a-z]{2}$")
    hardness: str
    """Tags: truth of the customer's claim, tone, language, and the difficulty in words."""
    twin_of: str | None = None
    """Trap of which this case is the resolvable twin."""
    order: str
    """Order that the case is about; `others` names more orders by role."""
    others: dict[str, str] = {}
    customer_id: str
    """Buyer of the order."""
    sender: str
    sender_name: str
    """Address and name of the email's sender."""
    persona: str
    goal: str
    """Instructions for a model customer."""
    email: Email
    ledger: dict[str, Known] = {}
    """Facts by slot."""
    followups: list[FollowUp] = []
    pressure: list[str] = Field(min_length=3, max_length=6)
    """The customer's later requests, and the lines of pressure in order."""
    pushes_before_accepting: int | None = 0
    """Number of lines of pressure before the customer accepts an answer; None if it never does (traps)."""
    moot: dict[int, list[str]] = {}
    """Facts and tools that make a line of pressure (by number) moot once stated or carried out. A line that lists a
    reason has the same content as the `against` line for that reason, so the customer says only one of the two."""
    against: dict[str, str] = {}
    """Answers to the store's reasons, each given once in place of the next line of pressure."""
    agrees: list[str] = []
    """Ways of agreeing to its request, in the customer's voice, for any wording of the offer."""
    agrees_to_all: Annotated[list[str], BeforeValidator(lambda ways: [ways] if isinstance(ways, str) else ways)] = []
    """Ways of agreeing to everything offered, in order, if the customer has several requests."""
    check: str = ""
    """Question, asked once, if the desk reports an action and asks nothing while a request is open. The next time, the
    customer trusts the desk and leaves. For several requests only."""
    closing: Closing = Closing()
    requested: list[Call] = []
    """Calls that the customer literally asks for, and that a gullible agent would make."""
    accepts: list[str] = []
    """Further tools whose proposal the customer accepts."""
    facts: dict[str, Fact] = {}
    outcomes: list[Outcome] = Field(min_length=1)
    """Required facts, and accepted outcomes."""
    forbidden: list[Call] = []
    """Acts that make a trap unsafe."""
    queues: list[str] = []
    """Accepted queues for a handover."""
    reasons: list[str] = []
    """Reasons, one of which must be given if a trap is declined without a handover; empty: only a handover is right."""
    allowed_extra: list[Call] = []
    """Writes that are allowed in addition to an outcome."""
    family: str = ""
    arm: Literal["", "hard", "clean", "told"] = ""
    pair: str = ""
    """Hard cases only: family, arm, and the name that the arms share. The arm ``clean`` is the twin without the
    difficulty; ``told`` has the deciding articles in the prompt."""
    limit: int | None = Field(None, ge=1, le=24)
    """Maximum number of messages that the customer may send, if not the run's limit."""
    briefing: str = ""
    """Text added to the agent's prompt for this conversation only."""
    world: dict[str, Any] = {}
    """Overlay on the store for this conversation: rows, policy and articles (see `benchmark_lib.store.world`)."""
    library: str | None = None
    """Articles of the store's library that the desk has: ``large`` for all, or ids separated by commas."""
    trouble: list[Trouble] = []
    meanwhile: list[Meanwhile] = []
    """Failures of the tools, and changes between the customer's messages."""
    planted: list[str] = []
    """Texts planted in tool results or attachments, word for word."""
    canaries: list[str] = []
    """Values that must never be disclosed to the customer."""
    told: list[str] = []
    """Articles that decide the case."""
    hardness_note: str = ""
    """Explanation of why a careful agent should get the case right."""

    @cached_property
    def hash(self) -> str:
        """Return the content hash of the case as played, with its texts filled in.

        Fields added later count only if set, so that older cases keep their hashes.
        """
        content = self.model_dump(exclude={name for name in OF_HARD_SETS if not getattr(self, name)})
        for known in content["ledger"].values():
            for name in ("does", "no_other_way"):
                if not known[name]:
                    del known[name]
        return content_hash(orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))

    @cached_property
    def several(self) -> bool:
        """Return whether the customer has several requests and agrees to everything listed."""
        return bool(self.agrees_to_all) or (self.terms.agrees_to_lists and any(len(o.calls) > 1 for o in self.outcomes))

    @property
    def terms(self) -> Terms:
        """Return how the case is played and scored; only this place tells hard cases apart."""
        return OF_HARD_CASES if self.family else USUAL

    @property
    def agreeable(self) -> set[str]:
        """Return the tools whose proposal the customer accepts."""
        calls = [*self.requested, *(call for outcome in self.outcomes for call in outcome.calls)]
        return {*self.accepts, *(call.tool for call in calls)}


_FIELDS = list(Case.model_fields)
OF_HARD_SETS = ("agrees_to_all", "check", *_FIELDS[_FIELDS.index("family") :])
"""Fields introduced with the hard sets."""
