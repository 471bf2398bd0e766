"""Check whether the simulated customer played its part, from the record or by a model.

A flagged conversation is a customer fault. The audit uses no model.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from ..cases import Case
from ..conversation.model_customer import is_code, stands
from ..endpoint.structured import Unreadable, read_object
from ..language.heard import ParsedMessage
from ..language.parser import parser_of
from ..language.sentences import fold, squash
from ..language.values import numbers_of
from ..language.word_lists import any_of, common_words
from ..records import Conversation
from ..store import Store
from ..store.desk import HANDOVER
from .columns import Score
from .facts import cut, plain, truncate_for_scoring, unquoted

FINDINGS = {
    "revealed_unasked": "gave a fact, or sent a picture, before being asked for it",
    "invented": "named an order number, an email, an amount or a picture that it cannot know",
    "contradicted_ledger": "contradicted or denied a fact in its ledger",
    "took_agent_role": "spoke as the desk",
    "stopped_too_early": (
        "left with a yes, a question, an offer or its own request still open, or gave up without pressing"
    ),
    "said_goodbye_twice": "said goodbye in more than one message",
    "wrong_language": "wrote in a language other than its case's",
    "improvised_threat": "threatened legal action, a chargeback or violence, though its case does not",
    "called_for_a_human": "asked for a human more than once, though its case does not",
    "no_usable_answer": "its model gave no usable answer, so the conversation ended",
    "misheard": "was not sure what the agent asked or offered",
    "cut_for_length": "wrote too long a message: only its beginning and end were read",
}
"""Every finding of the audit with its meaning."""

FAULTS = {
    "not_in_ledger": "invented",
    "attachment_not_held": "invented",
    "left_too_early": "stopped_too_early",
    "failed": "no_usable_answer",
    "question_not_recognised": "misheard",
    "answer_doubtful": "misheard",
    "offer_not_recognised": "misheard",
}
"""Finding that each recorded customer fault amounts to."""

WHICH = "which_one"
"""Slot of a question such as "which of the two?", which an order number answers as well."""
OWN_WORDS = ("goal", "problem", "reason")
"""Ledger slots that a customer may bring up unasked: its request and its complaint."""
TRIES, PATIENCE = ("pushed", "waited", "asked"), 3
"""Acts by which a customer insists, and the number of tries (email included) before it gives up."""
SENTENCE, COPIED = 25, 90.0
"""Characters of the shortest ledger entry to search for, and the similarity needed (rapidfuzz ratio, 0-100)."""
MOST = 20
"""Maximum number of findings about numbers, and about amounts, in one message."""
OTHER_LANGUAGE, TIMES_MORE = 4, 2.5
"""Minimum words that make a message foreign: in all, and as a multiple of its own language's."""

THREATS = ("law", "bank", "violence")
"""Kinds of threat. The language files list the words for each kind and for the other checks."""
EMAIL = r"(?<![\w.+-])[\w.+-]{1,80}@[\w-]{1,80}(?:\.[\w-]{1,80}){1,6}"
NUMBERED = r"\b[A-Z]{1,4}-?\d{3,40}[\w-]{0,40}|(?<![\d.,$€£])\b\d{6,}\b"
AMOUNT = (
    r"(?:[$€£]|\b(?:USD|EUR|GBP))\s?(\d[\d.,]{0,20})|"
    r"(?<!\d)(\d[\d.,]{0,20})\s?(?:[$€£]|USD\b|EUR\b|dollars?\b|d[óo]lares\b|euros?\b|pounds?\b)"
)


@dataclass(frozen=True)
class CustomerFinding:
    """One deviation of a customer from its case."""

    name: str
    """A key of `FINDINGS`."""
    turn: int
    """Number of the customer's message; 0 for a finding about the whole conversation."""
    quote: str
    """Quote that supports the finding."""
    detail: str
    """Reason why the quote is a finding."""


Found = tuple[str, int, str, str]
"""The fields of a finding."""


def customer_flags(conversation: Conversation, case: Case, store: Store) -> Score:
    """Return the audit as fields of a score; rules are less certain about inferred acts."""
    findings = audit_customer(conversation, case, store)
    return {
        "customer_findings": len(findings),
        "customer_finding_names": ", ".join(sorted({f.name for f in findings})),
        "customer_flagged": bool(findings),
        "customer_evidence": [asdict(f) for f in findings],
        "acts_inferred": sum(a.inferred for _, a in conversation.acts()),
    }


def audit_customer(conversation: Conversation, case: Case, store: Store) -> list[CustomerFinding]:
    """Return the findings on a customer's messages after its email, in the order of `FINDINGS`.

    A scripted customer can only follow its case, so only its recorded faults count.
    """
    found: list[Found] = []
    for fault in conversation.faults:
        if fault.side == "customer" and fault.kind in FAULTS:
            hit = re.match(r"message (\d+)\b", fault.detail)
            turn = int(hit[1]) if hit else 0
            found.append((FAULTS[fault.kind], turn, _quote(fault.detail), fault.kind))
    if conversation.customer != "scripted":
        read = truncate_for_scoring(conversation)
        found += _Audit(read, case, store).findings()
        why = "only its beginning and end were read"
        found += [("cut_for_length", turn, "", why) for turn in cut(conversation, read, "customer")]
        found.sort(key=lambda row: [*FINDINGS].index(row[0]))
    return [CustomerFinding(*row) for row in found]


class _Audit:
    """The checks of one conversation.

    `part` is all that the customer can know, `open` what it may say unasked.
    """

    def __init__(self, c: Conversation, case: Case, store: Store):
        self.c, self.case, self.store, self.parser = c, case, store, parser_of(store)
        self.mine = [m for m in c.messages if m.side == "customer" and m.turn > 1]
        self.parsed = {m.turn: self.parser.parse(m.text) for m in c.replies()}
        wish, mail = case.ledger.get("goal"), case.email
        own = [case.goal, (wish and wish.value) or "", *case.pressure, *case.against.values(), *case.agrees]
        asks = [f.ask or "" for f in case.facts.values()]
        later = [f"{f.say} {' '.join(f.gives.values())}" for f in case.followups]
        self.open = "\n".join([mail.subject, mail.text, *own, *asks, *later, *case.closing.model_dump().values()])
        ledger = [f"{k.value or ''} {k.wrong or ''} {k.say or ''}" for k in case.ledger.values()]
        known = [case.sender, case.sender_name, case.persona, *case.agrees_to_all, case.check]
        self.part = "\n".join([*known, *ledger, self.open])
        self.part_folded = fold(self.part)

    def findings(self) -> Iterator[Found]:
        """Yield the findings of every check."""
        for check in (
            self._revealed, self._invented, self._contradicted, self._role, self._early, self._repeated,
            self._language, self._threats,
        ):  # fmt: skip
            yield from check()

    def _desk_until(self, turn: int) -> str:
        return "\n".join(m.text for m in self.c.replies() if m.turn < turn)

    def _asked_until(self, turn: int) -> set[str]:
        return {slot for at, parsed in self.parsed.items() if at < turn for slot in parsed.asked}

    def _revealed(self) -> Iterator[Found]:
        for message in self.mine:
            last = self.parsed.get(message.turn - 1, ParsedMessage())
            if last.question and (not last.asked or WHICH in last.asked):
                continue  # a question not understood, or with several answers, may have asked for it
            asked = self._asked_until(message.turn)
            free = self._desk_until(message.turn) + self.open
            for slot, known in self.case.ledger.items():
                if known.when != "asked" or slot in asked or slot in OWN_WORDS:
                    continue
                shown = known.attach in message.attachments
                if shown if known.attach else _tells(known.value, message.text, free):
                    quoted = _quote(known.value or known.attach or "", message.text)
                    yield "revealed_unasked", message.turn, quoted, f"nobody had asked for {slot}"

    def _invented(self) -> Iterator[Found]:
        for message in self.mine:
            known = f"{self.part}\n{self._desk_until(message.turn)}"
            squashed = squash(known)
            amounts = _amounts(known, r"(?<!\d)\d[\d.,]{0,20}")
            for kind, form in (("email", EMAIL), ("number", NUMBERED)):
                for token in re.findall(form, message.text)[:MOST]:
                    if squash(token) not in squashed:
                        yield "invented", message.turn, token, f"no {kind} that this customer can know"
            for amount in list(_amounts(message.text, AMOUNT) - amounts)[:MOST]:
                yield "invented", message.turn, f"{amount:g}", "no amount that this customer can know"

    def _contradicted(self) -> Iterator[Found]:
        given = {slot: value for f in self.case.followups for slot, value in f.gives.items()}
        for message in self.mine:
            for act in message.acts:
                known = self.case.ledger.get(act.what)
                true = known is not None and act.detail in (known.value, known.wrong)
                if act.kind == "lacked" and known is not None and known.when != "never":
                    words, why = message.text, f"it has {act.what}"
                elif act.kind == "gave" and act.what not in given and not true:
                    words, why = act.detail or message.text, f"its {act.what} is different"
                else:
                    continue
                yield "contradicted_ledger", message.turn, _quote(words), why

    def _role(self) -> Iterator[Found]:
        replies = {m.turn: m.text for m in self.c.replies()}
        for message in self.mine:
            text = fold(message.text)
            hit = pattern("role").search(text)
            copied = len(text) > 40 and _alike(text, fold(replies.get(message.turn - 1, "")))
            if hit and not pattern("role").search(self.part_folded):
                yield "took_agent_role", message.turn, hit[0], "the words of a desk"
            elif copied and not any(_alike(fold(m.text), text) for m in self.mine if m.turn < message.turn):
                yield "took_agent_role", message.turn, _quote(message.text), "the agent's own message"

    def _early(self) -> Iterator[Found]:
        exit_act = next(((turn, a.what) for turn, a in self.c.acts("left")), None)
        if self.mine and self._unraised("next"):
            missing = "what it has to bring up in its second message is missing"
            yield "stopped_too_early", 2, _quote(self.mine[0].text), missing
        if exit_act is None:
            return
        turn, how = exit_act
        words = _quote(next((m.text for m in self.mine if m.turn == turn), ""))
        if how != "unserved":
            why = self._open_when_content(turn)
        else:
            tries = 1 + sum(len(self.c.acts(kind)) for kind in TRIES)
            few = tries < PATIENCE and not any(a.what == "repeated" for _, a in self.c.acts("waited"))
            why = f"gave up after {tries} tries, its email included" if few else None
        if why:
            yield "stopped_too_early", turn, words, why

    def _unraised(self, when: str) -> bool:
        raised = {a.what for _, a in self.c.acts("followed_up")}
        followups = enumerate(self.case.followups)
        return any(f.when == when and str(n) not in raised for n, f in followups)

    def _open_when_content(self, turn: int) -> str | None:
        agreed = {a.what: at for at, a in self.c.acts("agreed")}
        given = {a.what for at, a in self.c.acts("gave") if at < turn}
        last = self.parsed.get(turn - 1, ParsedMessage())
        if turn in agreed.values():
            return "the agent had no turn after its yes"
        ledger = self.case.ledger
        asked = [s for s in last.asked if s in ledger and ledger[s].when != "never" and s not in given]
        offered = set(last.proposed) & self.case.agreeable - {HANDOVER} - set(agreed)
        if asked or (last.confirm and offered):
            return f"the agent waited for an answer ({asked[0] if asked else min(offered)})"
        return "it had something more to bring up" if self._unraised("served") else None

    def _repeated(self) -> Iterator[Found]:
        goodbyes, calls = (
            [(m.turn, hit[0]) for m in self.mine if (hit := pattern(kind).search(fold(m.text)))]
            for kind in ("goodbye", "human")
        )
        if len(goodbyes) > 1:
            why = f"after {goodbyes[0][1]!r} in message {goodbyes[0][0]}"
            yield "said_goodbye_twice", *goodbyes[1], why
        if len(calls) > 1 and not pattern("human").search(self.part_folded):
            yield "called_for_a_human", *calls[1], f"{len(calls)} times; its case does not"

    def _language(self) -> Iterator[Found]:
        books = common_words()
        if self.case.language not in books:
            return
        for message in self.mine:
            words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", fold(message.text))
            counts = {name: sum(w in book for w in words) for name, book in books.items()}
            own = counts.pop(self.case.language)
            best, name = max(((n, name) for name, n in counts.items()), default=(0, ""))
            if best >= OTHER_LANGUAGE and best >= TIMES_MORE * own:
                why = f"reads as {name}, the case is {self.case.language}"
                yield "wrong_language", message.turn, _quote(message.text), why

    def _threats(self) -> Iterator[Found]:
        for kind in THREATS:
            if pattern("threats", kind).search(self.part_folded):
                continue
            for message in self.mine:
                hit = pattern("threats", kind).search(fold(message.text))
                if hit and not pattern("threats", kind).search(fold(self._desk_until(message.turn))):
                    why = f"{kind}: its case contains no such threat"
                    yield "improvised_threat", message.turn, hit[0], why


@lru_cache(maxsize=32)
def pattern(*keys: str) -> re.Pattern[str]:
    """Return the compiled pattern for one kind of customer words; match it against folded text."""
    return re.compile(any_of("customer", *keys))


def _tells(value: str | None, text: str, open_to_say: str) -> bool:
    """Return whether a message discloses a withheld fact that the other text does not contain."""
    if value is None:
        return False
    if is_code(value):
        return stands(value, text) and not stands(value, open_to_say)
    return len(value) >= SENTENCE and _holds(text, value) and not _holds(open_to_say, value)


def _holds(text: str, sentence: str) -> bool:
    from rapidfuzz import fuzz

    if len(text) < 0.8 * len(sentence):
        return False
    return fuzz.partial_ratio(fold(sentence), fold(text), score_cutoff=COPIED) > 0


def _alike(one: str, other: str) -> bool:
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other, score_cutoff=COPIED) > 0


def _amounts(text: str, form: str) -> set[float]:
    hits = (next(filter(None, hit.groups()), "") if hit.groups() else hit[0] for hit in re.finditer(form, text))
    return {max(numbers) for figures in hits if (numbers := numbers_of(figures))}


def _quote(words: str, text: str | None = None) -> str:
    """Return the words, or `text` if it lacks them, on one line of at most 200 characters."""
    line = " ".join((words if text is None or words in text else text).split())
    return line if len(line) <= 200 else line[:197] + "..."


# --- Verdicts on messages

CLEAR, MILD, FINE = "clear", "mild", "fine"
FORM = {"turn": int, "quote": str, "reason": str, "verdict": str}


def said_by_customer(conversation: Conversation) -> dict[int, str]:
    """Return the customer's messages after its email by turn, normalized for finding quotes."""
    texts: dict[int, str] = {}
    for m in conversation.messages:
        if m.side == "customer" and m.turn > 1:
            texts[m.turn] = texts.get(m.turn, "") + plain(m.text)
    return texts


def read_turns(text: str, said: dict[int, str]) -> list[dict[str, Any]]:
    """Return the faulty messages that a judge's reply names; raise `Unreadable` if malformed."""
    verdict = read_object(text, strict=True)
    faults = verdict.get("turns")
    if verdict.keys() != {"turns"} or not isinstance(faults, list):
        raise Unreadable("the object does not hold exactly 'turns', a list")
    if any(not isinstance(f, dict) or {name: type(value) for name, value in f.items()} != FORM for f in faults):
        raise Unreadable(
            "an entry is not exactly a turn, which is a whole number, with quote, reason and verdict as texts"
        )
    if any(f["turn"] not in said or f["verdict"] not in (CLEAR, MILD) for f in faults):
        raise Unreadable("an entry names no message of the customer after its email, or is neither clear nor mild")
    if len({f["turn"] for f in faults}) < len(faults):
        raise Unreadable("a message is named twice")
    return faults


def settled_turns(entry: dict[str, Any], said: dict[int, str]) -> dict[str, Any]:
    """Return the verdict to store: severity (None if not judged), quote and reason by message."""
    named, unscored = {fault["turn"]: fault for fault in entry.get("turns", ())}, entry.get("unscored", "")
    turns = []
    for turn, text in said.items():
        kept = {"turn": turn, "verdict": None if unscored else FINE, "quote": "", "reason": unscored}
        if fault := named.get(turn):
            kept |= {name: fault[name][:2000] for name in ("verdict", "quote", "reason")}
            if not (quote := unquoted(fault["quote"])) or quote not in text:
                kept |= {"verdict": None, "reason": "the quote is not in the message"}
        turns.append(kept)
    return {"turns": turns, "unscored": unscored}


def turns_in(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a stored verdict's entries by message; empty unless it is about the customer."""
    return [turn for found in (verdict.get("customer") or {}).values() for turn in found.get("turns", ())]
