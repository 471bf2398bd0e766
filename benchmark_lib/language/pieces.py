"""Cut text into bounded pieces, so that reading a message takes time in proportion to what is read.

Regular expressions see a sentence, a window or a piece of a few thousand characters, never a whole flood. Between
pieces the interpreter is released, which no other thread can enter during a search.
"""

import re

WHOLE, ENDS = 12_000, 2_000
"""Characters of the longest message that is read whole, longer than any person's, and of each end read of a longer one.
The limit is the same for every reader, so that nothing counts that a detector does not see."""

LONGEST_SPOKEN = WHOLE
"""Same limit for reading sentence by sentence."""

TOTAL, ENDS_OF_MANY = 32_000, 1_000
"""Characters of one side of a conversation that are read whole; above, characters of each end of a message longer than
its share."""

LONGEST_SENTENCE = 400
"""Characters of a window; a longer sentence is read in windows."""

PIECE, OVERLAP = 2_000, 200
"""Characters of running text that a pattern sees at once, and of their overlap with the next piece."""

REPEATS, LONGEST_RUN = 4, 30
"""Most repeats of a pattern's group, and of a single character, if the pattern sets no limit."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+,\}|.", re.S)


def kept(text: str, most: int = WHOLE, ends: int = ENDS) -> str:
    """Return the part of a text that is read.

    It is all of it, or its beginning and end if it has more than `most` characters; no word is cut.
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
    """Return the parts that are read of one side's messages."""
    if sum(map(len, texts)) <= TOTAL:
        return [kept(text) for text in texts]
    share = max(TOTAL // len(texts), 2 * ENDS_OF_MANY)
    return [kept(text, min(share, WHOLE), ENDS_OF_MANY) for text in texts]


def windows(sentence: str, size: int = LONGEST_SENTENCE) -> list[str]:
    """Cut a sentence into windows of at most `size` characters, between words unless a word is longer."""
    found = []
    while len(sentence) > size:
        place = _last_blank(sentence[: size + 1])
        place = place if 0 < place <= size else size
        found.append(sentence[:place])
        sentence = sentence[place:].lstrip()
    return [*found, sentence] if sentence else found


def pieces(text: str) -> list[str]:
    """Cut running text into overlapping pieces, so that a cut expression is complete in the next piece."""
    if len(text) <= PIECE:
        return [text]
    return [text[at : at + PIECE] for at in range(0, len(text) - OVERLAP, PIECE - OVERLAP)]


def found_in(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a pattern matches a running text, searched piece by piece."""
    return any(pattern.search(piece) for piece in pieces(text))


def limited(pattern: str) -> str:
    """Limit every repeat in a pattern, so that no text makes it try ever more ways to match."""
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
    """Return the place of the last blank; without a blank the text's length, so that nothing is cut off."""
    place = max(text.rfind(" "), text.rfind("\n"))
    return place if place > 0 else len(text)
