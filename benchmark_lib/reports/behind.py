"""From a number to its conversations: one filter, as rows of the frame and as an address on the site."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd

from ..analysis.frames import Results, plain_rows
from ..analysis.panels import conversations_of
from ..analysis.tables.customers import flags_of
from ..analysis.tables.scope import desk_view
from ..errors import BadInput
from ..scoring.claims import DETECTORS
from ..scoring.columns import names_of
from ..scoring.deciding import SUCCESS_STATES, state_of
from ..scoring.metrics import METRICS
from ..scoring.score import Score
from .one_model.conduct import became
from .transcript import visible

YES, NO, KNOWN = "yes", "no", "known"
"""Values of a filter: a flag that is true, one that is false, and anything that is not missing."""
NAMES = (
    *("entry", "source", "panel", "run_id", "case_id", "trial", "bucket", "intent", "kind", "language"),
    *("family", "arm", "settings", "weights", "ended_by", "pressure_reached", "pressure_push"),
)
"""Columns of the conversations frame that are filtered by their values."""
COUNTED = ("customer_faults", "forbidden_calls", "failed_calls")
"""Counts of the conversations frame that are filtered as flags: whether there was any."""
TOOLS = ("tool", "tool_refused")
"""Fields with several values in one conversation: tools that the agent called, and those of which a call was refused."""
JUDGED = ("judged", "judge_scored")
"""The same of judges: scorers that a judge was asked for, and those it gave a score, as `judged_by` names them."""


def facets(
    conversations: pd.DataFrame, tool_calls: pd.DataFrame | None = None, verdicts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """What conversations can be filtered by.

    Parameters
    ----------
    tool_calls : DataFrame, optional
        The frame of tool calls; without it there are no fields `TOOLS`.
    verdicts : DataFrame, optional
        The frame of judges' verdicts; without it there are no fields `JUDGED`.

    Returns
    -------
    DataFrame
        One row per conversation, in the order and with the index of the frame. Names as text, flags as ``yes`` and
        ``no``, numbers as ``some``; None where the value is missing. Made here: ``outcome`` (a word of
        `SUCCESS_STATES`), ``became`` (the outcome with the main reason), ``trials_succeed`` (``always``,
        ``sometimes`` or ``never``, over the trials of the case), those of `desk_view`, the `TOOLS` and the `JUDGED`,
        which hold tuples.
    """
    f = conversations
    found: dict[str, Any] = {name: _names(f[name]) for name in NAMES if name in f}
    rules = [c for c in f if c.startswith("rule_")]
    found |= {name: _names(f[name]) for name in rules}
    metrics = {m.column: m.scale.bounds for m in METRICS.values()}
    flags = {c for c in f if str(f[c].dtype) == "boolean"} | {c for c, bounded in metrics.items() if bounded}
    found |= {name: _flags(f[name]) for name in sorted(flags) if name in f}
    found |= {name: _flags(f[name].fillna(0) > 0) for name in COUNTED if name in f}
    if "customer_flagged" in f:
        found["customer_flagged"] = _flags(flags_of(f))
    names = names_of(Score)
    counted = {names[d.column] for d in DETECTORS.values()} - flags
    found |= {name: _flags(f[name].astype("Float64") > 0) for name in sorted(counted) if name in f}
    some = (name for name in metrics if name in f and name not in found)
    found |= {name: ["some" if known else None for known in f[name].notna()] for name in some}
    rows = plain_rows(f)
    states = [state_of(row, row["ended_by"]) for row in rows]
    found["outcome"] = [SUCCESS_STATES[state][1] for state in states]
    found["became"] = [became(row["bucket"], row) for row in rows]
    found["trials_succeed"] = _over_trials(f)
    desk = desk_view(f)
    found |= {"adherent": _flags(desk["adherent"])} | {n: _names(desk[n]) for n in ("use_case", "end_for_desk")}
    if tool_calls is not None:
        mine = tool_calls[tool_calls["side"] == "agent"]
        found["tool"] = _sets(f, mine)
        found["tool_refused"] = _sets(f, mine[mine["error"].fillna("") != ""])
    if verdicts is not None and len(verdicts):
        given = [judged_by(scorer, judge) for scorer, judge in zip(verdicts["scorer"], verdicts["judge"], strict=True)]
        asked = verdicts.assign(name=given)
        found["judged"] = _sets(f, asked)
        found["judge_scored"] = _sets(f, asked[asked["score"].notna()])
    return pd.DataFrame(found, index=f.index, dtype="object")


def judged_by(scorer: str, judge: str) -> str:
    """A scorer with the judge that was asked, as conversations are filtered by it."""
    return f"{scorer} by {judge}"


def conversations_behind(results: Results | pd.DataFrame, **chosen: Any) -> pd.DataFrame:
    """The conversations that a number counts.

    Parameters
    ----------
    **chosen
        A field of `facets` with a value or a list of values of which one must match; True and False stand for ``yes``
        and ``no``, and ``"known"`` for every value that is not missing: ``unsafe=True`` gives the numerator,
        ``unsafe="known"`` the denominator.

    Returns
    -------
    DataFrame
        Rows of the conversations frame. ``attrs["address"]`` is the list of exactly these on the site, see
        `conversations_address`.

    Raises
    ------
    BadInput
        For a field that does not exist.

    Examples
    --------
    >>> conversations_behind(results, entry="gpt-5.5", bucket="adversarial", unsafe=True)  # doctest: +SKIP
    """
    frame = conversations_of(results)
    more = (results.tool_calls, results.verdicts) if hasattr(results, "conversations") else ()
    fields = facets(frame, *more)
    rows = frame[matching(fields, **chosen)]
    rows.attrs["address"] = conversations_address(**chosen)
    return rows


def matching(fields: pd.DataFrame, **chosen: Any) -> pd.Series:
    """Which rows of `facets` match a filter, as in `conversations_behind`."""
    rows = pd.Series(True, index=fields.index)
    for name, value in chosen.items():
        if name not in fields:
            raise BadInput(f"conversations cannot be filtered by {name!r}: choose from {', '.join(fields)}")
        wanted = set(_wanted(value))
        column = fields[name]
        if name in (*TOOLS, *JUDGED):
            rows &= pd.Series([bool(wanted & set(used)) for used in column], index=column.index)
        elif KNOWN in wanted:
            rows &= column.notna()
        else:
            rows &= column.isin(wanted)
    return rows


def conversations_address(site: str = "", **chosen: Any) -> str:
    """Where the site lists exactly the conversations of a filter.

    Parameters
    ----------
    site : str
        What stands before it: the address of the site, or its folder as seen from the page that links.
    **chosen
        As in `conversations_behind`.

    Returns
    -------
    str
        ``transcripts.html#entry=gpt-5.5&unsafe=yes``.
    """
    pairs = [(name, visible(v)) for name, value in chosen.items() for v in _wanted(value)]
    base = f"{site.rstrip('/')}/" if site else ""
    return f"{base}transcripts.html#{urlencode(pairs, quote_via=quote, errors='replace')}"


def median_trials(values: np.ndarray, trials: np.ndarray) -> list[int]:
    """The trial whose mean is the median of the trials, or the two in the middle; of equal ones the first.

    Parameters
    ----------
    values : ndarray of float, shape (conversations,)
        NaN where a conversation has no value.
    trials : ndarray of int, shape (conversations,)
    """
    known = ~np.isnan(values)
    numbers, sizes = np.unique(trials[known], return_counts=True)
    whole = numbers[2 * sizes >= sizes.max(initial=0)]
    means = [values[known & (trials == trial)].mean() for trial in whole]
    in_order = sorted(means)
    middle = {in_order[(len(means) - 1) // 2], in_order[len(means) // 2]} if means else set()
    return sorted(int(whole[means.index(value)]) for value in middle)


def trials_in_words(trials: list[int]) -> str:
    """Which trials a median over trials is taken from."""
    which = " and ".join(map(str, trials))
    return f"trial {which}, whose value is the median" if len(trials) == 1 else f"trials {which}, around the median"


def _wanted(value: Any) -> Iterable[str]:
    """The values of one field of a filter, as text."""
    if isinstance(value, bool):
        return (YES if value else NO,)
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(str(v) for v in value)
    return (str(value),)


def _names(column: pd.Series) -> list[str | None]:
    whole = column.dtype.kind == "f"
    return [None if v is None or v != v else f"{v:g}" if whole else str(v) for v in column.astype("object")]


def _flags(column: pd.Series) -> list[str | None]:
    known = column.astype("Float64")
    return [None if v != v else YES if v else NO for v in known.to_numpy(dtype=float, na_value=float("nan"))]


def _over_trials(f: pd.DataFrame) -> list[str | None]:
    """Of each conversation, how the scored trials of its entry and case went."""
    success = f["success"].astype("Float64")
    share = success.groupby([f["entry"], f["source"], f["case_id"]]).transform("mean")
    return [
        None if v != v else "always" if v == 1 else "never" if v == 0 else "sometimes"
        for v in share.to_numpy(dtype=float, na_value=float("nan"))
    ]


def _sets(f: pd.DataFrame, calls: pd.DataFrame) -> list[tuple[str, ...]]:
    """Of each conversation, the names of some calls or verdicts, each once."""
    keys = ["run_id", "case_id", "trial"]
    names: dict[tuple[Any, ...], set[str]] = {}
    for *key, name in calls[[*keys, "name"]].drop_duplicates().itertuples(index=False):
        names.setdefault(tuple(key), set()).add(str(name))
    return [tuple(sorted(names.get(key, ()))) for key in f[keys].itertuples(index=False, name=None)]
