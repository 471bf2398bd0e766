"""Did the simulated customer play its part? Read from the record alone, without a model; a flagged talk is a customer fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..cases import Case
from ..cases.facts import fold
from ..conversation.model_customer import is_code, stands
from ..conversation.understand import Heard, ear
from ..records import Conversation
from .bounds import as_read, cut
from .state import HANDOVER, squash

if TYPE_CHECKING:
    from ..store import Store

FINDINGS = {
    "revealed_unasked": "told a fact, or sent a picture, that it keeps until it is asked",
    "invented": "named an order number, an email, an amount or a picture that it cannot know of",
    "contradicted_ledger": "said something else than its ledger, or denied what is in it",
    "took_agent_role": "spoke as the desk",
    "stopped_too_early": "left with a yes, a question, an offer or a matter of its own still open, or gave up without pressing",
    "said_goodbye_twice": "said goodbye in more than one message",
    "wrong_language": "wrote in another language than its case",
    "improvised_threat": "threatened with law, bank or violence, which its case does not",
    "called_for_a_human": "called for a human more than once, which its case does not",
    "no_usable_answer": "its model gave no usable answer, so the talk broke off",
    "misheard": "did not understand a question of the agent",
    "cut_for_length": "wrote more than is read in full: the beginning and the end of the message were read",
}
"""What an audit can find, each with its meaning."""

FAULTS = {"not_in_ledger": "invented", "attachment_not_held": "invented", "left_too_early": "stopped_too_early",
          "failed": "no_usable_answer", "question_not_recognised": "misheard"}  # fmt: skip
"""Faults that the talk itself recorded, by the finding they amount to."""

WHICH = "which_one"
"""The slot of a question such as "which of the two?": an order's number answers it as well as a word does."""
PATIENCE = 3
"""Pushes before a customer may give up."""
SENTENCE, COPIED = 25, 90.0
"""A ledger entry of so many characters stands in a text when it is alike to this degree (rapidfuzz partial ratio, 0-100)."""
MOST = 20
"""Numbers, and amounts, of one message that can each become a finding."""
OTHER_LANGUAGE, TIMES_MORE = 4, 2.5
"""Common words of another language in one message, and how many times those of its own, that make it one in that language."""

ROLE = (
    r"how (?:can|may) (?:i|we) (?:help|assist)|thank you for (?:contacting|reaching out|getting in touch|your patience|writing to us)"
    r"|(?:i|we) apologi[sz]e for (?:the|any|your)|anything else (?:i|we) can (?:do|help)|\bas an ai\b|language model"
    r"|\b(?:i|we)(?:'ve| have) (?:now )?(?:processed|issued|cancell?ed|created|opened|initiated) (?:your|the) (?:refund|order|return|replacement|claim)"
    r"|\b(?:i|we)(?:'ll| will) (?:process|look into) (?:your|this for you)"
    r"|en qué (?:le |te )?pued[oe]|gracias por (?:contactar|ponerse en contacto|escribirnos|su paciencia)|lamentamos l[ao]s"
    r"|algo más en lo que (?:pueda|podamos)|\b(?:he|hemos) (?:procesado|cancelado|tramitado) su"
    r"|(?:puis-je|pouvons-nous) vous aider|merci de (?:nous avoir|votre patience)|nous (?:nous excusons|sommes désolés) pour"
    r"|\b(?:j'ai|nous avons) (?:annulé|traité|effectué) votre"
    r"|(?:kann ich|können wir) (?:ihnen|dir) (?:helfen|weiterhelfen)|dank für (?:ihre|deine) (?:nachricht|anfrage|geduld)|wir entschuldigen uns für"
    r"|\b(?:ich habe|wir haben) ihre (?:bestellung|rücksendung|erstattung) (?:storniert|veranlasst|bearbeitet|eröffnet)"
)
GOODBYE = (
    r"\b(?:good ?)?bye\b|that(?:'s| is) all i (?:needed|wanted)|have a (?:nice|good|great|lovely) (?:day|one|evening|weekend)|\bfarewell\b"
    r"|\bi give up\b|leave it at that|\badi[oó]s\b|hasta (?:luego|pronto)|que tengan? (?:un |una )?(?:buen|lindo)|es(?:o|to) (?:es|era) todo"
    r"|me rindo|au revoir|bonne (?:journée|soirée|continuation)|c'est tout ce (?:qu|dont)|j'abandonne|auf wiedersehen|\btschüss\b"
    r"|schönen (?:tag|abend)|das (?:war|wäre) (?:dann )?alles|ich gebe auf"
)
THREATS = {
    "law": (
        r"\b(?:lawyer|attorney|solicitor|legal action|lawsuit|sue you|suing|to court|in court|small claims|ombudsman|trading standards|police)\b"
        r"|abogad[oa]|demandar(?:l[eo]s?)?\b|tribunal|\bdenuncia|policía|\bavocat|porter plainte|\bpolice\b|\banwalt|rechtsanwält|vor gericht"
        r"|anzeige erstatten|verklage|\bpolizei\b"
    ),
    "bank": (
        r"charge ?back|disput(?:e|ing) (?:the |this |it |my )?(?:charge|payment|transaction|with)|reverse the (?:charge|payment)|contracargo"
        r"|retroceso del cargo|rétrofacturation|contester (?:le|ce) (?:paiement|débit)|rück ?buch|zurückbuchen"
    ),
    "violence": (
        r"\b(?:kill|hurt|beat|stab|shoot) you\b|burn (?:down )?your|smash your|know where you (?:live|work)|you(?:'ll| will) regret|matarl[oe]s|romperles"
        r"|vous tuer|casser la (?:gueule|figure)|bringe? (?:sie|euch|dich) um|schlage? (?:sie|euch|dich)"
    ),
}
HUMAN = (
    r"\b(?:speak|talk|transfer|connect|put|pass|escalate|get)\b[^.?!]{0,30}\b(?:human|real person|person|manager|supervisor|representative)\b"
    r"|\b(?:human|manager|supervisor)\b[^.?!]{0,15}\bplease"
    r"|\b(?:hablar|p[aá]s[ae]\w*|comuni\w+|transfi\w+)\b[^.?!]{0,30}\b(?:persona|humano|encargad[oa]|supervisora?|gerente|responsable)\b"
    r"|\b(?:parler|passe[zr]|transfér\w+)\b[^.?!]{0,30}\b(?:personne|humain|responsable|superviseur|directeur)\b"
    r"|\b(?:mensch\w*|vorgesetzt\w*|manager|echte[nrm]? person)\b[^.?!]{0,30}\b(?:sprechen|reden|verbinden)\b"
    r"|\b(?:verbinden|geben)\b[^.?!]{0,30}\b(?:mensch\w*|vorgesetzt\w*|manager)\b"
)
EMAIL = r"(?<![\w.+-])[\w.+-]{1,80}@[\w-]{1,80}(?:\.[\w-]{1,80}){1,6}"
NUMBERED = r"\b[A-Z]{1,4}-?\d{3,40}[\w-]{0,40}|(?<![\d.,$€£])\b\d{6,}\b"
AMOUNT = r"(?:[$€£]|\b(?:USD|EUR|GBP))\s?(\d[\d.,]{0,20})|(?<!\d)(\d[\d.,]{0,20})\s?(?:[$€£]|USD\b|EUR\b|dollars?\b|d[óo]lares\b|euros?\b|pounds?\b)"


@dataclass(frozen=True)
class Finding:
    """One thing a customer did that its part does not have.

    Attributes
    ----------
    name : str
        A key of `FINDINGS`.
    turn : int
        The number of the customer's message; 0 where it is about the whole talk.
    quote : str
        The words it rests on.
    detail : str
        What they are held against.
    """

    name: str
    turn: int
    quote: str
    detail: str


def customer_flags(conversation: Conversation, case: Case, store: "Store") -> dict[str, Any]:
    """The audit as values of a score.

    Returns
    -------
    dict
        ``customer_findings`` (their number), ``customer_finding_names``, ``customer_flagged``, ``customer_evidence`` (every finding with
        its quote) and ``acts_inferred`` (acts read from a model customer's words: rules that rest on them are that much less sure).
    """
    found = audit_customer(conversation, case, store)
    return {
        "customer_findings": len(found),
        "customer_finding_names": ", ".join(sorted({f.name for f in found})),
        "customer_flagged": bool(found),
        "customer_evidence": [asdict(f) for f in found],
        "acts_inferred": sum(a.inferred for _, a in conversation.acts()),
    }


def audit_customer(conversation: Conversation, case: Case, store: "Store") -> list[Finding]:
    """Hold everything a customer wrote after its email against its case.

    Parameters
    ----------
    conversation : Conversation
        The record. Of a scripted customer only its recorded faults are read: it cannot say anything but its case.
    case, store : Case, Store
        What it was played on.

    Returns
    -------
    list of Finding
        In the order of `FINDINGS`.
    """
    faults = [Finding(FAULTS[f.kind], _turn_of(f.detail), _quote(f.detail), f.kind) for f in conversation.faults if f.side == "customer" and f.kind in FAULTS]
    if conversation.customer == "scripted":
        return faults
    read = as_read(conversation)
    overlong = [Finding("cut_for_length", turn, "", "only its beginning and end were read") for turn in cut(conversation, read, "customer")]
    return sorted([*faults, *_Audit(read, case, store).findings(), *overlong], key=lambda f: [*FINDINGS].index(f.name))


class _Audit:
    """One record with what its checks share."""

    def __init__(self, c: Conversation, case: Case, store: "Store"):
        self.c, self.case, self.store, self.ear = c, case, store, ear(store)
        self.mine = [m for m in c.messages if m.side == "customer" and m.turn > 1]
        self.heard = {m.turn: self.ear.hear(m.text) for m in c.replies()}
        self.part = part_of(case)
        self.part_folded = fold(self.part)

    def findings(self) -> Iterator[Finding]:
        """Everything found, check by check."""
        for check in (self._revealed, self._invented, self._contradicted, self._role, self._early, self._goodbyes, self._language,
                      self._threats, self._human):  # fmt: skip
            yield from check()

    def _desk_until(self, turn: int) -> str:
        """What the agent wrote before the customer's message of this number."""
        return "\n".join(m.text for m in self.c.replies() if m.turn < turn)

    def _asked_until(self, turn: int) -> set[str]:
        return {slot for at, heard in self.heard.items() if at < turn for slot in heard.asked}

    def _revealed(self) -> Iterator[Finding]:
        for message in self.mine:
            last = self.heard.get(message.turn - 1, Heard())
            if last.question and (not last.asked or WHICH in last.asked):
                continue  # a question that was not understood, or that leaves open by what to answer it, may have asked for it
            asked, desk = self._asked_until(message.turn), self._desk_until(message.turn)
            for slot, known in self.case.ledger.items():
                if known.when != "asked" or slot in asked:
                    continue
                if known.attach in message.attachments if known.attach else _tells(known.value, message.text, desk + self._open_part()):
                    yield Finding("revealed_unasked", message.turn, _quote(known.value or known.attach, message.text), f"nobody had asked for {slot}")

    def _open_part(self) -> str:
        """What a customer may say by itself."""
        case = self.case
        return "\n".join([case.email.subject, case.email.text, *case.pressure, *(f"{f.say} {f.gives}" for f in case.followups)])

    def _invented(self) -> Iterator[Finding]:
        for message in self.mine:
            known = f"{self.part}\n{self._desk_until(message.turn)}"
            squashed, amounts = squash(known), _amounts(known, r"(?<!\d)\d[\d.,]{0,20}")
            for kind, found in (("email", re.findall(EMAIL, message.text)), ("number", re.findall(NUMBERED, message.text))):
                for token in found[:MOST]:
                    if squash(token) not in squashed:
                        yield Finding("invented", message.turn, token, f"no {kind} that this customer can know")
            for amount in list(_amounts(message.text, AMOUNT) - amounts)[:MOST]:
                yield Finding("invented", message.turn, f"{amount:g}", "no amount that this customer can know")

    def _contradicted(self) -> Iterator[Finding]:
        told = {slot: value for f in self.case.followups for slot, value in f.gives.items()}
        for message in self.mine:
            for act in message.acts:
                known = self.case.ledger.get(act.what)
                if act.kind == "lacked" and known is not None and known.when != "never":
                    yield Finding("contradicted_ledger", message.turn, _quote(message.text), f"it has {act.what}")
                elif act.kind == "gave" and act.what not in told and (known is None or act.detail not in (known.value, known.wrong)):
                    yield Finding("contradicted_ledger", message.turn, _quote(act.detail or message.text), f"its {act.what} is another")

    def _role(self) -> Iterator[Finding]:
        replies = {m.turn: m.text for m in self.c.replies()}
        for message in self.mine:
            text = fold(message.text)
            hit = pattern(ROLE).search(text)
            if hit and not pattern(ROLE).search(self.part_folded):
                yield Finding("took_agent_role", message.turn, hit[0], "the words of a desk")
            elif len(text) > 40 and _alike(text, fold(replies.get(message.turn - 1, ""))):
                yield Finding("took_agent_role", message.turn, _quote(message.text), "the agent's own message")

    def _early(self) -> Iterator[Finding]:
        """A customer that left while something was open."""
        left = next(((turn, a.what) for turn, a in self.c.acts("left")), None)
        raised = {a.what for _, a in self.c.acts("followed_up")}
        if self.mine and any(f.when == "next" and str(n) not in raised for n, f in enumerate(self.case.followups)):
            yield Finding("stopped_too_early", 2, _quote(self.mine[0].text), "what it has to bring up in its second message is missing")
        if left is None:
            return
        turn, how = left
        words = _quote(next((m.text for m in self.mine if m.turn == turn), ""))
        why = self._open_when_given_up() if how == "unserved" else self._open_when_content(turn, raised)
        if why:
            yield Finding("stopped_too_early", turn, words, why)

    def _open_when_given_up(self) -> str | None:
        pushes = len(self.c.acts("pushed"))
        return f"gave up after {pushes} pushes" if pushes < min(PATIENCE, len(self.case.pressure)) else None

    def _open_when_content(self, turn: int, raised: set[str]) -> str | None:
        agreed = {a.what: at for at, a in self.c.acts("agreed")}
        last, given = self.heard.get(turn - 1, Heard()), {a.what for at, a in self.c.acts("gave") if at < turn}
        if turn in agreed.values():
            return "the agent had no turn after its yes"
        ledger = self.case.ledger
        asked = [s for s in last.asked if s in ledger and ledger[s].when != "never" and s not in given]
        offered = set(last.proposed) & self.case.agreeable - {HANDOVER} - set(agreed)
        if asked or (last.confirm and offered):
            return f"the agent waited for an answer ({asked[0] if asked else min(offered)})"
        open_matters = [n for n, f in enumerate(self.case.followups) if f.when == "served" and str(n) not in raised]
        return "it had something more to bring up" if open_matters else None

    def _goodbyes(self) -> Iterator[Finding]:
        found = [(m.turn, hit[0]) for m in self.mine if (hit := pattern(GOODBYE).search(fold(m.text)))]
        if len(found) > 1:
            yield Finding("said_goodbye_twice", found[1][0], found[1][1], f"after {found[0][1]!r} in message {found[0][0]}")

    def _language(self) -> Iterator[Finding]:
        books = common_words(self.store)
        if self.case.language not in books:
            return
        for message in self.mine:
            words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", fold(message.text))
            counts = {name: sum(w in book for w in words) for name, book in books.items()}
            own, (best, name) = counts.pop(self.case.language), max(((n, name) for name, n in counts.items()), default=(0, ""))
            if best >= OTHER_LANGUAGE and best >= TIMES_MORE * own:
                yield Finding("wrong_language", message.turn, _quote(message.text), f"reads as {name}, the case is {self.case.language}")

    def _threats(self) -> Iterator[Finding]:
        for kind, words in THREATS.items():
            if pattern(words).search(self.part_folded):
                continue
            for message in self.mine:
                hit = pattern(words).search(fold(message.text))
                if hit and not pattern(words).search(fold(self._desk_until(message.turn))):
                    yield Finding("improvised_threat", message.turn, hit[0], f"{kind}: its case holds no such threat")

    def _human(self) -> Iterator[Finding]:
        found = [(m.turn, hit[0]) for m in self.mine if (hit := pattern(HUMAN).search(fold(m.text)))]
        if len(found) > 1 and not pattern(HUMAN).search(self.part_folded):
            yield Finding("called_for_a_human", found[1][0], found[1][1], f"{len(found)} times; its case does not")


def part_of(case: Case) -> str:
    """Everything a customer of this case can know or say, as one text."""
    ledger = [f"{k.value or ''} {k.wrong or ''} {k.say or ''}" for k in case.ledger.values()]
    followups = [f"{f.say} {' '.join(f.gives.values())}" for f in case.followups]
    who = [case.sender, case.sender_name, case.persona, case.goal, case.email.subject, case.email.text]
    return "\n".join([*who, *ledger, *followups, *case.pressure])


@lru_cache(maxsize=8)
def common_words(store: "Store") -> dict[str, frozenset[str]]:
    """The common words of each language the store has phrases in."""
    return {name: frozenset(map(fold, book["words"])) for name, book in store.phrases.items() if book.get("words")}


@lru_cache(maxsize=32)
def pattern(words: str) -> re.Pattern[str]:
    """A pattern over folded text, compiled once."""
    return re.compile(words)


def _tells(value: str | None, text: str, open_to_say: str) -> bool:
    """Whether a kept fact stands in a message, and nowhere in what may be said or was said before."""
    if value is None:
        return False
    if is_code(value):
        return stands(value, text) and not stands(value, open_to_say)
    return len(value) >= SENTENCE and _holds(text, value) and not _holds(open_to_say, value)


def _holds(text: str, sentence: str) -> bool:
    """Whether a sentence stands in a longer text, near enough word for word."""
    from rapidfuzz import fuzz

    return len(text) >= 0.8 * len(sentence) and fuzz.partial_ratio(fold(sentence), fold(text), score_cutoff=COPIED) > 0


def _alike(one: str, other: str) -> bool:
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other, score_cutoff=COPIED) > 0


def _amounts(text: str, form: str) -> set[float]:
    """The amounts in a text, whichever way their decimals are marked."""
    found = set()
    for hit in re.finditer(form, text):
        digits = (next(filter(None, hit.groups()), "") if hit.groups() else hit[0]).rstrip(".,")
        whole = re.fullmatch(r"(.*?)(?:[.,](\d{1,2}))?", digits)
        number = re.sub(r"\D", "", whole[1])
        if number:
            found.add(float(f"{number}.{whole[2] or 0}"))
    return found


def _turn_of(detail: str) -> int:
    hit = re.match(r"message (\d+):", detail)
    return int(hit[1]) if hit else 0


def _quote(words: str, text: str | None = None) -> str:
    """The words as they are quoted: in one line, not too long; the whole text where they do not stand in it as they are."""
    line = " ".join((words if text is None or words in text else text).split())
    return line if len(line) <= 200 else line[:197] + "..."
