"""Weekly counts of streamed logged conversations: memory grows with the weeks, not the conversations."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import blake2b

from ...errors import BadInput
from ...store import Store
from .logs import Logged, monday
from .measures import CALLS, HANDED, STORE, WHY_ABSENT, WORDS, Heard, Measure, measures, read_all

MOST_BEHIND = 50
"""Conversations stored by name per measure and week: the first, or for a number the highest."""
MOST_WEEKS = 1_000
"""Most weeks of a log; a time stamp of 1970 among those of this year is a mistake."""
MOST_TOOLS = 1_000
"""Most names of unknown tools to store."""
LONGEST_NAME = 200
"""Most characters of a conversation's name to store."""


@dataclass(frozen=True, order=True, slots=True)
class Behind:
    """A conversation of a number: its value, name, place, and address in the desk's own system."""

    value: int
    name: str
    place: str
    link: str | None = field(compare=False)


@dataclass
class Tally:
    """Weekly counts of a log.

    Attributes
    ----------
    conversations, with_calls, with_handover : Counter of date
        Conversations of each week, those with a tool call, and those with a known handover state, by call or field.
    values : dict of (date, str) to Counter of int
        Frequency of each value by week and measure; 0 and 1 for no and yes.
    behind : dict of (date, str) to list of Behind
        Conversations of the number by week and measure.
    unknown_tools : Counter of str
        Conversations with an unknown tool, by its name.
    unread : Counter of str
        Conversations that a measure could not read, by its name: their calls or results have another form than at our
        desks.
    places : dict of date to str
        Place of the first conversation of each week.
    unnamed, twice : int
        Conversations without an id, and those omitted because of a repeated id.
    """

    chosen: tuple[Measure, ...]
    has_store: bool = False
    conversations: Counter[date] = field(default_factory=Counter)
    with_calls: Counter[date] = field(default_factory=Counter)
    with_handover: Counter[date] = field(default_factory=Counter)
    values: defaultdict[tuple[date, str], Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    behind: defaultdict[tuple[date, str], list[Behind]] = field(default_factory=lambda: defaultdict(list))
    unknown_tools: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    unnamed: int = 0
    twice: int = 0
    places: dict[date, str] = field(default_factory=dict)
    _seen: set[bytes] = field(default_factory=set)

    def add(self, logged: Logged, store: Store) -> None:
        """Count one conversation; with a repeated id, count it only as `twice`."""
        if not self._is_new(logged):
            self.twice += 1
            return
        week, heard = monday(logged.at), Heard(logged, store)
        found, unread = read_all(heard, self.chosen, self.has_store)
        self.unnamed += not logged.named
        self.conversations[week] += 1
        self.places.setdefault(week, logged.place)
        self.with_calls[week] += bool(logged.record.tool_calls)
        self.with_handover[week] += bool(logged.record.tool_calls) or logged.handed_over is not None
        for name, value in found.items():
            self.values[week, name][value] += 1
            self._keep(week, name, value, logged)
        self.unread.update(unread)
        if len(self.unknown_tools) < MOST_TOOLS:
            self.unknown_tools.update({name[:LONGEST_NAME] for name in heard.unknown})

    def _is_new(self, logged: Logged) -> bool:
        if not logged.named:
            return True
        key = blake2b(logged.name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _keep(self, week: date, name: str, value: int, logged: Logged) -> None:
        kept = self.behind[week, name]
        if value < 1 or (len(kept) >= MOST_BEHIND and value <= kept[0].value):
            return
        one = Behind(value, logged.name[:LONGEST_NAME], logged.place, logged.link)
        if len(kept) < MOST_BEHIND:
            heapq.heappush(kept, one)
        else:
            heapq.heappushpop(kept, one)

    @property
    def weeks(self) -> list[date]:
        """Return every Monday from the first week with a conversation to the last."""
        if not self.conversations:
            return []
        first, last = min(self.conversations), max(self.conversations)
        return [first + timedelta(weeks=n) for n in range((last - first).days // 7 + 1)]

    def known(self, measure: Measure, week: date) -> bool:
        """Return whether the log of a week meets a measure's requirement."""
        if measure.needs == HANDED:
            return self.with_handover[week] > 0
        return measure.needs == WORDS or self.with_calls[week] > 0

    def why_absent(self, measure: Measure) -> str:
        """Return why a measure has no number in any week; empty if it has one."""
        if measure.needs == STORE and not self.has_store:
            return WHY_ABSENT[STORE]
        needs = CALLS if measure.needs == STORE else measure.needs
        if not any(self.known(measure, week) for week in self.conversations):
            return WHY_ABSENT[needs]
        if not any(self.values.get((week, measure.name)) for week in self.conversations):
            if self.unknown_tools and needs in (CALLS, HANDED):
                return "every conversation it could judge calls a tool that is not known: name the tools with --tool"
            return "no conversation it applies to"
        return ""

    def silent_weeks(self) -> list[date]:
        """Return the weeks without any tool call, if other weeks have calls."""
        quiet = [week for week, n in sorted(self.conversations.items()) if n and not self.with_calls[week]]
        return quiet if len(quiet) < len(self.conversations) else []


def tally(logs: Iterable[Logged], store: Store, *, has_store: bool = False) -> Tally:
    """Count logged conversations week by week.

    Parameters
    ----------
    logs : iterable of Logged
        The conversations from `read_logs`.
    store : Store
        The desk whose words and tools are used.
    has_store : bool
        Whether the log is of this very desk, so that its articles apply.

    Raises `BadInput` if there is no conversation, or the times span more than `MOST_WEEKS`.
    """
    counted = Tally(measures(), has_store)
    for one in logs:
        counted.add(one, store)
    if not counted.conversations:
        raise BadInput("the log holds no conversation: name a file with at least one")
    if len(counted.weeks) > MOST_WEEKS:
        first, last = counted.weeks[0], counted.weeks[-1]
        ends = f"{first} ({counted.places[first]}) to {last} ({counted.places[last]})"
        raise BadInput(f"the times of the log span {ends}: mend the time that is wrong, or take its line out")
    return counted
