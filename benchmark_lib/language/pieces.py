"""Text in bounded pieces, so that reading any message takes time in proportion to what is read of it.

Regular expressions here see a sentence, a window of one, or a piece of a few thousand characters, never a whole flood;
and the interpreter, which no other thread can enter during a search, is let go between one piece and the next.
"""

import re

WHOLE, ENDS = 12_000, 2_000
"""Characters. A message up to the first is read whole, which no person's exceeds; of a longer one, padded, the
beginning and the end are, so many characters of each. The same for whoever reads it, so that nothing counts in what a
detector does not see."""

LONGEST_SPOKEN = WHOLE
"""The same limit, where a message is read sentence by sentence."""

TOTAL, ENDS_OF_MANY = 32_000, 1_000
"""Characters of one side of a conversation up to which all of it is read. Beyond, of messages longer than their share
so many at either end."""

LONGEST_SENTENCE = 400
"""Characters of a window: a longer sentence is read window by window."""

PIECE, OVERLAP = 2_000, 200
"""Characters that a pattern over running text sees at once, and how many of them the next piece repeats."""

REPEATS, LONGEST_RUN = 4, 30
"""How often a group of a pattern may repeat, and a single character of it, where the pattern names no limit."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+,\}|.", re.S)


def kept(text: str, most: int = WHOLE, ends: int = ENDS) -> str:
    """What is read of a text.

    All of it, or its beginning and its end where it has more than `most` characters; no word is cut in two.
    """
    if len(text) <= most:
        return text
    head, tail = text[:ends], text[-ends:]
    if not text[ends].isspace():
        head = head[: _last_blank(head)]
    if not text[-ends - 1].isspace():
        tail = tail[len(tail) - _last_blank(tail[::-1]) :]
    return f"{head}\n{tail}"


def kept_together(texts: list[str]) -> list[str]:
    """What is read of the messages of one side."""
    if sum(map(len, texts)) <= TOTAL:
        return [kept(text) for text in texts]
    share = max(TOTAL // len(texts), 2 * ENDS_OF_MANY)
    return [kept(text, min(share, WHOLE), ENDS_OF_MANY) for text in texts]


def windows(sentence: str, size: int = LONGEST_SENTENCE) -> list[str]:
    """A sentence in windows of at most `size` characters, cut between words; a longer word is cut too."""
    found = []
    while len(sentence) > size:
        place = _last_blank(sentence[: size + 1])
        place = place if 0 < place <= size else size
        found.append(sentence[:place])
        sentence = sentence[place:].lstrip()
    return [*found, sentence] if sentence else found


def pieces(text: str) -> list[str]:
    """Running text in pieces that overlap, so that what stands at the end of one stands whole in the next."""
    if len(text) <= PIECE:
        return [text]
    return [text[at : at + PIECE] for at in range(0, len(text) - OVERLAP, PIECE - OVERLAP)]


def found_in(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a pattern stands in a running text, searched piece by piece."""
    return any(pattern.search(piece) for piece in pieces(text))


def limited(pattern: str) -> str:
    """A pattern in which nothing repeats without limit, so that no text makes it try ever more ways to read the same words."""
    found: list[str] = []
    for token in _TOKEN.findall(pattern):
        least = {"*": 0, "+": 1}.get(token, int(token[1:-2]) if token[0] == "{" and token[-2:] == ",}" else None)
        if least is None or not found:
            found.append(token)
            continue
        most = REPEATS if found[-1] == ")" else LONGEST_SENTENCE if found[-1].startswith("[^") else LONGEST_RUN
        found.append(f"{{{least},{most}}}")
    return "".join(found)


def _last_blank(text: str) -> int:
    """Where the last blank stands; the text's length where there is none, so that nothing is cut off."""
    place = max(text.rfind(" "), text.rfind("\n"))
    return place if place > 0 else len(text)
