"""Check replies against the rules that an operator added to the agent's prompt.

Plain rules decide from the record alone, without a judge, so the result is always the same.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..cases.operator_rules import OperatorRule
from ..language.said import read
from ..records import Conversation, word, words_in
from .rule_reading import asks_first, has_emoji, last_line_is, names_any, own_words, same_language, word_count

_MANAGER = (
    r"\b(?:managers?|supervisors?|vorgesetzte\w*|leiter\w*|leitung|gerente|encargad[oa]|responsable|supérieure?)\b"
)
_APPROVED = re.compile(
    rf"(?is)^(?=.*{_MANAGER}).*(?<!not )(?<!nicht )(?<!no )(?<!pas )\b"
    r"(?:approved|authori[sz]ed|genehmigt|freigegeben|aprobad[oa]|autorizad[oa]|approuvée?|autorisée?)\b"
)
"""Text of a tool result that says that an authorized person has approved something."""

ONCE = ("ask_first",)
"""Kinds of rules that apply to the first reply only."""


@dataclass(frozen=True)
class KeptReply:
    """One reply's result for one rule; None if the rule does not apply to the reply."""

    rule: str
    turn: int
    kept: bool | None


def kept_replies(
    conversation: Conversation, rules: Iterable[OperatorRule], language: str | None
) -> Iterator[KeptReply]:
    """Check each reply of a conversation against each rule; `language` is the customer's, if known.

    Yields
    ------
    KeptReply
        One for each rule and each reply with text; for a rule on the first question, only for the first reply.
    """
    rules, answered = list(rules), False
    heard: list[str] = []
    for message in conversation.messages:
        if message.side == "customer":
            heard.append(message.text)
        elif message.text.strip():
            text = own_words(message.text, heard)
            calls = [call for call in conversation.tool_calls if call.turn <= message.turn]
            acted = any(call.write and call.side == "agent" for call in calls)
            approved = any(_APPROVED.search(word(w)) for c in calls if not c.error for w in words_in(c.result))
            for rule in rules:
                if not (answered and rule.kind in ONCE):
                    yield KeptReply(
                        rule.name, message.turn, _keeps(rule, text, message.text, language, acted, approved)
                    )
            answered = True


def _keeps(rule: OperatorRule, own: str, whole: str, language: str | None, acted: bool, allowed: bool) -> bool | None:
    """Return whether a reply keeps a rule; `own` is the reply without its quotes of the customer."""
    match rule.kind:
        case "at_most_words":
            return word_count(whole) <= rule.value
        case "never":
            return not names_any(own, rule.value)
        case "must_contain":
            return names_any(own, rule.value)
        case "ask_first":
            return not acted and asks_first(own, rule.value)
        case "sign":
            return last_line_is(own, rule.value)
        case "approved_first":
            return allowed or all(name != rule.value for name, _ in read(own).about("promise"))
        case "no_emojis":
            return not has_emoji(whole)
    return same_language(own, language)
