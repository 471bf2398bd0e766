"""A language model as judge: what it sees, what it must answer, which scores count.

A judged score never replaces what is read from the record. A score that cannot be used counts as unscored, with the
reason, and never as 0: an unreadable reply, a missing scorer, a number off the scale, or a quote not in the record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ...cases import Case
from ...endpoint import EndpointError
from ...endpoint.structured import Unreadable, ask_for, read_object, without_words
from ...errors import BadInput
from ...language.sentences import fold
from ...project import DATA
from ...records import Conversation, Usage, content_hash, words_in
from ...scoring.customer_audit import read_turns, said_by_customer, settled_turns
from ...scoring.facts import plain, unquoted
from ...store import Store
from ...textfiles import front_matter, read_yaml, render
from ...threads import read_aside
from .shown import LIMITS, case_facts, policy_text, request, transcript

Entries = dict[str, dict[str, Any]]
"""What a judge says on each thing it was asked, by name; ``unscored`` is why that cannot be used."""

RUBRICS = DATA / "rubrics"
SCORERS = ("resolution", "policy_adherence", "tone", "sentiment_trend", "groundedness", "scope_of_promises")
"""The default scorers of a judge, each from 0 to 100 and with a rubric file of its name."""
RED_FLAG = "red_flag"
"""The only scorer that reads the model's reasoning; it must be requested by name."""
CUSTOMER_TURNS = "customer_turns"
"""The task that reads the customer and scores nobody; it must be requested by name, alone."""
LOSSES = "losses"
"""The task that rereads losses through wording; it must be requested by name, alone."""
NAMED = (*SCORERS, RED_FLAG, CUSTOMER_TURNS, LOSSES)

SHORTEST_QUOTE = 8
"""Minimum number of characters in a quote, without blanks."""
ADDRESSED = re.compile("|".join(read_yaml(Path(__file__).with_name("addressed.yaml"))))
"""Texts in a record that address a judge: they are counted and shown, but change no score."""


@dataclass(frozen=True)
class Rubric:
    """One rubric file: what a scorer asks and what its numbers mean.

    It scores no conversation with fewer than `customer_messages` messages from the customer. If it
    reads ``reasoning``, it scores none that lacks it. If it reads the ``customer`` or ``losses``, it is `alone`.
    """

    name: str
    version: str
    title: str
    text: str
    hash: str
    customer_messages: int = 1
    reads: str = ""

    @property
    def alone(self) -> bool:
        """Return whether its file is a whole task, which no other scorer shares."""
        return self.reads in ("customer", "losses")

    def lacks(self, conversation: Conversation) -> str:
        """Return what a conversation lacks for this rubric to score it; empty if nothing."""
        if self.reads == "reasoning" and not conversation.reasoning:
            return "no reasoning of the model on record"
        few = sum(m.side == "customer" for m in conversation.messages) < self.customer_messages
        return f"fewer than {self.customer_messages} messages of the customer" if few else ""


def load_rubrics(scorers: Iterable[str] = SCORERS, folder: Path = RUBRICS) -> list[Rubric]:
    """Read the rubrics of these scorers.

    Raise `BadInput` for an unknown scorer, a scorer added to one that is `alone`, or a rubric without a header.
    """
    rubrics = []
    for name in dict.fromkeys(scorers):
        path = folder / f"{name}.md"
        if name.startswith("_") or not path.is_file():
            raise BadInput(f"there is no scorer {name!r}: choose from {', '.join(NAMED)}")
        head, text = front_matter(path)
        if not {"version", "title"} <= head.keys():
            raise BadInput(f"{path}: its header needs version and title; compare it with {SCORERS[0]}.md")
        least = head.get("customer_messages", 1)
        if type(least) is not int or least < 1:
            raise BadInput(f"{path}: customer_messages is {least!r}; write a whole number of at least 1, or omit it")
        reads = next((what for what in ("reasoning", "customer", "losses") if head.get(f"reads_{what}") is True), "")
        digest = content_hash(path.read_bytes())
        rubrics.append(Rubric(name, str(head["version"]), str(head["title"]), text.strip(), digest, least, reads))
    if not rubrics:
        raise BadInput(f"no scorer is named: choose from {', '.join(NAMED)}")
    if len(rubrics) > 1 and (own := next((r for r in rubrics if r.alone), None)):
        raise BadInput(f"{own.name} is a separate task: request it alone")
    return rubrics


def judging_version(
    rubrics: list[Rubric],
    settings: dict[str, Any],
    apart: bool,
    store: Store,
    rests: Sequence[str] = (),
) -> str:
    """Return the version under which a verdict is stored.

    It has the task's version and a hash of task, rubrics, rules, settings, the judge's view and other inputs (`rests`).
    """
    path = _task_of(rubrics)
    shown = [*LIMITS, SHORTEST_QUOTE, *rests, system_prompt(tuple(rubrics), store)]
    parts = [path.read_text(), [r.hash for r in rubrics], settings, apart, shown]
    content = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return f"{front_matter(path)[0].get('version', path.stem)} {content_hash(content)[:8]}"


@lru_cache(maxsize=32)
def system_prompt(rubrics: tuple[Rubric, ...], store: Store) -> str:
    """Return the rules for judging every conversation: one text, which a provider can cache."""
    path = _task_of(rubrics)
    shown = {"rubrics": rubrics, "house_rules": store.prompt()[0], "policy": policy_text(store)}
    return render(front_matter(path)[1], str(path), **shown, shortest=SHORTEST_QUOTE).strip()


def _task_of(rubrics: Sequence[Rubric]) -> Path:
    return RUBRICS / (f"{rubrics[0].name}.md" if rubrics[0].alone else "_task.md")


def judge_messages(conversation: Conversation, case: Case, store: Store, rubrics: list[Rubric]) -> list[dict[str, Any]]:
    """Return the request to judge one conversation by these rubrics.

    The record is JSON, one object per line, so that no text in it can pretend to be another line. The code in its marks
    is the record's own hash, which nobody in it could know. A judge of the customer sees what the customer saw: neither
    the case nor the desk's calls nor the ending.
    """
    if rubrics[0].reads == "customer":
        known = replace(conversation, tool_calls=[c for c in conversation.tool_calls if c.side == "customer"])
        lines, about = transcript(known, case)[:-1], []
    else:
        lines = transcript(conversation, case, any(r.reads == "reasoning" for r in rubrics))
        about = [f"# The case\n\n{orjson.dumps(case_facts(case, store)).decode()}"]
    return request(system_prompt(tuple(rubrics), store), about, lines)


async def ask_judge(
    complete: Any,
    conversation: Conversation,
    requests: list[tuple[list[str], list[dict[str, Any]]]],
    read: Callable[[list[str], str, bool], Entries],
    settle: Callable[[Entries], dict[str, Any]],
) -> dict[str, Any]:
    """Send a judge's requests about one conversation and return its verdict.

    Parameters
    ----------
    complete : async callable
        ``complete(messages) -> Completion``.
    requests : list of tuple
        The requested names and the messages of each request.
    read : callable
        ``read(names, text, last)``: returns the entries in a reply; see `ask_for`.
    settle : callable
        ``settle(entries)``: returns the verdict's own part.

    Returns
    -------
    dict
        case_id, trial, ``usage``, ``mended``, ``addressed`` (passages of the record that address a judge), and the own
        part.

    Raises
    ------
    EndpointError
        If a call fails permanently: no verdict is made, and the conversation can be judged again.
    """
    entries, answers, used = Entries(), list[Any](), Usage()
    for names, messages in requests:

        def reading(text: str, last: bool, names: Any = names, messages: Any = messages) -> Entries:
            return read(names, without_words(text, messages), last)

        try:
            entries |= await ask_for(complete, messages, reading, answers.append)
        except Unreadable as error:
            entries |= dict.fromkeys(names, {"unscored": str(error)})
        except EndpointError as error:
            if error.kind != "context_overflow":
                raise
            why = f"the record does not fit the judge's context window ({error.detail})"
            entries |= dict.fromkeys(names, {"unscored": why})
    for answer in answers:
        used.add(answer.usage)
    spoken_to = await aside(conversation, addressed, conversation)
    common = {"case_id": conversation.case_id, "trial": conversation.trial, "usage": used}
    common |= {"mended": len(answers) > len(requests), "addressed": spoken_to}
    return common | await aside(conversation, settle, entries)


async def aside(conversation: Conversation, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that reads a conversation; if that is long, in a thread."""
    return await read_aside(sum(len(m.text) for m in conversation.messages), function, *arguments)


async def judge_conversation(
    complete: Any, conversation: Conversation, case: Case, store: Store, rubrics: list[Rubric], apart: bool = False
) -> dict[str, Any]:
    """Judge one conversation with ``complete(messages) -> Completion``.

    Parameters
    ----------
    apart : bool
        Make one call per scorer instead of one for all.

    Returns
    -------
    dict
        The verdict of `ask_judge`, with ``scores`` as its own part: by scorer, each with score (None where unscored),
        reason, quote, unscored (why, or ""), rubric and hash. A judge of the customer gives ``customer`` in place of
        ``scores``, by rubric as `settled_turns` keeps it.

    Raises
    ------
    EndpointError
        If a call fails permanently: no verdict is made, and the conversation can be judged again.
    """
    of_customer = rubrics[0].reads == "customer"

    def haystack(reads: str) -> Any:
        if of_customer:
            return said_by_customer(conversation)
        return plain("\n".join(quotable(conversation, case, reads == "reasoning")))

    haystacks = {reads: await aside(conversation, haystack, reads) for reads in {r.reads for r in rubrics}}
    asked = [r for r in rubrics if not r.lacks(conversation)]
    alike = [[r for r in asked if (r.reads == "reasoning") is reads] for reads in (False, True)]
    groups = [[r] for r in asked] if apart else [group for group in alike if group]
    requests = [([r.name for r in group], judge_messages(conversation, case, store, group)) for group in groups]
    settled: Any = settled_turns if of_customer else _settled

    def read(names: list[str], text: str, last: bool) -> Entries:
        if of_customer:
            return {names[0]: {"turns": read_turns(text, haystacks["customer"])}}
        return read_scores(names, text, last)

    def settle(entries: Entries) -> dict[str, Any]:
        kept = Entries()
        for r in rubrics:
            entry = entries.get(r.name, {"unscored": r.lacks(conversation)})
            kept[r.name] = {**settled(entry, haystacks[r.reads]), "rubric": r.version, "hash": r.hash}
        return {"customer" if of_customer else "scores": kept}

    return await ask_judge(complete, conversation, requests, read, settle)


def read_scores(names: list[str], text: str, last: bool) -> Entries:
    """Return one entry per scorer from a judge's reply; raise `Unreadable` for another form.

    In the `last` reply, a wrong entry does not affect the other scorers.
    """
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


def _entry(given: Any, name: str) -> dict[str, Any]:
    """Return one scorer's part of a verdict, or why it cannot be used."""
    if not isinstance(given, dict):
        return {"unscored": f"{name} is missing"}
    if given.keys() != {"quote", "reason", "score"}:
        return {"unscored": f"{name} does not hold exactly quote, reason and score"}
    score, quote, reason = given["score"], given["quote"], given["reason"]
    if not isinstance(quote, str) or not isinstance(reason, str):
        return {"unscored": f"quote and reason of {name} are no texts"}
    if isinstance(score, str) and re.fullmatch(r"\s*\d{1,3}(?:\.0)?\s*", score, re.ASCII):
        score = float(score)  # "80" is 80; "4/5" would be a guess
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 100 or score % 1:
        why = f"the score of {name} is {str(score)[:20]}, not a whole number from 0 to 100"
        return {"unscored": why, "quote": quote, "reason": reason}
    return {"score": float(score), "quote": quote, "reason": reason}


def _settled(entry: dict[str, Any], haystack: str) -> dict[str, Any]:
    """Return the entry to store; its quote must be in the record."""
    quote, why = entry.get("quote", ""), entry.get("unscored", "")
    if not why and len(unquoted(quote)) < SHORTEST_QUOTE:
        why = f"the quote is shorter than {SHORTEST_QUOTE} characters"
    elif not why and unquoted(quote) not in haystack:
        why = "the quote is not in the record"
    kept = {"score": None if why else entry["score"], "quote": quote[:600]}
    return {**kept, "reason": entry.get("reason", "")[:2000], "unscored": why}


def quotable(conversation: Conversation, case: Case | None = None, reasoning: bool = False) -> list[str]:
    """Return the texts a quote may come from: messages, and tool calls as a judge sees them."""
    words = [w for call in conversation.tool_calls for w in words_in(call.arguments) if isinstance(w, str)]
    return [*(m.text for m in conversation.messages), *words, *transcript(conversation, case, reasoning)]


def addressed(conversation: Conversation) -> list[str]:
    """Return the passages in which somebody in the record addresses a judge."""
    texts = [m.text for m in conversation.messages]
    texts += [orjson.dumps(c.arguments).decode() for c in conversation.tool_calls]
    return [" ".join(hit[0].split()) for text in texts for hit in ADDRESSED.finditer(fold(text))]
