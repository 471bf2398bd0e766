"""Check the operator's rules against the words and calls of a record."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from ..cases.operator_rules import OperatorRule, pattern_of
from ..language.said import read
from ..language.sentences import kept, squash, written_in
from ..project import DATA
from ..records import Conversation, word, words_in
from ..textfiles import read_yaml

LONGEST_SIGNATURE = 6
"""Maximum number of words in a signature; a longer line with the desk's name is a sentence."""

_SPECIAL = (
    "\U0001f000-\U0001f2ff\U0001f300-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f7e0-\U0001f7f0\U0001f900-\U0001f9ff\U0001fa70-\U0001faff"
)
_SIGNS = (
    "\u231a\u231b\u23e9-\u23f3\u25fd\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2639\u263a\u2648-"
    "\u2653\u2665\u267f\u2693\u26a0\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5"
    "\u26fa\u26fd\u2705\u2708-\u270d\u2714\u2728\u274c\u274e\u2753-\u2755\u2757\u2764\u2795-\u2797\u27b0\u27bf"
    "\u2b1b\u2b1c\u2b50\u2b55"
)
_EMOJI = re.compile(f"[{_SPECIAL}{_SIGNS}](?!\ufe0e)|\\S\\uFE0F|\\u20E3")
"""Picture characters, by default or by a selector; (c), (r), tm, text arrows and stars do not match."""

_HIDDEN = re.compile("[\u00ad\u200b\u200c\u2060\ufeff]")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\s]{1,600}\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_BLOCK = re.compile(r"</?(?:br|p|div|li|ul|ol|tr|td|h\d)\b[^<>\n]{0,200}>", re.IGNORECASE)
_ITEM = re.compile(r"(?m)^[ \t]{0,8}(?:#{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+")
_MARKS = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]{1,80}@[\w.-]{1,80}")
_WORD = re.compile(
    r"(?=[^\W_]{0,30}(?:-[^\W_]{1,30}){0,6}\d)[^\W_]+(?:-[^\W_]+|[.,:/]\d+)+"
    r"|[^\W_]+(?:['’][^\W_]+)*(?:-[^\W_]+(?![^\W_]|-))?"
)
"""One word: a code, number, date or time with what joins it; letters with an apostrophe, or two parts with a hyphen."""

_QUOTED = re.compile(r'"([^"\n]{1,600})"|“([^”\n]{1,600})”|«([^»\n]{1,600})»|„([^“”\n]{1,600})[“”]')
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?=\S)[^.!?\n]*)*[.!?\n]?")


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    lists = {name: "|".join(chain(*by.values())) for name, by in read_yaml(DATA / "operator_words.yaml").items()}
    manager, negated = rf"\b(?:{lists['managers']})\b", "(?<!not )(?<!nicht )(?<!no )(?<!pas )"
    return {
        "request": re.compile(rf"\b(?:{lists['requests']})\b", re.IGNORECASE),
        "denied": re.compile(rf"\b(?:{lists['denials']})\b|n['’]t\b", re.IGNORECASE),
        "approved": re.compile(rf"(?is)^(?=.*{manager}).*{negated}\b(?:{lists['approvals']})\b"),
    }


def shown(text: str) -> str:
    """Return a reply as the customer sees it: links as text, no markup or hidden characters."""
    text = html.unescape(_HIDDEN.sub("", text))
    text = _ITEM.sub("", _BLOCK.sub(" ", _LINK.sub(r"\1", text)))
    return _MARKS.sub("", _TAG.sub("", text))


def own_words(text: str, heard: Iterable[str]) -> str:
    """Return a reply without its quotes of the customer, in quotation marks or after ``>``.

    Quotation marks around the agent's own words hide nothing: only the customer's words are left out.
    """
    customer_text = squash(" ".join(heard))
    lines = [x for x in kept(text).splitlines() if not (x.lstrip().startswith(">") and squash(x) in customer_text)]
    return _QUOTED.sub(lambda m: " " if squash(m[0]) in customer_text else m[0], "\n".join(lines))


def word_count(text: str) -> int:
    """Count the words of a reply as the customer sees it; a link or an address is one word."""
    return len(_WORD.findall(_ADDRESS.sub(" link ", shown(text))))


def names_any(text: str, items: Sequence[str]) -> bool:
    """Return whether a text contains any of the words or patterns."""
    tight = shown(kept(text)).replace("\n", " ")
    return any(pattern_of(item).search(tight) for item in items)


def last_line_is(text: str, name: str) -> bool:
    """Return whether a reply is signed: its last line has the name and is not a sentence."""
    lines = [line.strip(" \t-–—~") for line in shown(kept(text)).splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    is_sentence = last.endswith((".", "?", "!")) and not name.endswith(last[-1:])
    short = word_count(last) <= max(LONGEST_SIGNATURE, word_count(name))
    return names_any(last, [name]) and short and not is_sentence


def asks_first(text: str, items: Sequence[str]) -> bool:
    """Return whether the first request in a text is for one of these items."""
    for sentence in _SENTENCE.findall(shown(kept(text))):
        is_question = sentence.rstrip().endswith("?")
        if is_question or _words()["request"].search(sentence):
            return names_any(sentence, items) and (is_question or not _words()["denied"].search(sentence))
    return False


def kept_replies(
    conversation: Conversation, rules: Iterable[OperatorRule], language: str | None
) -> Iterator[tuple[int, str, bool | None]]:
    """Yield the turn of each reply with text, each rule's name, and whether the reply keeps it.

    The last is None if the `language` or the reply's is unknown. A rule on the first question applies to the first
    reply only.
    """
    rules, answered = list(rules), False
    customer_texts: list[str] = []
    for message in conversation.messages:
        if message.side == "customer":
            customer_texts.append(message.text)
        elif message.text.strip():
            text = own_words(message.text, customer_texts)
            calls = [call for call in conversation.tool_calls if call.turn <= message.turn]
            acted = any(call.write and call.side == "agent" for call in calls)
            told = (word(w) for call in calls if not call.error for w in words_in(call.result))
            approved = any(map(_words()["approved"].search, told))
            for rule in (rule for rule in rules if not (answered and rule.kind == "ask_first")):
                yield message.turn, rule.name, _keeps(rule, text, message.text, language, acted, approved)
            answered = True


def _keeps(rule: OperatorRule, own: str, whole: str, language: str | None, acted: bool, allowed: bool) -> bool | None:
    """Return whether a reply keeps a rule; `own` lacks its quotes of the customer."""
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
            return not _EMOJI.search(html.unescape(kept(whole)))
    written = written_in(own)
    return None if written is None or language is None else written == language
