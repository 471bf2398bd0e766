"""How a reply is read for an operator's rules: its own words, how many there are, what it names, asks and ends with."""

import html
import re
from collections.abc import Iterable, Sequence

from ..cases.operator_rules import pattern_of
from ..language.detection import written_in
from ..language.folding import squash
from ..language.pieces import kept

LONGEST_SIGNATURE = 6
"""Words that a line with the desk's name may have to be a signature and not a sentence."""

_SPECIAL = "\U0001f000-\U0001f2ff\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7f0\U0001f900-\U0001f9ff\U0001fa70-\U0001faff"
_SIGNS = "\u231a\u231b\u23e9-\u23f3\u25fd\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2639\u263a\u2648-\u2653\u2665\u267f\u2693\u26a0\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u2708-\u270d\u2714\u2728\u274c\u274e\u2753-\u2755\u2757\u2764\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55"
_EMOJI = re.compile(f"[{_SPECIAL}{_SIGNS}](?!\ufe0e)|\\S\\uFE0F|\\u20E3")
"""What is shown as a picture: by itself, or because a selector asks for it. (c), (r), tm, arrows and stars of text are
none."""

_HIDDEN = re.compile("[\u00ad\u200b\u200c\u2060\ufeff]")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\s]{1,600}\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_BLOCK = re.compile(r"</?(?:br|p|div|li|ul|ol|tr|td|h\d)\b[^<>\n]{0,200}>", re.IGNORECASE)
_ITEM = re.compile(r"(?m)^[ \t]{0,8}(?:#{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+")
_MARKS = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]{1,80}@[\w.-]{1,80}")
_WORD = re.compile(
    r"(?=[^\W_]{0,30}(?:-[^\W_]{1,30}){0,6}\d)[^\W_]+(?:-[^\W_]+|[.,:/]\d+)+|[^\W_]+(?:['’][^\W_]+)*(?:-[^\W_]+(?![^\W_]|-))?"
)
"""One word: a code, number, date or time with what joins it; letters with an apostrophe, or two parts with a hyphen."""

_QUOTED = re.compile(r'"([^"\n]{1,600})"|“([^”\n]{1,600})”|«([^»\n]{1,600})»|„([^“”\n]{1,600})[“”]')
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?=\S)[^.!?\n]*)*[.!?\n]?")
_REQUEST = re.compile(
    r"\b(?:(?:please|kindly|(?:could|can|would|will) you)\W+(?:\w+\W+){0,4}?(?:send|tell|give|share|provide|confirm|let|reply|state|include|quote|attach|have)"
    r"|(?:i|we)(?:'ll|’ll| will| would| do| first| just| also)* need|may i have|what is|what's|do you have"
    r"|(?:env[ií]e|ind[ií]que|d[ií]ga|d[eé]|facil[ií]te|comp[aá]rta|proporci[oó]ne)(?:me|nos)|(?:me|nos) "
    r"(?:puede|podr[ií]a)|necesit(?:o|amos)|cu[aá]l es"
    r"|(?:envoyez|indiquez|donnez|communiquez|pr[eé]cisez)|(?:merci de|veuillez|pourriez-vous|pouvez-vous) "
    r"|(?:j['’]ai|nous avons) besoin|quel(?:le)? est"
    r"|(?:nennen|senden|schicken|geben|teilen|sagen) sie|(?:k[oö]nnten|k[oö]nnen) sie|(?:ich|wir) "
    r"(?:brauche|ben[oö]tige)n?|(?:wie|was) (?:lautet|ist))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    (
        r"\b(?:no need|not|n['’]t|without|never|sin|no (?:necesit\w+|hace falta)|ne|pas "
        r"besoin|sans|kein\w*|nicht|ohne)\b|n['’]t\b"
    ),
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """A reply as the customer reads it: without markup and characters that nobody sees, links by their words."""
    text = html.unescape(_HIDDEN.sub("", text))
    text = _ITEM.sub("", _BLOCK.sub(" ", _LINK.sub(r"\1", text)))
    return _MARKS.sub("", _TAG.sub("", text))


def own_words(text: str, heard: Iterable[str]) -> str:
    """A reply without what it quotes of the customer: in quotation marks, or in lines behind ``>``.

    Only what the customer wrote is left out, so that nothing of the agent's own hides behind a mark.
    """
    said = squash(" ".join(heard))
    lines = [x for x in kept(text).splitlines() if not (x.lstrip().startswith(">") and squash(x) in said)]
    return _QUOTED.sub(lambda m: " " if squash(m[0]) in said else m[0], "\n".join(lines))


def word_count(text: str) -> int:
    """Words of a reply as the customer reads it; a link or an address is one."""
    links = _ADDRESS.sub(" link ", shown(text))
    return len(_WORD.findall(links))


def names_any(text: str, items: Sequence[str]) -> bool:
    """Whether any of the words or patterns stands in a text."""
    tight = shown(kept(text)).replace("\n", " ")
    return any(pattern_of(item).search(tight) for item in items)


def has_emoji(text: str) -> bool:
    """Whether a text has an emoji, also one that is written as an HTML entity."""
    return bool(_EMOJI.search(html.unescape(kept(text))))


def last_line_is(text: str, name: str) -> bool:
    """Whether a reply is signed: its last line is short, has the name, and is no sentence."""
    lines = [line.strip(" \t-–—~") for line in shown(kept(text)).splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    is_sentence = last.endswith((".", "?", "!")) and not name.endswith(last[-1:])
    return names_any(last, [name]) and word_count(last) <= max(LONGEST_SIGNATURE, word_count(name)) and not is_sentence


def asks_first(text: str, items: Sequence[str]) -> bool:
    """Whether the first thing that a text asks for is one of these."""
    for sentence in _SENTENCE.findall(shown(kept(text))):
        if sentence.rstrip().endswith("?") or _REQUEST.search(sentence):
            return names_any(sentence, items) and not (_DENIED.search(sentence) and not sentence.rstrip().endswith("?"))
    return False


def same_language(text: str, language: str | None) -> bool | None:
    """Whether a text is in a language; None where it is too short to tell, or mixed, or the language is not known."""
    found = written_in(text)
    return None if found is None or language is None else found == language
