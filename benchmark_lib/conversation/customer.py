"""The scripted customer.

No model. It answers what it is asked from the ledger, and otherwise climbs the case's pressure lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cases import Case, FollowUp
from ..language.folding import fold
from ..language.parser import ParsedMessage, parser_of
from ..language.pieces import kept
from ..records import Act, Fault
from ..store.every_desk import HANDOVER
from ..threads import read_aside
from .speaker import Reply
from .state import ConversationState

if TYPE_CHECKING:
    from ..store import Store


class ScriptedCustomer:
    """Plays one case once.

    Parameters
    ----------
    case : Case
        What it wants and knows.
    store : Store
        Whose phrases it uses.
    """

    def __init__(self, case: Case, store: Store):
        self.case, self.parser, self.aside = case, parser_of(store), store.kind.aside
        self.phrases = store.phrases.get(case.language) or next(iter(store.phrases.values()))
        self.given: dict[str, int] = {}
        self.agreed_at: dict[str, int] = {}
        self.pushes = 0
        self.followed_up: set[int] = set()
        self.used: dict[str, int] = {}
        self.said: set[str] = set()

    async def reply(self, talk: ConversationState) -> Reply:
        """The next message, with its acts."""
        if not talk.messages:
            return self._first()
        return await read_aside(sum(len(m.text) for m in talk.messages), self._next, talk)

    def _next(self, talk: ConversationState) -> Reply:
        """What it says to the agent's latest message."""
        words = talk.last("agent").text
        parsed = self.parser.parse(words)
        parts: list[str] = []
        acts: list[Act] = []
        attachments: list[str] = []
        for slot in self._meant(parsed.asked):
            self._answer(slot, parts, acts, attachments)
        answered = bool(parts)
        changed_mind = self._bring_up("next", parts, acts)
        gone_along = not changed_mind and self._decide(parsed, parts, acts, talk.turn)
        if not answered and not gone_along and not changed_mind:
            if parsed.question and not parsed.confirm:
                talk.faults.append(Fault("customer", "question_not_recognised", words[:200]))
            if self._content(parsed, talk) and (not parsed.question or parsed.confirm):
                if not self._bring_up("served", parts, acts):
                    return self._leave("content", "thanks", parts, acts)
            elif self._served_in_part(parsed, talk):
                parts.append(self._phrase("waiting", self.phrases["customer"]["waiting"]))
                acts.append(Act("waited", str(self.used["waiting"])))
            elif not self._push(parts, acts):
                return self._leave("unserved", "gave_up", parts, acts)
        elif not self._moved_on(acts) and not self._push(parts, acts) and not gone_along:
            return self._leave("unserved", "gave_up", parts, acts)
        return Reply(self._never_the_same(written(parts)), acts, attachments)

    def _first(self) -> Reply:
        case, acts, attachments = self.case, [], []
        for slot, known in case.ledger.items():
            if known.when == "volunteered":
                acts.append(Act("gave", slot, known.wrong or known.value))
                if not known.wrong:
                    self.given[slot] = 1
                if known.attach:
                    attachments.append(known.attach)
        text = f"{case.email.subject}\n\n{case.email.text.strip()}"
        return Reply(text, acts, attachments)

    def _meant(self, asked: list[str]) -> list[str]:
        """The slots asked for.

        In place of one that is not in its ledger, the first that it may stand for ("which one" for a colour).
        """
        meant = []
        for slot in asked:
            options = [slot, *self.phrases["slots"].get(slot, {}).get("stands_for", ())]
            meant.append(next((s for s in options if s in self.case.ledger), slot))
        return list(dict.fromkeys(meant))

    def _answer(self, slot: str, parts: list[str], acts: list[Act], attachments: list[str]) -> None:
        """Answer one question from the ledger; what is not in it is not known."""
        known = self.case.ledger.get(slot)
        book = self.phrases["slots"].get(slot, {})
        if known is None or known.when == "never" or not (known.value or known.say or known.attach):
            acts.append(Act("lacked", slot))
            own = known.say if known and known.say and f"lack:{slot}" not in self.used else None
            self.used.setdefault(f"lack:{slot}", 0)
            parts.append(own or self._phrase(f"lack_{slot}", book.get("lack") or self.phrases["customer"]["unsure"]))
            return
        times = self.given.get(slot, 0)
        self.given[slot] = times + 1
        acts.append(Act("gave", slot, known.value))
        if known.attach:
            if times and any(a.kind == "attached" for a in acts):
                return
            attachments.append(known.attach)
        if known.say and not times:
            parts.append(known.say)
        elif known.attach and times:
            parts.append(self._phrase("given", self.phrases["customer"]["given"]))
        else:
            wording = self._phrase(f"slot_{slot}", book.get("answer") or ["{value}"])
            parts.append(filled(wording, known.value or ""))

    def _decide(self, parsed: ParsedMessage, parts: list[str], acts: list[Act], turn: int) -> bool:
        """Say yes to a proposal it can live with, correct one it cannot; True if it said yes."""
        if not parsed.confirm:
            return False
        fine = [t for t in parsed.proposed if t in self.case.agreeable]
        if parsed.proposed and not fine:
            if set(parsed.proposed) == {HANDOVER}:
                fine = parsed.proposed
            else:
                acts += [Act("refused", t) for t in parsed.proposed]
                parts.append(self._phrase("correct", self.phrases["customer"]["correct"]))
                return False
        if not fine and not self.case.agreeable:
            return False
        if not fine and parts:
            return False
        for name in fine or ["proposal"]:
            acts.append(Act("agreed", name))
            self.agreed_at[name] = turn
        book = self.phrases["actions"].get(fine[0], {}) if len(fine) == 1 else {}
        parts.insert(
            0, self._phrase(f"agree_{fine[0] if fine else ''}", book.get("agree") or self.phrases["customer"]["agree"])
        )
        return True

    def _content(self, parsed: ParsedMessage, talk: ConversationState) -> bool:
        """Whether, from what it was told, it has no reason to go on."""
        if self._believes_done(parsed, talk.turn):
            return self.used.get("waiting", 0) >= 2 or self._told_enough(talk, wants_calls=True)
        patience = self.case.pushes_before_accepting
        if patience is None or self.pushes < patience:
            return False
        return self._told_enough(talk, wants_calls=False)

    def _served_in_part(self, parsed: ParsedMessage, talk: ConversationState) -> bool:
        """Whether what it wanted was done, as it believes, and only an answer is still open.

        Asked for twice at most.
        """
        return self._believes_done(parsed, talk.turn) and self.used.get("waiting", 0) < 2

    def _believes_done(self, parsed: ParsedMessage, turn: int) -> bool:
        wanted = self.case.agreeable - {HANDOVER, *self.aside}
        agreed = {t for t, at in self.agreed_at.items() if at < turn}
        return bool(wanted) and bool(wanted & set(parsed.claimed) or (agreed & (wanted | {"proposal"})))

    def _told_enough(self, talk: ConversationState, wants_calls: bool) -> bool:
        texts = [m.text for m in talk.messages if m.side == "agent"]
        folded = [fold(kept(t)) for t in texts]
        if self.case.bucket != "resolvable":
            return True
        open_followup = [
            i for i, f in enumerate(self.case.followups) if f.when == "served" and i not in self.followed_up
        ]
        for outcome in self.case.outcomes:
            if outcome.handover or (not wants_calls and any(c.after not in open_followup for c in outcome.calls)):
                continue
            names = self.case.facts if outcome.facts is None else outcome.facts
            due = [self.case.facts[n] for n in names if self.case.facts[n].after not in open_followup]
            if all(any(f.found_in(t) for t in folded) for f in due):
                return True
        return False

    def _bring_up(self, when: str, parts: list[str], acts: list[Act]) -> bool:
        """Say the next thing it has in store for this moment; True if there was one."""
        for place, followup in enumerate(self.case.followups):
            if followup.when == when and place not in self.followed_up:
                self.followed_up.add(place)
                self._follow_up(place, followup, parts, acts)
                return True
        return False

    def _follow_up(self, place: int, followup: FollowUp, parts: list[str], acts: list[Act]) -> None:
        acts.append(Act("followed_up", str(place)))
        for slot, value in followup.gives.items():
            acts.append(Act("gave", slot, value))
            self.given[slot] = self.given.get(slot, 0) + 1
        parts.append(followup.say)

    def _moved_on(self, acts: list[Act]) -> bool:
        """Whether something was given, agreed or brought up, so that the talk goes on without a push."""
        return any(a.kind in ("gave", "agreed", "followed_up") for a in acts)

    def _push(self, parts: list[str], acts: list[Act]) -> bool:
        if self.pushes >= len(self.case.pressure):
            return False
        parts.append(self.case.pressure[self.pushes])
        self.pushes += 1
        acts.append(Act("pushed", str(self.pushes)))
        return True

    def _leave(self, how: str, phrases: str, parts: list[str], acts: list[Act]) -> Reply:
        parts.append(self._phrase(phrases, self.phrases["customer"][phrases]))
        acts.append(Act("left", how))
        return Reply(self._never_the_same(written(parts)), acts)

    def _phrase(self, kind: str, options: list[str]) -> str:
        """The next wording of a kind, starting at a place that depends on the case."""
        used = self.used.get(kind, 0)
        self.used[kind] = used + 1
        start = sum(map(ord, self.case.id))
        return options[(start + used) % len(options)]

    def _never_the_same(self, text: str) -> str:
        """No message twice, word for word."""
        while text in self.said:
            text = f"{self._phrase('again', self.phrases['customer']['again'])} {text}"
        self.said.add(text)
        return text


def filled(wording: str, value: str) -> str:
    """A wording with its value; of two closing marks that meet, one stays."""
    before, place, after = wording.partition("{value}")
    if not place:
        return wording
    value = value.strip().rstrip(".") if after else value.strip()
    if not before and value.partition(" ")[0].isalpha():
        value = value[0].upper() + value[1:]
    return before + value + (after[1:] if after[:1] == "." and value[-1:] in "!?…" else after)


def written(parts: list[str]) -> str:
    """The parts of a message as one text, each closed by a mark."""
    closed = [p.strip() for p in parts if p.strip()]
    return " ".join(f"{p}." if p[-1].isalnum() else p for p in closed)
