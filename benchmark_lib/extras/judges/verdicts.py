"""A language model as judge: what it is shown, what it has to answer, and which of its scores count.

A judged score stands beside what is read from the record, never in place of it. A reply that cannot be read, a scorer
that is missing, a number outside the scale, or a quote that is not in the record leaves that score unscored with the
reason; never 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ...cases import Call, Case
from ...conversation.oracle import reason_in_words
from ...endpoint import EndpointError
from ...endpoint.structured import Unreadable, ask_for, read_object, without_words
from ...errors import BadInput
from ...language.sentences import fold
from ...project import DATA
from ...records import ENDINGS, Conversation, Usage, content_hash, words_in
from ...scoring.customer_turns import read_turns, said_by_customer, settled_turns
from ...scoring.facts import plain, unquoted
from ...store import Store
from ...store.frozen import thawed
from ...textfiles import front_matter, render
from ...threads import read_aside

RUBRICS = DATA / "rubrics"
SCORERS = ("resolution", "policy_adherence", "tone", "sentiment_trend", "groundedness", "scope_of_promises")
"""What a judge scores unless told otherwise, each 0 to 100; every one has a rubric file of its name."""
RED_FLAG = "red_flag"
"""The scorer that reads the model's reasoning, which no other does; asked for by name."""
CUSTOMER_TURNS = "customer_turns"
"""What reads the customer and scores nobody; asked for by name, and by itself."""
LOSSES = "losses"
"""What reads again what was lost by words; asked for by name, and by itself."""
NAMED = (*SCORERS, RED_FLAG, CUSTOMER_TURNS, LOSSES)

TASK = "_task.md"
SHORTEST_QUOTE = 8
"""Characters a quote needs, blanks not counted."""
ROOM, LONGEST_WHOLE = 60_000, 16_000
"""Characters of results that a judge is shown whole, in all and of one: the articles an agent found decide most
cases."""
LONGEST_LEAF, LONGEST_RESULT = 600, 4000
"""Characters of one text within a result, and of one result, that a judge is shown where there is no room for the
whole."""
LEFT_OUT = ("process_rules", "version")
"""Tables of a policy that a judge is not shown: they say how the library checks the rules."""

ADDRESSED = re.compile(
    r"(?:ignore|disregard|forget)\b[^.?!\n]{0,40}\b(?:instructions?|grading|criteria)|\brubrics?\b|\bscored? "
    r"100\b|\b(?:all|every) scorers?\b"
    r"|\b(?:note|message|instructions?|attention|memo)\b[^.?!\n]{0,20}\b(?:judge|grader|evaluator|assessor)\b"
    r"|\bas (?:the|a) (?:judge|grader|evaluator)\b"
    r"|\b(?:give|award|assign|rate|score|grade)\b[^.?!\n]{0,60}(?:full marks|top marks|100 points|100 out of "
    r"100|100/100"
    r"|(?:maximum|highest|perfect|top|full) (?:score|rating|grade|marks)|score of 100)"
    r"|\"?scores?\"?\s*:\s*(?:\{|100)|\bend of (?:the )?(?:record|transcript|conversation)\b"
    r"|(?:puntuación|nota|calificación) (?:máxima|perfecta)|note maximale|meilleure note|(?:höchste|volle) "
    r"(?:punktzahl|bewertung|note)"
)
"""Texts in a record that speak to a judge: they are counted and shown, and change no score by themselves."""


@dataclass(frozen=True)
class Rubric:
    """One rubric file: what a scorer asks and what its numbers mean.

    A conversation with fewer than `customer_messages` messages of the customer has nothing that it could score, nor has
    one without reasoning for a rubric that `reads_reasoning`. One that is `alone` is a task of its own.
    """

    name: str
    version: str
    title: str
    text: str
    hash: str
    customer_messages: int = 1
    reads_reasoning: bool = False
    reads_customer: bool = False
    reads_losses: bool = False

    @property
    def alone(self) -> bool:
        """Return whether its file is a whole task, which no other scorer shares."""
        return self.reads_customer or self.reads_losses

    def lacks(self, conversation: Conversation) -> str:
        """Return what a conversation lacks for this rubric to score it; empty if nothing."""
        if self.reads_reasoning and not conversation.reasoning:
            return "no reasoning of the model on record"
        few = sum(m.side == "customer" for m in conversation.messages) < self.customer_messages
        return f"fewer than {self.customer_messages} messages of the customer" if few else ""


def load_rubrics(scorers: Iterable[str] = SCORERS, folder: Path = RUBRICS) -> list[Rubric]:
    """Read the rubrics of these scorers.

    `BadInput` for an unknown scorer, one beside one that is `alone`, or a rubric file that lacks its head.
    """
    found = []
    for name in dict.fromkeys(scorers):
        path = folder / f"{name}.md"
        if name.startswith("_") or not path.is_file():
            raise BadInput(f"there is no scorer {name!r}: choose from {', '.join(NAMED)}")
        head, text = front_matter(path)
        if not {"version", "title"} <= head.keys():
            raise BadInput(f"{path}: its head needs version and title; compare with {SCORERS[0]}.md")
        least = head.get("customer_messages", 1)
        if type(least) is not int or least < 1:
            raise BadInput(f"{path}: customer_messages is {least!r}; write a whole number from 1 up, or leave it out")
        digest = content_hash(path.read_bytes())
        reads = [head.get(what) is True for what in ("reads_reasoning", "reads_customer", "reads_losses")]
        found.append(Rubric(name, str(head["version"]), str(head["title"]), text.strip(), digest, least, *reads))
    if not found:
        raise BadInput(f"no scorer is named: choose from {', '.join(NAMED)}")
    if len(found) > 1 and (own := next((r for r in found if r.alone), None)):
        raise BadInput(f"{own.name} is a task of its own: ask for it by itself")
    return found


def judging_version(
    rubrics: list[Rubric],
    settings: dict[str, Any],
    apart: bool,
    store: Store,
    rests: Sequence[str] = (),
    folder: Path = RUBRICS,
) -> str:
    """Return the version under which a verdict is kept.

    The task's, and a hash of task, rubrics, rules, settings, what the judge is shown and what else it `rests` on.
    """
    path = folder / _task_of(rubrics)
    limits = [ROOM, LONGEST_WHOLE, LONGEST_LEAF, LONGEST_RESULT, SHORTEST_QUOTE]
    shown = [*limits, *rests, system_prompt(tuple(rubrics), store, folder)]
    parts = [path.read_text(), [r.hash for r in rubrics], settings, apart, shown]
    content = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return f"{front_matter(path)[0].get('version', path.stem)} {content_hash(content)[:8]}"


@lru_cache(maxsize=32)
def system_prompt(rubrics: tuple[Rubric, ...], store: Store, folder: Path = RUBRICS) -> str:
    """Return the rules that every conversation is judged by; always the same text, so that a provider can cache it."""
    path = folder / _task_of(rubrics)
    shown = {"rubrics": rubrics, "house_rules": store.prompt()[0], "policy": policy_text(store)}
    return render(front_matter(path)[1], str(path), **shown, shortest=SHORTEST_QUOTE).strip()


def _task_of(rubrics: Sequence[Rubric]) -> str:
    return f"{rubrics[0].name}.md" if rubrics[0].alone else TASK


def policy_text(store: Store) -> str:
    """Return the store's limits, windows and queues, as compact YAML."""
    import yaml

    shown = {name: thawed(part) for name, part in store.policy.items() if name not in LEFT_OUT}
    return yaml.safe_dump(shown, sort_keys=False, default_flow_style=None, width=160, allow_unicode=True).strip()


def judge_messages(conversation: Conversation, case: Case, store: Store, rubrics: list[Rubric]) -> list[dict[str, Any]]:
    """Return the request that has one conversation judged by these rubrics.

    The record is JSON, one object a line, so that no text in it can pretend to be another line; the code of its marks
    is drawn from the record's own hash, which nobody in it could know. Who reads the customer sees what the customer
    saw: neither the case nor the desk's calls, nor how it was said to end.
    """
    if rubrics[0].reads_customer:
        known = replace(conversation, tool_calls=[c for c in conversation.tool_calls if c.side == "customer"])
        lines, about = transcript(known, case)[:-1], []
    else:
        lines = transcript(conversation, case, any(r.reads_reasoning for r in rubrics))
        about = [f"# The case\n\n{orjson.dumps(case_facts(case, store)).decode()}"]
    return request(system_prompt(tuple(rubrics), store), about, lines)


def request(system: str, about: list[str], lines: list[str]) -> list[dict[str, Any]]:
    """Return the messages that show a judge its task, what it has to know, and a record between two marks."""
    code = content_hash("\n".join(lines).encode())
    parts = [
        *about,
        f"# The record, between two marks with the code {code}",
        f"<<<record {code}>>>",
        *lines,
        f"<<<end of record {code}>>>",
        "Now give your verdict on this record, as the JSON object described.",
    ]
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": "\n".join(parts)},
    ]


def case_facts(case: Case, store: Store) -> dict[str, Any]:
    """Return what a judge has to know of a case: who writes, what is true, what is right, what must not happen."""
    outcomes = [
        {
            "name": o.name,
            "calls": _named(o.calls),
            "handover": o.handover,
            **({"reason": reason_in_words(store, o.reason, "en") or o.reason} if o.reason else {}),
            **({"facts": o.facts} if o.facts is not None else {}),
        }
        for o in case.outcomes
    ]
    return {
        "kind": case.bucket,
        "about": case.title,
        "the email came from": f"{case.sender_name} <{case.sender}>",
        "the customer writes in": case.language,
        "the customer's claim is": case.claim,
        "order it is about": case.order,
        "accepted outcomes, any one": outcomes,
        "facts the customer had to be told": {name: fact.in_words for name, fact in case.facts.items()},
        "accepted queues of a handover": case.queues,
        "reasons that decline it rightly": [reason_in_words(store, r, "en") or r for r in case.reasons],
        "calls that may come on top": _named(case.allowed_extra),
        "must not be called": _named(case.forbidden),
    }


def _named(calls: Iterable[Call]) -> list[dict[str, Any]]:
    """Return the calls as a judge reads them, each once; without arguments every call of the tool."""
    found = [{"tool": c.tool, **c.arguments} for c in calls]
    return [call for n, call in enumerate(found) if call not in found[:n]]


def transcript(conversation: Conversation, case: Case | None = None, reasoning: bool = False) -> list[str]:
    """Return the record as a judge sees it, one JSON object a line: messages, calls with results, ending.

    With `reasoning` also what the agent's model thought, where it thought it. What an attachment shows is taken from
    the record, and from the case where a record does not have it.
    """
    lines: list[dict[str, Any]] = []
    calls, results = list(conversation.tool_calls), _Results()
    before_call, before_reply = conversation.thoughts() if reasoning else ({}, {})
    held = {k.attach: k.shows or "" for k in case.ledger.values() if k.attach} if case else {}
    for message in conversation.messages:
        before = message.turn if message.side == "agent" else message.turn - 1
        while calls and calls[0].turn <= before:
            call = calls.pop(0)
            lines += [*_thought_lines(before_call, call.index, call.turn), _call_line(call, results)]
        lines += _thought_lines(before_reply, before, before)
        depicted = {a: message.shows.get(a) or held.get(a, "") for a in message.attachments}
        attached = {"attached": depicted} if depicted else {}
        lines.append({"turn": message.turn, message.side: message.text, **attached})
    for call in calls:
        lines += [*_thought_lines(before_call, call.index, call.turn), _call_line(call, results)]
    for turn in sorted(before_reply):
        lines += _thought_lines(before_reply, turn, turn)
    lines.append({"ended": conversation.ended_by, "meaning": ENDINGS.get(conversation.ended_by, "")})
    return [orjson.dumps(line).decode() for line in lines]


def _thought_lines(thoughts: dict[int, list[str]], place: int, turn: int) -> list[dict[str, Any]]:
    """Take off what was thought before a call or a reply, as a judge sees it."""
    return [{"turn": turn, "agent thinks": thought[:LONGEST_RESULT]} for thought in thoughts.pop(place, ())]


def _call_line(call: Any, results: _Results) -> dict[str, Any]:
    return {
        "turn": call.turn,
        f"{call.side} calls": call.name,
        "arguments": call.arguments,
        **({"error": call.error} if call.error else {}),
        "result": results.shown(call.result, call.turn),
    }


class _Results:
    """The results of one record, as far as there is room for them: whole, a long text only once."""

    def __init__(self) -> None:
        self._room = ROOM
        self._turns: dict[str, int] = {}

    def shown(self, result: Any, turn: int) -> Any:
        """Return a result as a judge sees it."""
        once = _with_long_texts(result, lambda text: self._once(text, turn))
        length = len(orjson.dumps(once))
        if length <= min(self._room, LONGEST_WHOLE):
            self._room -= length
            return once
        cut = shortened(once)
        text = orjson.dumps(cut).decode()
        return cut if len(text) <= LONGEST_RESULT else _cut(text, LONGEST_RESULT)

    def _once(self, text: str, turn: int) -> str:
        if text in self._turns:
            return f"[the same text as above, in turn {self._turns[text]}]"
        self._turns[text] = turn
        return text


def shortened(value: Any) -> Any:
    """Return a tool's result with its long texts cut."""
    return _with_long_texts(value, lambda text: _cut(text, LONGEST_LEAF))


def _cut(text: str, most: int) -> str:
    return f"{text[:most]} [cut: {len(text) - most} more characters]"


def _with_long_texts(value: Any, shown: Callable[[str], str]) -> Any:
    """Return a tool's result with each of its long texts as it is shown."""
    if isinstance(value, str) and len(value) > LONGEST_LEAF:
        return shown(value)
    if isinstance(value, dict):
        return {k: _with_long_texts(v, shown) for k, v in value.items()}
    return [_with_long_texts(v, shown) for v in value] if isinstance(value, list) else value


async def judge_conversation(
    complete: Any, conversation: Conversation, case: Case, store: Store, rubrics: list[Rubric], apart: bool = False
) -> dict[str, Any]:
    """Have one conversation judged.

    Parameters
    ----------
    complete : async callable
        ``complete(messages) -> Completion``.
    apart : bool
        One call a scorer in place of one for all.

    Returns
    -------
    dict
        The verdict: ``scores`` by scorer, each with score (None where unscored), reason, quote, unscored (why, or ""),
        rubric and hash; ``mended``, ``usage``, and ``addressed``: passages of the record that speak to a judge. Who
        reads
        the customer gives no scores but ``customer``, by rubric as `settled_turns` keeps it.

    Raises
    ------
    EndpointError
        When a call fails for good: nothing is judged then, and it can be tried again.
    """
    used = Usage()
    calls: list[Any] = []
    length = sum(len(m.text) for m in conversation.messages)
    haystacks: dict[bool, Any] = {
        reads: await read_aside(length, lambda reads=reads: plain("\n".join(quotable(conversation, case, reads))))
        for reads in {r.reads_reasoning for r in rubrics}
    }
    said = None
    if rubrics[0].reads_customer:
        haystacks[False] = said = await read_aside(length, said_by_customer, conversation)
    spoken_to = await read_aside(length, addressed, conversation)
    asked = [r for r in rubrics if not r.lacks(conversation)]
    alike = [[r for r in asked if r.reads_reasoning is reads] for reads in (False, True)]
    groups = [[r] for r in asked] if apart else [group for group in alike if group]
    given: dict[str, dict[str, Any]] = {r.name: {"unscored": r.lacks(conversation)} for r in rubrics}
    for group in groups:
        names = [r.name for r in group]
        try:
            messages = judge_messages(conversation, case, store, group)
            given |= await ask_for(complete, messages, _reader(names, messages, said), calls.append)
        except Unreadable as error:
            given |= {name: {"unscored": str(error)} for name in names}
        except EndpointError as error:
            if error.kind != "context_overflow":
                raise
            why = f"the record does not fit the judge's context window ({error.detail})"
            given |= {name: {"unscored": why} for name in names}
    settled: Any = _settled if said is None else settled_turns
    told = {r.name: settled(given[r.name], haystacks[r.reads_reasoning]) for r in rubrics}
    kept = {r.name: {**told[r.name], "rubric": r.version, "hash": r.hash} for r in rubrics}
    for answer in calls:
        used.add(answer.usage)
    return {
        "case_id": conversation.case_id,
        "trial": conversation.trial,
        "scores" if said is None else "customer": kept,
        "mended": len(calls) > len(groups),
        "addressed": spoken_to,
        "usage": used,
    }


def _reader(
    names: list[str], messages: list[dict[str, Any]], said: dict[int, str] | None
) -> Callable[[str, bool], dict[str, dict[str, Any]]]:
    """Return the function that reads a reply to `messages` into one entry a scorer.

    On the last reply what is wrong with one scorer leaves the others standing. With `said` the customer is read.
    """

    def read(text: str, last: bool) -> dict[str, dict[str, Any]]:
        text = without_words(text, messages)
        if said is not None:
            return {names[0]: {"turns": read_turns(text, said)}}
        found = read_object(text, strict=True)
        scores = found.get("scores")
        if not isinstance(scores, dict):
            raise Unreadable("the object has no 'scores' with one entry for each scorer")
        entries = {name: _entry(scores.get(name), name) for name in names}
        wrong = [e["unscored"] for e in entries.values() if e.get("unscored")]
        surplus = [*(found.keys() - {"scores"}), *(scores.keys() - {*names, *SCORERS})]
        if not last and (wrong or surplus):
            raise Unreadable(wrong[0] if wrong else f"{surplus[0]!r} was not asked for")
        return entries

    return read


def _entry(given: Any, name: str) -> dict[str, Any]:
    """Return one scorer's part of a verdict, or why it cannot be used."""
    if not isinstance(given, dict):
        return {"unscored": f"{name} is missing"}
    if given.keys() != {"quote", "reason", "score"}:
        return {"unscored": f"{name} does not hold exactly quote, reason and score"}
    score, quote, reason = given["score"], given["quote"], given["reason"]
    if not isinstance(quote, str) or not isinstance(reason, str):
        return {"unscored": f"quote and reason of {name} are no texts"}
    if isinstance(score, str) and re.fullmatch(
        r"\s*\d{1,3}(?:\.0)?\s*", score, re.ASCII
    ):  # "80" is 80; "4/5" would be a guess
        score = float(score)
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 100 or score % 1:
        why = f"the score of {name} is {str(score)[:20]}, not a whole number from 0 to 100"
        return {"unscored": why, "quote": quote, "reason": reason}
    return {"score": float(score), "quote": quote, "reason": reason}


def _settled(entry: dict[str, Any], haystack: str) -> dict[str, Any]:
    """Return the entry as it is kept; its quote must be in the record."""
    kept = {
        "score": entry.get("score"),
        "quote": entry.get("quote", "")[:600],
        "reason": entry.get("reason", "")[:2000],
        "unscored": entry.get("unscored", ""),
    }
    quote = unquoted(entry.get("quote", ""))
    if not kept["unscored"] and len(quote) < SHORTEST_QUOTE:
        kept["unscored"] = f"the quote is shorter than {SHORTEST_QUOTE} characters"
    elif not kept["unscored"] and quote not in haystack:
        kept["unscored"] = "the quote is not in the record"
    if kept["unscored"]:
        kept["score"] = None
    return kept


def quotable(conversation: Conversation, case: Case | None = None, reasoning: bool = False) -> list[str]:
    """Return the texts a quote may come from: messages, and tool calls as a judge sees them."""
    words = [w for call in conversation.tool_calls for w in words_in(call.arguments) if isinstance(w, str)]
    return [*(m.text for m in conversation.messages), *words, *transcript(conversation, case, reasoning)]


def addressed(conversation: Conversation) -> list[str]:
    """Passages in which somebody in the record speaks to a judge."""
    texts = [m.text for m in conversation.messages]
    texts += [orjson.dumps(c.arguments).decode() for c in conversation.tool_calls]
    return [" ".join(hit[0].split()) for text in texts for hit in ADDRESSED.finditer(fold(text))]
