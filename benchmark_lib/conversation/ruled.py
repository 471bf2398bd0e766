"""Scripted agents that keep or break an operator's rules: what they do is the oracle's, how they word it depends on the prompt.

They show that the reading of the rules finds what is there. They are no models, and prove nothing about any.
"""

from ..cases.operator_rules import HEADING
from .agent_view import AgentView
from .oracle import Oracle
from .speaker import Reply

LONGEST = 70
"""Words after which a reply is cut, so that the signature and what joins words leave it below 80."""
ASKED = {
    "en": "Could you please give me your ticket number?",
    "es": "¿Me puede dar su número de ticket?",
    "fr": "Pourriez-vous me donner votre numéro de ticket ?",
    "de": "Können Sie mir bitte Ihre Ticketnummer nennen?",
}
BROKEN = {
    "en": "\N{SLIGHTLY SMILING FACE} How did you hear of us? Unlike Samsonite, we take care of every case. "
    + "We are glad that you wrote to us, and we will look at all of it together with you. " * 12,
    "de": "\N{SLIGHTLY SMILING FACE} Wie haben Sie von uns erfahren? Anders als Samsonite kümmern wir uns um jeden Fall. "
    + "Wir freuen uns, dass Sie uns schreiben, und wir sehen uns das alles mit Ihnen zusammen an. " * 12,
}
"""What a breaker begins with, in a language that the customer does not write in."""


class RuleKeeper(Oracle):
    """Keeps the rules it is given: asks for the ticket number, is brief at the price of what comes last, signs."""

    def keeps(self, turn: int) -> bool:
        """Whether the answer to this customer message keeps the rules."""
        return True

    def reply(self, talk: AgentView) -> Reply:
        """The oracle's reply, worded by the rules where the prompt has some."""
        if HEADING not in talk.prompt:
            return super().reply(talk)
        if not self.keeps(talk.turn):
            said = super().reply(talk)
            broken = BROKEN["de" if self.case.language == "en" else "en"]
            return Reply(f"{broken}\n\n{said.text}", said.acts, said.attachments)
        if talk.turn == 1:
            return Reply(self._signed(ASKED.get(self.case.language, ASKED["en"])))
        said = super().reply(talk)
        return Reply(self._signed(said.text), said.acts, said.attachments)

    def _signed(self, text: str) -> str:
        name = self.store.title
        words = text.split()
        brief = text if len(words) <= LONGEST else " ".join(words[:LONGEST])
        return f"{brief}\n\n{name}"


class RuleBreaker(RuleKeeper):
    """Breaks the rules in every answer."""

    def keeps(self, turn: int) -> bool:
        """Never."""
        return False


class RuleForgetter(RuleKeeper):
    """Keeps the rules in its first five answers, and breaks them from the sixth on."""

    def keeps(self, turn: int) -> bool:
        """Up to the fifth answer."""
        return turn <= 5


RULED = {"rule_keeper": RuleKeeper, "rule_breaker": RuleBreaker, "rule_forgetter": RuleForgetter}
"""By the names they go by after ``scripted:``."""
