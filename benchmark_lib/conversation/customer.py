"""A scripted customer's state, and how it words its messages."""

from collections import Counter
from typing import Any, Literal

from ..cases import Call, Case
from ..language.heard import ParsedMessage
from ..language.parser import parser_of
from ..language.patterns import holds
from ..language.sentences import sentences, squash
from ..language.word_lists import said_by_customers
from ..records import Act, ToolCall
from ..store import Store
from .speaker import ConversationState


def filled(wording: str, value: str) -> str:
    """Return a wording with its value filled in; if two closing marks meet, keep one."""
    before, place, after = wording.partition("{value}")
    if not place:
        return wording
    value = value.strip().rstrip(".") if after else value.strip()
    if not before and value.partition(" ")[0].isalpha():
        value = value[0].upper() + value[1:]
    return before + value + (after[1:] if after[:1] == "." and value[-1:] in "!?…" else after)


class Customer:
    """Holds what a scripted customer of one case knows, has said and has heard."""

    talk: ConversationState
    words: str
    """The agent's latest message."""
    heard: ParsedMessage
    """The same message, parsed."""

    def __init__(self, case: Case, store: Store):
        self.case, self.store, self.parser, self.kind = case, store, parser_of(store), store.kind
        self.phrases = store.phrases.get(case.language) or next(iter(store.phrases.values()))
        self.resolvable, self.subject = case.bucket == "resolvable", store.kind.look_up[1]
        self.proofs = (*store.kind.proofs, *store.kind.attachments)
        self.private_slots = (*store.kind.proofs, *store.kind.of_proofs)
        self.capitals = not case.email.text.strip()[:1].islower()
        # How often the customer used each wording or did each thing, and how often it disclosed each slot.
        self.used, self.given = Counter[str](), Counter[str]()
        # Its messages and answers, and the agent's reasons that it has answered.
        self.said, self.told, self.argued = set[str](), set[str](), set[str]()
        # Tools that the agent claims to have used, has offered, has used unasked, and has offered in vain.
        self.claimed, self.offered, self.unasked, self.declined = set[str](), set[str](), set[str](), set[str]()
        # The agent's news, the follow-ups raised, and the calls that the customer gave up on.
        self.seen, self.followed_up, self.dropped = set[tuple[str, Any]](), set[int](), list[Call]()
        # Pushes, the last line of pressure, and rounds in a row without news.
        self.pushes = self.line = self.stale = 0
        # The agent's messages, the facts in them, the tools in the latest; its successful writes, all and new.
        self.texts, self.stated, self.sure = list[str](), set[str](), list[str]()
        self.made, self.calls = list[ToolCall](), list[ToolCall]()
        # Whether the message has news, a menu, nothing open; whether the answer names the order, presses.
        self.fresh = self.menu = self.done = self.checked = self.presses = False
        # The slots that the answer is for, the rules that made it, and the answer itself.
        self.asked, self.rules = list[str](), list[str]()
        self.parts, self.acts, self.attachments = list[str](), list[Act](), list[str]()

    @property
    def accepting(self) -> bool:
        """Return whether the customer has pushed often enough to accept a refusal."""
        return self.pushes >= (self.case.pushes_before_accepting or 0)

    def add(self, words: str, *acts: Act, first: bool = False) -> Literal[True]:
        """Add a sentence with its acts, at the start if `first`; return True."""
        self.parts.insert(0 if first else len(self.parts), words)
        self.acts += acts
        return True

    def did(self, *kinds: str) -> bool:
        """Return whether the answer has an act of one of these kinds."""
        return any(act.kind in kinds for act in self.acts)

    def leave(self, how: str) -> Literal[True]:
        """Say the last words and leave ``content`` or ``unserved``; return True."""
        closing = self.case.closing
        own, others = (closing.content, "thanks") if how == "content" else (closing.gave_up, "gave_up")
        return self.add(own or self.moment(others), Act("left", how))

    def open(self, slot: str) -> bool:
        """Return whether the customer knows this fact and has not disclosed it yet."""
        known = self.case.ledger.get(slot)
        return known is not None and known.when != "never" and slot not in self.given

    def known(self, slot: str) -> str:
        """Return the customer's words for a fact, or an empty text."""
        known = self.case.ledger.get(slot)
        return (known and (known.say or known.value)) or ""

    def accepted(self, call: Call) -> bool:
        """Return whether a call belongs to an outcome of the case."""
        return any(call in outcome.calls for outcome in self.case.outcomes)

    def answer(self, slot: str) -> Literal[True]:
        """Answer one question from the ledger, or say that the customer does not know; return True."""
        known, book = self.case.ledger.get(slot), self.phrases["slots"].get(slot, {})
        if known is None or known.when == "never" or not (known.value or known.say or known.attach):
            own = known.say if known and f"lack:{slot}" not in self.used else None
            self.used[f"lack:{slot}"] += 0
            others = book.get("lack") or self.phrases["customer"]["unsure"]
            return self.add(own or self.phrase(f"lack_{slot}", others), Act("lacked", slot))
        again, value = slot in self.given, known.value or ""
        self.given[slot] += 1
        self.attachments += [known.attach] if known.attach else []
        if known.say and not again:
            words = known.say
        elif known.attach and again:
            words = self.reaction("once_more")
        elif again and slot in self.private_slots:
            words = f"{self.moment('again')} {value}"
        else:
            words = filled(self.phrase(f"slot_{slot}", book.get("answer") or ["{value}"]), value)
            if not self.capitals and words.casefold() == value.casefold():
                words = value
        if slot not in self.proofs and len(value.split()) > 2 and squash(value) in squash(self.words):
            words = self.reaction("this_one")  # the desk has just written it
        if words in self.told and slot not in self.proofs and " " in words:
            words = self.moment("given")
        self.told.add(words)
        apart = "\n\n" if known.say and not again and slot not in self.private_slots else ""
        return self.add(apart + words, Act("gave", slot, known.value))

    def hears(self, cue: str, words: str) -> bool:
        """Return whether a message contains a cue from ``heard_as`` in the language files."""
        message = sentences(words)
        languages = tuple(self.parser.languages(message))
        return any(holds("heard_as", cue, s.plain, languages) for s in message)

    def moment(self, kind: str) -> str:
        """Return the store's next phrase for a moment; all customers share these phrases."""
        return self.phrase(kind, self.phrases["customer"][kind])

    def reaction(self, kind: str, part: str = "reactions") -> str:
        """Return the next phrase for a moment, from a part of the language file."""
        return self.phrase(kind, said_by_customers(self.case.language, part, kind))

    def plain_yes(self, tool: str) -> str:
        """Return the store's next way of saying yes to a tool."""
        agree = self.phrases["actions"].get(tool, {}).get("agree") or self.phrases["customer"]["agree"]
        return self.phrase(f"agree_{tool}", agree)

    def next_line(self, kind: str, own: list[str], others: list[str]) -> str:
        """Return the case's next line for a moment; once they run out, one of the store's wordings."""
        used = self.used[kind]
        if used >= len(own):
            return self.phrase(kind, others)
        self.used[kind] += 1
        return own[used]

    def phrase(self, kind: str, options: list[str]) -> str:
        """Return the next wording in the customer's letter case; `kind` and the case set the first."""
        words = options[(sum(map(ord, kind + self.case.id)) + self.used[kind]) % len(options)]
        self.used[kind] += 1
        return words if self.capitals else words[0].lower() + words[1:]
