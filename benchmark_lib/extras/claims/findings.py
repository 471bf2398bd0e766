"""Findings of detectors, and the record in the form that detectors use."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ...cases import Case
from ...language.heard import SURE
from ...language.parser import parser_of
from ...language.patterns import either_or
from ...language.said import UNNAMED, Reading, foreign, read
from ...language.sentences import Sentence, fold, is_row
from ...language.values import Value, values_in
from ...records import Conversation, Message, ToolCall, as_text
from ...store import Store
from .orders import Comparisons, comparisons, latest_day

HARDLY, REPORTED = 0.1, 0.7
"""Least probabilities that the reader gives a report: if a pattern found it, and if none did."""
HINTED = 0.2
"""Least probability of the likeliest tool in a report that names none, if no write was made."""
MOST_LANGUAGES = 2
"""With more languages in a conversation, a reply without a known one counts as in the customer's."""
KEPT = "kept"
"""The state of a true statement; every other state is a finding."""


@dataclass(slots=True)
class ClaimFinding:
    """One statement, compared with the actions.

    Attributes
    ----------
    turn : int
        The customer message that the sentence answers.
    sentence : str
        The evidence, quoted from the message.
    compared_with : int or str, optional
        Index of the tool call, or the value, that the statement is compared with.
    kind, state : str
        The subject (a tool, a class of promise, a kind of value, a slot); ``kept``, or the fault.
    """

    turn: int
    sentence: str
    compared_with: int | str | None
    kind: str
    state: str

    def as_dict(self, detector: str) -> dict[str, Any]:
        """Return the finding of a detector in the form of a score."""
        own = {"class" if f.name == "kind" else f.name: getattr(self, f.name) for f in fields(self)}
        return {"detector": detector, **own}


@dataclass
class AgentClaims:
    """A conversation in the form that detectors use; expensive parts are computed on first use.

    Days are compared only if it is ``dated``: if it took place on the store's own date.
    """

    conversation: Conversation
    case: Case
    store: Store
    dated: bool = True

    @cached_property
    def done(self) -> list[ToolCall]:
        """Return the agent's calls that were carried out."""
        return [t for t in self.conversation.tool_calls if not t.error and t.side == "agent"]

    @cached_property
    def replies(self) -> list[tuple[Message, Reading]]:
        """Return the agent's messages as read."""
        alone = [(m, read(m.text)) for m in self.conversation.replies()]
        spoken = dict.fromkeys(language for _, reading in alone for language in reading.languages)
        known = tuple(spoken) if 0 < len(spoken) <= MOST_LANGUAGES else (self.case.language,)
        return [(m, r if r.languages or foreign(m.text) else read(m.text, known)) for m, r in alone]

    def about(self, topic: str) -> Iterator[tuple[int, str, str]]:
        """Yield turn, name and sentence of every statement about a topic."""
        for message, reading in self.replies:
            for name, sentence in reading.about(topic):
                yield message.turn, name, sentence.text

    def reported(self) -> Iterator[tuple[int, str, str]]:
        """Yield turn, tool (or `UNNAMED`) and sentence of every act reported as done.

        Patterns decide, unless the reader rejects them. The reader alone counts only in a turn without a write, and in
        a message that proposes nothing: otherwise the act is still to come ("A new one it is: ... Shall I?").
        """
        acted, parser = {call.turn for call in self.done if call.write}, parser_of(self.store)
        for message, reading in self.replies:
            done = [(tool, s) for tool, s in reading.about("done") if not either_or(s.plain)]
            found = [(tool, s.text) for tool, s in done if parser.hear([s])[0].acts["report"] >= HARDLY]
            if message.turn not in acted and not parser.parse(message.text).proposed:
                named, unnamed = {text for _, text in found}, [s for _, s in reading.about(UNNAMED)]
                for s in reading.sentences:
                    heard = [UNNAMED] if s in unnamed and s.text not in named else self._heard(s, reading)
                    found += [(tool, s.text) for tool in heard]
            for tool, text in dict.fromkeys(found):
                yield message.turn, tool, text

    def _heard(self, sentence: Sentence, reading: Reading) -> list[str]:
        """Return the tools that the reader finds reported, or the likeliest without a write."""
        # None for a question, a denial, a table row, a past day (such as a scan's) or an alternative.
        excluded = self.is_past(sentence.text) or is_row(sentence.plain) or either_or(sentence.plain)
        if excluded or reading.asks_or_denies(sentence) or (spoken := reading.reportable(sentence)) is None:
            return []
        heard = parser_of(self.store).hear([spoken])[0]
        chance = heard.acts.get("report", 0.0)
        reported = [tool for tool, about in heard.reported.items() if about >= SURE and about * chance >= REPORTED]
        if not reported and chance >= REPORTED and not any(call.write for call in self.done):
            likeliest = max(heard.reported, key=heard.reported.__getitem__, default="")
            return [likeliest] if heard.reported.get(likeliest, 0.0) >= HINTED else []
        return reported

    def is_past(self, sentence: str) -> bool:
        """Return whether all days that a sentence names are past, so that it reports them."""
        day = latest_day(sentence, self.store) if self.dated else None
        return day is not None and day < self.store.now.date()

    def speaks(self, languages: tuple[str, ...]) -> bool:
        """Return whether every reply is in one of these languages.

        A detector that reads no reply has no languages.
        """
        spoken = [reading.languages for _, reading in self.replies if reading.sentences]
        return not languages or all(any(s in languages for s in known) for known in spoken)

    def call_of(self, tools: set[str]) -> ToolCall | None:
        """Return the newest carried-out call of one of these tools."""
        return next((t for t in reversed(self.done) if t.name in tools), None)

    def failed(self, tools: set[str]) -> int | None:
        """Return the index of a refused call of one of these tools."""
        return next((t.index for t in self.conversation.tool_calls if t.error and t.name in tools), None)

    def results(self, until: int) -> list[str]:
        """Return the results of the calls up to a turn, as text in lower case, oldest first."""
        return [text for turn, text in self._results if turn <= until]

    def differs(self, call: ToolCall, text: str) -> str | None:
        """Return the part of a text that contradicts a call; None without a contradiction."""
        return self.compared.differs(call, text, self.store)

    def values(self, text: str) -> tuple[Value, ...]:
        """Return the typed values of a text."""
        return values_in(text, self.store.now.year)

    @cached_property
    def compared(self) -> Comparisons:
        """Return the comparisons for this kind of desk."""
        return comparisons(self.store)

    @cached_property
    def _results(self) -> list[tuple[int, str]]:
        return [(t.turn, as_text(t.result).lower()) for t in self.done]

    def accepted(self, until: int) -> list[tuple[str, Any]]:
        """Return the accepted arguments of the calls up to a turn; the desk has checked them."""
        return [argument for t in self.done if t.turn <= until for argument in t.named.items()]

    def customer_words(self, until: int) -> str:
        """Return the customer's text up to a turn, with the content of attachments, folded."""
        sent = [m for m in self.conversation.messages if m.side == "customer" and m.turn <= until]
        return fold(" \n ".join(text for m in sent for text in (m.text, *m.shows.values())))
