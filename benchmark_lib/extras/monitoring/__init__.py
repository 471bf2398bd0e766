"""Monitoring of production logs: measures that need no cases, counted by week.

Of each conversation, only the name, the place in the log and the numbers are kept.
"""

from collections.abc import Mapping
from pathlib import Path

from ...endpoint.prices import read_mapping
from ...errors import BadInput
from ...project import in_project
from ...store.world import load_store
from .drift import FALSE_ALARMS, Monitored, baseline_of
from .logs import ACTS, REFUNDS, LogReader
from .made_up import (
    CHANGES,
    elsewhere_table,
    false_alarm_table,
    first_alarms,
    found_table,
    made_up_year,
    week_of,
    write_year,
)
from .measures import TEXTS, read_frame


def monitor(
    *logs: str | Path,
    baseline: str | None = None,
    store: str | Path | None = None,
    tools: Mapping[str, str] | None = None,
    format: str | None = None,
    false_alarms: float = FALSE_ALARMS,
    leave_out_bad: bool = False,
) -> Monitored:
    """Read a desk's logs and compare every week with the baseline.

    Raise `BadInput` for logs that cannot be read, have no times, or leave nothing to compare.

    Parameters
    ----------
    *logs : path
        Files of logged conversations: JSON lines (also ``.gz``), results of tau2 (or their folder), Inspect logs.
    baseline : str, optional
        First and last day, as in ``2026-01-05..2026-03-29``; by default the first 13 weeks, or half of a short log.
    store : str or path, optional
        The desk that the logs come from: a known store or a store folder. Its articles define what may be disclosed;
        without it, the measures that need them are absent.
    tools : mapping of str to str, optional
        The act of each tool in the log: the name of a desk's tool, ``refund``, ``read`` (changes nothing), or ``other``
        (a change that no measure uses). `read_tool_acts` reads this mapping from a file.
    false_alarms : float
        Chance of any false alarm, across all measures, in a year of weekly looks.
    leave_out_bad : bool
        Whether to omit and count unreadable lines; otherwise the first one raises `BadInput`.
    """
    if not logs:
        raise BadInput(TEXTS["refused"]["no_log"])
    if not 0 < false_alarms < 1:
        raise BadInput(TEXTS["refused"]["chance"].format(chance=false_alarms))
    desk = load_store(store or "northline")  # whose phrases and tool names read any log
    if desk.foreign:
        raise BadInput(TEXTS["refused"]["foreign"].format(store=store))
    for logged_name, act in (tools or {}).items():
        if act not in ACTS and act not in desk.tools:
            every = ", ".join([*sorted(ACTS), *sorted(name for name, tool in desk.tools.items() if tool.write)])
            turned = TEXTS["refused"]["turned"] if logged_name in ACTS | desk.tools.keys() else ""
            raise BadInput((TEXTS["refused"]["act"] + turned).format(act=act[:40], tool=logged_name[:40], every=every))
    reader = LogReader(logs, format, tools or {}, leave_out_bad)
    log = read_frame(reader, desk, has_store=store is not None)
    return Monitored(reader, desk, log, baseline_of(log, baseline, reader.left_out), false_alarms)


def read_tool_acts(path: str | Path) -> dict[str, str]:
    """Read the act of each tool in a log from a YAML file, as in ``issueRefund: refund``.

    See ``docs/monitoring.md``. Raise `BadInput` for a file that is unreadable or not a mapping of texts. Unknown acts
    are left for `monitor` to refuse.
    """
    given = read_mapping(in_project(path), "issueRefund")
    if not given:
        raise BadInput(f"{path} names no tool: write one line per tool, as in 'issueRefund: {REFUNDS}'")
    for theirs, act in given.items():
        if not isinstance(theirs, str) or not isinstance(act, str):
            mend = f"write the tool and one act, as in 'issueRefund: {REFUNDS}'"
            raise BadInput(f"{path}: {theirs!r:.40} is mapped to {act!r:.40}: {mend}")
    return given
