"""Logged conversations counted week by week while they stream past: memory grows with the weeks, not with the conversations."""

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
"""Conversations that are kept by name behind the number of one measure and week: the first, of a number the highest."""
MOST_WEEKS = 1_000
"""Weeks a log may span; a time stamp of 1970 among those of this year is a mistake."""
MOST_TOOLS = 1_000
"""Names of unknown tools that are kept."""
LONGEST_NAME = 200
"""Characters of a conversation's name that are kept."""


@dataclass(frozen=True, order=True, slots=True)
class Behind:
    """A conversation behind a number: its value, its name, where it stands, and its address in the desk's own system."""

    value: int
    name: str
    place: str
    link: str | None = field(compare=False)


@dataclass
class Tally:
    """What was counted.

    Attributes
    ----------
    conversations, with_calls, with_handover : Counter of date
        Conversations of each week, those with a tool call, and those of which it is known by call or field whether a
        person took over.
    values : dict of (date, str) to Counter of int
        By week and measure: how often each value came up, 0 and 1 for yes and no.
    behind : dict of (date, str) to list of Behind
        By week and measure: conversations behind the number.
    unknown_tools : Counter of str
        Conversations that call a tool that nobody knows, by its name.
    unread : Counter of str
        Conversations that a measure could not read, by its name: their calls or results have another form than at our
        desks.
    places : dict of date to str
        Where the first conversation of each week stands.
    unnamed, twice : int
        Conversations without an id, and those left out because their id had come up before.
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
        """Count one conversation; one whose id has come up before is counted as `twice` and nowhere else."""
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
        """Keep the conversation's name behind the number, if there is something to see in it."""
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
        """Every Monday from the first week with a conversation to the last."""
        if not self.conversations:
            return []
        first, last = min(self.conversations), max(self.conversations)
        return [first + timedelta(weeks=n) for n in range((last - first).days // 7 + 1)]

    def known(self, measure: Measure, week: date) -> bool:
        """Whether the log of a week holds what a measure needs."""
        if measure.needs == HANDED:
            return self.with_handover[week] > 0
        return measure.needs == WORDS or self.with_calls[week] > 0

    def why_absent(self, measure: Measure) -> str:
        """Why a measure has no number in any week; empty where it has one."""
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
        """Weeks without any tool call, in a log that has calls in others."""
        quiet = [week for week, n in sorted(self.conversations.items()) if n and not self.with_calls[week]]
        return quiet if len(quiet) < len(self.conversations) else []


def tally(logs: Iterable[Logged], store: Store, *, has_store: bool = False) -> Tally:
    """Count logged conversations week by week.

    Parameters
    ----------
    logs : iterable of Logged
        As `read_logs` gives them.
    store : Store
        The desk whose words and tools they are read with.
    has_store : bool
        Whether the log is of this very desk, so that what stands in its articles may be told.

    Raises `BadInput` if there is no conversation, or the times span more weeks than any log does.
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
