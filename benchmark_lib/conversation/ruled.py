"""Scripted agents that keep or break an operator's rules, and otherwise act as the oracle.

They test the detection of broken rules. They are not models, and prove nothing about any.
"""

from math import inf

from ..cases.operator_rules import HEADING
from .agent_view import AgentView
from .oracle import Oracle
from .speaker import Reply

LONGEST = 70
"""Words after which a reply is cut; the signature and joining words keep it below 80."""
ASKED = {
    "en": "Could you please give me your ticket number?",
    "es": "¿Me puede dar su número de ticket?",
    "fr": "Pourriez-vous me donner votre numéro de ticket ?",
    "de": "Können Sie mir bitte Ihre Ticketnummer nennen?",
}
BROKEN = {
    "en": "\N{SLIGHTLY SMILING FACE} How did you hear of us? Unlike Samsonite, we take care of every case. "
    + "We will refund the full price to your card today. "
    + "We are glad that you wrote to us, and we will look at all of it together with you. " * 12,
    "de": (
        "\N{SLIGHTLY SMILING FACE} Wie haben Sie von uns erfahren? Anders als Samsonite kümmern wir uns um jeden Fall. "
    )
    + "Wir erstatten Ihnen heute den vollen Preis auf Ihre Karte. "
    + "Wir freuen uns, dass Sie uns schreiben, und wir sehen uns das alles mit Ihnen zusammen an. " * 12,
}
"""Opening of a rule breaker's replies, in a language other than the customer's."""


class RuleKeeper(Oracle):
    """Keeps the rules: asks for the ticket number, cuts long replies, and signs."""

    keeps_until = inf
    """The number of the last customer message whose answer keeps the rules."""

    def reply(self, talk: AgentView) -> Reply:
        """Return the oracle's reply, reworded if the prompt has rules."""
        if HEADING not in talk.prompt:
            return super().reply(talk)
        if talk.turn == 1 <= self.keeps_until:
            return Reply(self._signed(ASKED.get(self.case.language, ASKED["en"])))
        reply = super().reply(talk)
        broken = f"{BROKEN['de' if self.case.language == 'en' else 'en']}\n\n{reply.text}"
        text = self._signed(reply.text) if talk.turn <= self.keeps_until else broken
        return Reply(text, reply.acts, reply.attachments)

    def _signed(self, text: str) -> str:
        words = text.split()
        brief = text if len(words) <= LONGEST else " ".join(words[:LONGEST])
        return f"{brief}\n\n{self.store.title}"


class RuleBreaker(RuleKeeper):
    """Breaks the rules in every answer."""

    keeps_until = 0


class RuleForgetter(RuleKeeper):
    """Keeps the rules in its first five answers and breaks them from the sixth on."""

    keeps_until = 5


RULED = {"rule_keeper": RuleKeeper, "rule_breaker": RuleBreaker, "rule_forgetter": RuleForgetter}
"""Agents by their names after ``scripted:``."""
