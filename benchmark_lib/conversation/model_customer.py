"""The model customer: a language model plays a case and records its acts.

Its own records are checked. A disclosed fact gets the ledger's value, and an attachment must be in the ledger. The
customer may leave only when what it agreed to has been done. Acts derived from its words are marked as inferred.
"""

import re
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..cases import Case
from ..endpoint.faults import EndpointError
from ..endpoint.structured import Unreadable, ask_for, read_object
from ..language.answers import cleaned
from ..language.heard import ParsedMessage
from ..language.parser import parser_of
from ..language.sentences import fold, found_in, kept
from ..language.word_lists import books
from ..project import DATA
from ..records import Act, Fault
from ..store import Store
from ..store.rules import CONDITIONAL
from ..textfiles import front_matter, read_text, render
from ..threads import read_aside
from .scripted import reason_in_words
from .scripted_customer import ScriptedCustomer
from .speaker import ConversationState, CustomerFault, Reply

PROPOSAL, QUESTION = "proposal", "question"
"""Names of an offer of no known act that gets a yes or no, and of a question about no act."""
TURNS_TO_WAIT = 2
"""Turns that the customer waits after a yes, unless it learns that the act is done."""
LONGEST_LETTER = 12_000
"""Most characters of an agent's message that the customer sees."""

MOST_ACTS = 100
"""Most acts in one message; an answer with more is rejected and requested again."""

LAST = "It is the last one you can write: unless you have to answer or say yes to something, let it be your last words."
PARTING = (
    "The exchange ends here, and what you write now is not answered any more. Say in your last words whether "
    "you have what you wanted, "
    "with end true."
)
"""Notes below the agent's message: before the customer's last message, and after its last turn."""

CODE = re.compile(r"[A-Z0-9+][A-Z0-9+ ()-]{3,}")


class AnsweredAct(BaseModel):
    """One entry of ``acts`` as the model writes it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal[
        "gave", "lacked", "attached", "agreed", "agreed_if", "refused", "asked", "pushed", "followed_up", "left"
    ]
    what: str = Field(max_length=200)

    @field_validator("what", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        return str(value) if type(value) is int else value


class CustomerAnswer(BaseModel):
    """The form that each answer of the model must have."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str = Field(min_length=1)
    acts: list[AnsweredAct] = Field(max_length=MOST_ACTS)
    end: bool
    rating: int | None = Field(None, ge=1, le=5)


class ModelCustomer:
    """Plays one case once: the case's email first, then one message for each model call.

    Parameters
    ----------
    complete : async callable
        ``complete(messages) -> Completion``; makes or replays one model call.
    """

    has_the_last_word = True
    """True if it sees the agent's reply to its last message, and may leave with a closing line."""

    def __init__(self, complete: Any, case: Case, store: Store):
        self.complete, self.case, self.store, self.parser = complete, case, store, parser_of(store)
        self.history: list[dict[str, Any]] = []
        self.agreed: dict[str, int] = {}
        self.given = {slot for slot, known in case.ledger.items() if known.when == "volunteered" and not known.wrong}
        self.followed_up: set[int] = set()
        self.pushes = 0
        self.reminded: dict[str, int] = {}

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the next message with its acts; raise `CustomerFault` for an unusable answer."""
        if not talk.messages:
            return await ScriptedCustomer(self.case, self.store).reply(talk)
        if not self.history:
            self.history.append({"role": "system", "content": customer_prompt(self.case, self.store, talk.limit)})
        letter = talk.words("agent")
        await read_aside(len(letter), self.parser.parse, letter)  # the parser keeps the result for its use below
        self.history.append({"role": "user", "content": _delivered(letter, talk)})
        try:
            said = await ask_for(
                self.complete,
                self.history,
                lambda text, last: self._read(text, last, talk),
                lambda answer: talk.charge("customer", answer.usage),
            )
        except Unreadable as error:
            raise CustomerFault(f"no usable answer from the customer's model: {error}") from None
        except EndpointError as error:
            if error.kind != "context_overflow":
                raise
            raise CustomerFault(str(error)) from None
        talk.rating = said.rating if said.end else talk.rating
        answer = orjson.dumps(said.model_dump(exclude_none=True)).decode()
        self.history.append({"role": "assistant", "content": answer})
        return await read_aside(len(letter) + len(said.message), _Acts(self, said, talk).reply)

    def _read(self, text: str, last: bool, talk: ConversationState) -> CustomerAnswer:
        """Parse one answer strictly; reject an early end once, then ignore it."""
        try:
            answer = CustomerAnswer.model_validate(read_object(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Unreadable(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
        early = self._too_early(answer, talk) if answer.end else None
        if early is None:
            return answer
        if talk.turn > talk.limit:
            return answer.model_copy(update={"end": False})
        if not last:
            raise Unreadable(f"you cannot end the exchange yet: {early}")
        talk.faults.append(Fault("customer", "left_too_early", f"message {talk.turn}: {early}"))
        return answer.model_copy(update={"end": False})

    def _too_early(self, said: CustomerAnswer, talk: ConversationState) -> str | None:
        """Return why the customer may not leave with this message; None if it may."""
        if any(a.kind in ("agreed", "agreed_if") for a in said.acts):
            return "the desk has not answered the yes that you give in this message"
        if any(a.kind == "asked" for a in said.acts):
            return "the desk has not answered what you ask in this message"
        if any(a.kind == "left" and a.what == "unserved" for a in said.acts):
            return None
        parsed = self.parser.parse(talk.words("agent"))
        for name, turn in self.agreed.items():
            since = [c for c in talk.desk.calls if c.turn >= turn and not c.error and c.write]
            carried_out = any(name in (c.name, PROPOSAL) for c in since)
            believed = bool(parsed.claimed) if name == PROPOSAL else name in parsed.claimed
            if not carried_out and not believed and talk.turn - turn < TURNS_TO_WAIT:
                return f"you said yes to {name}, and the desk has not told you that it is done"
        if talk.turn in self.reminded.values():
            return None
        open_matter = self._open_matter(said, parsed, talk)
        if open_matter is None or open_matter in self.reminded:
            return None
        self.reminded[open_matter] = talk.turn
        return open_matter

    def _open_matter(self, said: CustomerAnswer, parsed: ParsedMessage, talk: ConversationState) -> str | None:
        """Return an unfinished matter; the customer is reminded of each once."""
        known = {slot for slot, entry in self.case.ledger.items() if entry.when != "never"}
        asked = [slot for slot in parsed.asked if slot in known - self.given]
        if asked:
            return f"the desk has asked you for {asked[0]}"
        offered = set(parsed.proposed) & self.case.agreeable - set(self.agreed)
        if parsed.confirm and offered:
            return f"the desk waits for your yes or no to {min(offered)}"
        raised = self.followed_up | {int(a.what) for a in said.acts if a.kind == "followed_up" and a.what.isdecimal()}
        left_out = [n for n, f in enumerate(self.case.followups) if f.when == "served" and n not in raised]
        if left_out:
            return f"you have not brought up followed_up {left_out[0]}"
        texts = [fold(cleaned(m.text)) for m in talk.messages if m.side == "agent"]
        answered = {f.ask for f in self.case.facts.values() if any(f.found_in(text) for text in texts)}
        later = [f.ask for f in self.case.facts.values() if f.after in raised]
        unanswered = next((ask for ask in [*questions(self.case), *later] if ask and ask not in answered), None)
        return f"the desk has not told you all you wanted to know ({unanswered})" if unanswered else None


class _Acts:
    """The acts of one answer, checked against the ledger."""

    def __init__(self, customer: ModelCustomer, said: CustomerAnswer, talk: ConversationState):
        self.customer, self.said, self.talk, self.case = customer, said, talk, customer.case
        self.acts: list[Act] = []
        self.attachments: list[str] = []

    def reply(self) -> Reply:
        """Return the message with the acts that pass the checks."""
        if self.talk.turn <= self.talk.limit:  # last words disclose nothing and agree to nothing: nobody answers them
            for act in self.said.acts:
                self._take(act.kind, act.what.strip())
            self._infer_facts()
            self._infer_yes()
        self.customer.given |= {a.what for a in self.acts if a.kind == "gave"}
        if self.said.end:
            endings = [a.what for a in self.said.acts if a.kind == "left" and a.what in ("content", "unserved")]
            pressed = self._did("pushed") or self._did("refused")
            how = endings[0] if endings else "unserved" if pressed else "content"
            self.acts.append(Act("left", how, inferred=not endings))
        return Reply(self.said.message.strip(), self.acts, self.attachments)

    def _take(self, kind: str, what: str) -> None:
        # The name of an unknown action becomes a proposal; ignore a yes if the agent asked for none.
        store = self.customer.store
        writes = what in store.tools and store.tools[what].write
        known, words = writes or what == PROPOSAL, self.talk.words("agent")
        parsed = self.customer.parser.parse(words)
        asked = "?" in words or parsed.confirm or parsed.question or bool(parsed.proposed)
        if kind == "gave" and not self._did("gave", what):
            self._gave(what)
        elif kind == "lacked" and not self._did("lacked", what):
            if what in self.case.ledger or any(what in book["slots"] for book in store.phrases.values()):
                self.acts.append(Act(kind, what))
        elif kind == "attached":
            self._attached(what)
        elif kind in ("agreed", "agreed_if") and asked:
            self._yes(what if known else PROPOSAL, None if known else what, conditional=kind == "agreed_if")
        elif kind == "refused":
            self.acts.append(Act(kind, what) if known else Act(kind, PROPOSAL, what, inferred=True))
        elif kind == "asked":
            self.acts.append(Act(kind, what if writes else QUESTION))
        elif kind == "pushed" and not self._did("pushed"):
            self.customer.pushes += 1
            self.acts.append(Act("pushed", str(self.customer.pushes)))
        elif kind == "followed_up" and what.isdecimal() and (index := int(what)) < len(self.case.followups):
            gives = {} if index in self.customer.followed_up else self.case.followups[index].gives
            self.acts += [] if index in self.customer.followed_up else [Act(kind, str(index))]
            self.acts += [Act("gave", slot, value) for slot, value in gives.items() if not self._did("gave", slot)]
            self.customer.followed_up.add(index)

    def _did(self, kind: str, what: str | None = None) -> bool:
        return any(a.kind == kind and what in (None, a.what) for a in self.acts)

    def _fault(self, kind: str, detail: str) -> None:
        self.talk.faults.append(Fault("customer", kind, f"message {self.talk.turn}: {detail}"))

    def _gave(self, slot: str) -> None:
        known = self.case.ledger.get(slot)
        if known is None or known.when == "never":
            self._fault("not_in_ledger", f"says that it gave {slot}")
        elif known.attach:
            self._attached(known.attach)
            self.acts.append(Act("gave", slot, known.value))
        elif not is_code(known.value) or stands(known.value or "", self.said.message):
            self.acts.append(Act("gave", slot, known.value))

    def _attached(self, what: str) -> None:
        attachable = {k.attach for k in self.case.ledger.values() if k.attach and k.when != "never"}
        if what not in attachable:
            self._fault("attachment_not_held", f"says that it sent {what!r}")
        elif what not in self.attachments:
            self.attachments.append(what)

    def _yes(self, tool: str, detail: str | None = None, *, conditional: bool = False, inferred: bool = False) -> None:
        """Record a yes with the arguments that the offer names, or the whole wish if `conditional`.

        Of the wishes for the tool, the one that best matches the offer is meant.
        """
        offer, store = self.talk.words("agent"), self.customer.store
        calls = [*(c for o in self.case.outcomes for c in o.calls), *self.case.requested]
        wishes = [(c.arguments, *store.kind.named_in(offer, c.arguments, store)) for c in calls if c.tool == tool]
        wish, fitting, _ = max(wishes, key=lambda w: len(w[1]) - len(w[2]), default=({}, set[str](), set[str]()))
        named = wish.keys() if conditional else fitting
        arguments, inferred = {k: v for k, v in wish.items() if k in named}, inferred or detail is not None
        how = CONDITIONAL if conditional else detail
        self.acts.append(Act("agreed", tool, how, inferred=inferred, arguments=arguments))
        self.customer.agreed[tool] = self.talk.turn

    def _infer_facts(self) -> None:
        """Record codes from the ledger (an order number) that the model did not record."""
        for slot, known in self.case.ledger.items():
            untold = known.when != "never" and is_code(known.value) and not self._did("gave", slot)
            if untold and stands(known.value or "", self.said.message):
                self.acts.append(Act("gave", slot, known.value, inferred=True))

    def _infer_yes(self) -> None:
        """Record a yes to a proposal if the message begins with one and the model recorded none."""
        parsed = self.customer.parser.parse(self.talk.words("agent"))
        if not parsed.confirm or any(map(self._did, ("agreed", "refused", "asked"))):
            return
        first = re.split(r"[.!?\n]", fold(kept(self.said.message)).strip(" ¡¿"), maxsplit=1)[0]
        reserved = "|".join(book["customer"]["reserved"] for book in books().values())
        own_book = books().get(self.case.language)
        agrees = own_book and re.match(rf"(?:{own_book['customer']['agrees']})\b", first)
        if agrees and not re.search(rf"\b(?:{reserved})\b", first):
            for name in parsed.proposed or [PROPOSAL]:
                self._yes(name, inferred=True)


def is_code(value: str | None) -> bool:
    """Return whether a value has a single spelling that can be found in a text (a postcode)."""
    if not value:
        return False
    return "@" in value or (CODE.fullmatch(value) is not None and any(c.isdigit() for c in value))


def stands(value: str, text: str) -> bool:
    """Return whether a text contains a code, regardless of spaces or hyphens."""
    letters = r"[\s.-]{0,9}".join(map(re.escape, re.sub(r"[\s-]", "", fold(value))))
    return found_in(re.compile(rf"(?<!\w){letters}(?!\w)"), fold(kept(text)))


def form_of_answers() -> str:
    """Return the form of a model customer's answers, a part of its prompt."""
    return read_text(DATA / "customer_form.md").rstrip("\n")


def prompt_path(store: Store) -> Path:
    """Return the path of a store's prompt for model customers."""
    return store.file("prompts/customer.md")


def customer_content(spec: str, store: Store) -> list[str] | None:
    """Return what identifies a model customer, which needs the store's prompt; None if scripted."""
    if spec != "scripted" and store.foreign:
        return [spec, store.version]
    return None if spec == "scripted" else [spec, front_matter(prompt_path(store))[1], form_of_answers()]


def customer_prompt(case: Case, store: Store, messages: int = 8) -> str:
    """Return the system prompt of the model that plays a case.

    It has persona, goal, ledger, notes and form of answers. The customer can write `messages` messages.
    """
    from babel import Locale

    if store.foreign:
        return store.foreign.customer_prompt(case)
    path = prompt_path(store)
    volunteered, kept_back, lacking = (
        {slot: known for slot, known in case.ledger.items() if known.when == when}
        for when in ("volunteered", "asked", "never")
    )
    actions = {n: t.description for n, t in store.tools.items() if t.write and n in case.agreeable}
    against = [(reason_in_words(store, name, case.language), answer) for name, answer in case.against.items()]
    language = Locale.parse(case.language).get_display_name("en")
    return render(
        front_matter(path)[1],
        str(path),
        case=case,
        store=store.info,
        language=language,
        questions=questions(case),
        told=volunteered,
        kept=kept_back,
        lacking=lacking,
        actions=actions,
        against=against,
        messages=messages,
        form=form_of_answers(),
    ).strip()


def questions(case: Case) -> list[str]:
    """Return the customer's initial questions that every outcome without a handover answers."""
    ways = [
        {f.ask: None for name, f in case.facts.items() if f.after is None and (o.facts is None or name in o.facts)}
        for o in case.outcomes
        if not o.handover
    ]
    return [ask for ask in (ways[0] if ways else ()) if ask and all(ask in way for way in ways)]


def _delivered(letter: str, talk: ConversationState) -> str:
    """Format a desk message for the customer, with the number of its next message."""
    words = letter.strip() or "(an empty message)"
    cut = f"{words[:LONGEST_LETTER]} [...]" if len(words) > LONGEST_LETTER else words
    if talk.turn > talk.limit:
        return f"The desk writes:\n\n{cut}\n\n({PARTING})"
    note = f"Your next message is number {talk.turn} of {talk.limit}."
    return f"The desk writes:\n\n{cut}\n\n({note if talk.turn < talk.limit else f'{note} {LAST}'})"
