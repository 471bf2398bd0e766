"""State of a scripted customer's wording: facts it disclosed and phrases it used."""

from typing import Any

from ..cases import Case
from ..language.cues import holds
from ..language.parser import parser_of
from ..language.sentences import sentences
from ..language.word_lists import said_by_customers
from ..records import Act
from ..store import Store
from .customer_progress import CustomerProgress
from .customer_words import Draft, filled


class Voice:
    """The words of one customer."""

    def __init__(self, case: Case, store: Store):
        self.case, self.store, self.parser, self.kind = case, store, parser_of(store), store.kind
        self.phrases = store.phrases.get(case.language) or next(iter(store.phrases.values()))
        self.given: dict[str, int] = {}
        self.progress = CustomerProgress(case, store.kind)
        self.line = 0
        self.stale = 0
        self.argued: set[str] = set()
        self.used: dict[str, int] = {}
        self.said: set[str] = set()
        self.told: set[str] = set()
        self.words = ""
        self.seen: set[Any] = set()
        self.offered: set[str] = set()
        self.unasked: set[str] = set()
        self.declined: set[str] = set()
        self._proofs = (*store.kind.proofs, *store.kind.attachments)
        self._subject = store.kind.look_up[1]
        self._capitals = not case.email.text.strip()[:1].islower()

    def _open(self, slot: str) -> bool:
        """Return whether the customer knows this fact and has not disclosed it yet."""
        known = self.case.ledger.get(slot)
        return known is not None and known.when != "never" and slot not in self.given

    def _stands_for(self, slot: str) -> tuple[str, ...]:
        return tuple(self.phrases["slots"].get(slot, {}).get("stands_for", ()))

    def _put_in_a_clause(self, said: Draft) -> None:
        """Put a number that would be the whole message into a short clause."""
        number = next((a.detail for a in said.acts if a.kind == "gave" and a.what in self.kind.proofs), None)
        if number and [part.strip("\n.") for part in said.parts] == [number]:
            said.parts = [filled(self._of("reactions", "only_this"), number)]

    def _answer(self, slot: str, said: Draft) -> None:
        """Answer one question from the ledger, or say that the customer does not know."""
        known = self.case.ledger.get(slot)
        book = self.phrases["slots"].get(slot, {})
        if known is None or known.when == "never" or not (known.value or known.say or known.attach):
            own = known.say if known and known.say and f"lack:{slot}" not in self.used else None
            self.used.setdefault(f"lack:{slot}", 0)
            own = own or self._phrase(f"lack_{slot}", book.get("lack") or self.phrases["customer"]["unsure"])
            return said.add(own, Act("lacked", slot))
        times = self.given.get(slot, 0)
        self.given[slot] = times + 1
        if known.attach:
            if times and any(a.kind == "attached" for a in said.acts):
                return None
            said.attachments.append(known.attach)
        apart = "\n\n" if known.say and not times and slot not in (*self.kind.proofs, *self.kind.of_proofs) else ""
        if known.say and not times:
            words = known.say
        elif known.attach and times:
            words = self._customers("given")
        else:
            words = filled(self._phrase(f"slot_{slot}", book.get("answer") or ["{value}"]), known.value or "")
            if not self._capitals and words.casefold() == (known.value or "").casefold():
                words = known.value or words
        if words in self.told and slot not in self._proofs and " " in words:
            words = self._customers("given")
        self.told.add(words)
        return said.add(apart + words, Act("gave", slot, known.value))

    def _own_wish(self) -> str:
        known = self.case.ledger.get("goal")
        no = self._customers("no_thanks")
        return f"{no} {(known.say or known.value) if known else ''}".strip()

    def _holds(self, cue: str, words: str) -> bool:
        """Return whether a message contains a cue from ``heard_as`` in the language files."""
        message = sentences(words)
        languages = tuple(self.parser.languages(message))
        return any(holds("heard_as", cue, s.plain, languages) for s in message)

    def _leave(self, how: str, said: Draft) -> None:
        own, others = self.case.closing.content, "thanks"
        if how != "content":
            own, others = self.case.closing.gave_up, "gave_up"
        said.add(own or self._customers(others), Act("left", how))
        said.left = True

    def _never_the_same(self, text: str) -> str:
        """Prefix a message until it differs from every earlier message."""
        while text in self.said:
            text = f"{self._customers('again')} {text}"
        self.said.add(text)
        return text

    def _next_line(self, kind: str, own: list[str], others: list[str]) -> str:
        """Return the case's next line for a moment; after the last line, a wording of the store."""
        used = self.used.get(kind, 0)
        if used >= len(own):
            return self._phrase(kind, others)
        self._count(kind)
        return own[used]

    def _customers(self, kind: str) -> str:
        """Return the next of the store's phrases for a moment, shared by all customers."""
        return self._phrase(kind, self.phrases["customer"][kind])

    def _of(self, part: str, kind: str) -> str:
        """Return the next phrase for a moment from a part of the file, such as ``reactions``."""
        return self._phrase(kind, said_by_customers(self.case.language, part, kind))

    def _count(self, kind: str) -> None:
        self.used[kind] = self.used.get(kind, 0) + 1

    def _phrase(self, kind: str, options: list[str]) -> str:
        """Return the next wording, in the customer's letter case; kind and case set the first."""
        used = self.used.get(kind, 0)
        self.used[kind] = used + 1
        start = sum(map(ord, kind + self.case.id))
        words = options[(start + used) % len(options)]
        return words if self._capitals else words[0].lower() + words[1:]
