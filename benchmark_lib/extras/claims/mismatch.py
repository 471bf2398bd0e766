"""Statements that do not fit together.

A call that was carried out differs from what the text says (text-action mismatch), or two messages state different
windows, amounts, days or states for the same thing (contradiction).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ...language.said import ClaimPatterns, Reading
from ...language.sentences import Sentence, is_row, plain, sentences
from ...records import ToolCall
from ...remembered import remembered
from ...store import Store
from .findings import AgentClaims, ClaimFinding

MOST_VALUES = 60
"""Most values per message, and links per conversation, to compare; no person writes so many."""


def mismatches(claims: AgentClaims) -> list[ClaimFinding]:
    """Return sentences that name a different object from their call, or an outdated link."""
    return [*_against_reports(claims), *_against_proposals(claims), *_stale(claims)]


def _against_reports(claims: AgentClaims) -> Iterator[ClaimFinding]:
    for message, reading in claims.replies:
        calls = [t for t in claims.done if t.write and t.turn == message.turn and isinstance(t.arguments, dict)]
        reported = " \n ".join(reading.to_the_point(s.text) for s in reading.sentences)
        differing = [(call, claims.differs(call, reported)) for call in calls]
        right = {call.name for call, kind in differing if not kind}
        for call, kind in differing:
            if (
                kind
                and call.name not in right
                and (quoted := _quoted(call, reading.sentences, reported, calls, claims))
            ):
                yield ClaimFinding(message.turn, quoted, call.index, kind, "differs")
                break


def _against_proposals(claims: AgentClaims) -> Iterator[ClaimFinding]:
    # The whole message is compared, since it may discuss several things.
    agreed = {(turn, act.what) for turn, act in claims.conversation.acts("agreed")}
    before = {m.turn + 1: m for m, _ in claims.replies}
    alike = Counter((t.name, t.turn) for t in claims.done)
    for call in claims.done:
        said_yes = not agreed.isdisjoint({(call.turn, call.name), (call.turn, "proposal")})
        comparable = call.write and isinstance(call.arguments, dict) and alike[call.name, call.turn] == 1
        if not said_yes or not comparable or (proposal := before.get(call.turn)) is None:
            continue
        kind = claims.differs(call, proposal.text)
        if kind and (quoted := _quoted(call, sentences(proposal.text), proposal.text, claims.done, claims)):
            yield ClaimFinding(proposal.turn, quoted, call.index, kind, "differs_from_proposal")


def _quoted(
    call: ToolCall, said: Iterable[Sentence], whole: str, calls: Iterable[ToolCall], claims: AgentClaims
) -> str | None:
    """Return the first sentence from which a call differs, or the whole text.

    Return None if it describes another call, judging by its object's number.
    """
    quoted = next((s.text for s in said if claims.differs(call, s.text)), whole)
    subject = claims.store.kind.look_up[1]
    numbers = {str(t.named[subject]).lower() for t in calls if t.write and subject in t.named}
    numbers.discard(str(call.named.get(subject)).lower())
    return None if any(number in quoted.lower() for number in numbers) else quoted


def _stale(claims: AgentClaims) -> Iterator[ClaimFinding]:
    shown = [(m, s) for m, reading in claims.replies for s in reading.sentences if "http" in s.text]
    if not shown:
        return
    seen: dict[str, list[tuple[ToolCall, str]]] = {}
    for call, text in zip(claims.done, claims.results(10**9), strict=True):
        number = call.named.get(claims.store.kind.look_up[1])
        if isinstance(number, str) and number and not call.write and "http" in text:
            seen.setdefault(number.upper(), []).append((call, text))
    links = [(m, s, v.value.lower()) for m, s in shown for v in claims.values(s.text) if v.kind == "link"]
    for message, sentence, link in links[:MOST_VALUES]:
        for results in seen.values():
            kind = link.removeprefix("https://").partition("/")[0]
            known = [(c.index, link in text) for c, text in results if c.turn <= message.turn and kind in text]
            if any(has_link for _, has_link in known) and not known[-1][1]:
                yield ClaimFinding(message.turn, sentence.text, known[-1][0], "tracking", "stale")


UNITS = {"days": "days", "business_days": "business days", "hours": "hours", "months": "months", "years": "months"}
"""Kinds of values that are windows, each with its unit for comparisons."""
A_YEAR = 12
Thing = tuple[str, str, frozenset[str]]
"""The subject, the unit of its value, and the words that set it apart from its kind."""


def contradictions(claims: AgentClaims) -> list[ClaimFinding]:
    """Return later sentences that differ, except corrections and those a newer result supports."""
    found, known = [], dict[Thing, tuple[int, str, str]]()
    for message, reading in claims.replies:
        corrected = [_things(book)["corrected"] for book in reading.books]
        corrects = any(p.search(s.plain) for p in corrected for s in reading.sentences)
        for sentence in reading.sentences:
            for thing, value in _said(sentence, reading, claims):
                turn, earlier, before = known.setdefault(thing, (message.turn, sentence.text, value))
                acted = any(turn < call.turn <= message.turn for call in claims.done)
                if corrects or (acted and thing[1] in ("money", "date", "state")):
                    known[thing] = message.turn, sentence.text, value
                elif turn < message.turn and _differ(before, value):
                    compared = f"message {turn}: {earlier}"
                    found.append(ClaimFinding(message.turn, sentence.text, compared, thing[0], "contradicts"))
    return found


def _said(sentence: Sentence, reading: Reading, claims: AgentClaims) -> Iterator[tuple[Thing, str]]:
    """Yield what a sentence states about its only subject; nothing for questions or comparisons."""
    words = sentence.plain
    if words.rstrip().endswith("?"):
        return
    named = claims.values(sentence.text)
    numbers = {v.value for v in named if v.kind == "id"} - {claims.case.order}
    values = [v for v in named if v.kind in (*UNITS, "money", "date")]
    rows = " ".join(s.plain for s in reading.sentences if is_row(s.plain)) if is_row(words) else ""
    for book in reading.books:
        patterns = _things(book)
        if patterns["aside"].search(words):
            continue
        apart = {m.group().strip() for m in patterns["apart"].finditer(words)} | numbers
        # The total of a table is for all goods in it, in the quantities given.
        goods = _goods(claims.store).intersection([*words.split(), *rows.split()]) | {*_PIECES.findall(rows)}
        states = [n for n in patterns if n.startswith("state ") and patterns[n].search(words)]
        if len(states) == 1 and not values:
            _, thing, state = states[0].split()
            yield (thing, "state", frozenset(apart | goods)), state
        if len(values) != 1:
            continue
        unit = UNITS.get(values[0].kind, values[0].kind)
        kind = unit if unit in ("money", "date") else "window"
        things = [n for n in patterns if n.startswith(f"{kind} ") and patterns[n].search(words)]
        if len(things) == 1 or (things and kind == "money"):
            value = values[0].value
            if values[0].kind == "years" and value.isdecimal():
                value = str(int(value) * A_YEAR)
            yield (things[0].split()[1], unit, frozenset(apart if kind == "window" else apart | goods)), value


def _differ(one: str, other: str) -> bool:
    if not (_RANGE.fullmatch(one) and _RANGE.fullmatch(other)):
        return one != other
    ends, others = ([float(end) for end in value.split("-")] for value in (one, other))
    return ends[-1] < others[0] or others[-1] < ends[0]


@lru_cache(maxsize=8)
def _things(book: ClaimPatterns) -> dict[str, re.Pattern[str]]:
    return {name: book.compile(patterns) for name, patterns in book.book.get("contradicts", {}).items()}


@remembered("products")
def _goods(store: Store) -> frozenset[str]:
    """Return the words in the names of the goods."""
    tables = [store.tables.get(table, {}) for table in store.kind.catalogue]
    titles = [plain(str(row.get("title", ""))) for rows in tables for row in rows.values()]
    return frozenset(word for title in titles for word in title.split() if word.isalpha())


_PIECES = re.compile(r"\b\d{1,3} ?[x×](?!\w)|(?<!\w)[x×] ?\d{1,3}\b|\| ?\d{1,3}(?= ?\|)")
_RANGE = re.compile(r"[\d.]+(?:-[\d.]+)?")
