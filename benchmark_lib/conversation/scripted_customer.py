"""The scripted customer, which needs no model.

It answers questions, agrees to its wishes, reacts to reasons, and leaves when served. `customer_rules` sets the order
of its decisions.
"""

from typing import Any

from ..cases.case import stated_facts
from ..language.heard import SURE
from ..records import Act
from ..threads import read_aside
from .customer import Customer, filled
from .customer_rules import decide
from .customer_wishes import is_menu, served, untold, written
from .speaker import ConversationState, Reply


class ScriptedCustomer(Customer):
    """Plays one case once."""

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the next message, with its acts; the first is the case's email."""
        if talk.messages:
            return await read_aside(sum(len(m.text) for m in talk.messages), self._next, talk)
        volunteered = {slot: known for slot, known in self.case.ledger.items() if known.when == "volunteered"}
        self.given.update(slot for slot, known in volunteered.items() if not known.wrong)
        acts = [Act("gave", slot, known.wrong or known.value) for slot, known in volunteered.items()]
        email = self.case.email
        return Reply(
            f"{email.subject}\n\n{email.text.strip()}", acts, [k.attach for k in volunteered.values() if k.attach]
        )

    def _next(self, talk: ConversationState) -> Reply:
        self.parts, self.acts, self.attachments = [], [], []
        self._listen(talk)
        decide(self)
        number = next((a.detail for a in self.acts if a.kind == "gave" and a.what in self.kind.proofs), None)
        if number and [part.strip("\n.") for part in self.parts] == [number]:
            self.parts = [filled(self.reaction("only_this"), number)]
        text = written(self.parts, last=self.capitals)
        while text in self.said:
            text = f"{self.moment('again')} {text}"
        self.said.add(text)
        return Reply(text, self.acts, self.attachments)

    def _listen(self, talk: ConversationState) -> None:
        """Parse the agent's last turn and note its news: facts, calls, questions and offers."""
        self.talk, self.texts = talk, [m.text for m in talk.messages if m.side == "agent"]
        self.words, case = self.texts[-1], self.case
        texts = dict.fromkeys(case.facts, self.texts)
        stated = stated_facts(case.facts, texts, case.values_asked, rivals_only=case.terms.full_answers)
        self.stated = {name for name, told in stated.items() if told}
        self.heard = heard = self.parser.parse(self.words)
        self.sure = [tool for tool, chance in heard.tools.items() if chance >= SURE]
        self.made = [call for call in talk.desk.calls if call.write and not call.error]
        self.calls = [call for call in self.made if call.turn == talk.turn - 1]
        self.menu = heard.confirm and is_menu(self.words, self.parser, case.several)
        if not (heard.declined or self.menu):
            self.claimed |= heard.surely_claimed
        if heard.claimed and not self.menu:
            self.claimed |= {call.name for call in self.calls}
        # Once the customer pushes, another reason to refuse is no news. In an unresolvable case, all before it is news.
        own = {*case.reasons, *case.against} if not self.pushes else set()
        new: set[tuple[str, Any]] = {("fact", name) for name in self.stated}
        new |= {("call", call.index) for call in self.calls}
        new |= {("asks", slot) for slot in heard.asked} | {("offers", tool) for tool in heard.proposed}
        new |= {("reason", r) for r in own and own.intersection(self.parser.reasons_in([self.words]))}
        self.fresh = bool(new - self.seen) or not (self.pushes or self.resolvable)
        self.seen |= new
        self.stale = 0 if self.fresh else self.stale
        self.done, self.presses = served(self) and not untold(self), False
