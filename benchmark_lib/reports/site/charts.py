"""The charts of the front page as plain geometry; templates draw them as inline SVG with x in percent, so they fit any width."""

from __future__ import annotations

from typing import Any

from ...analysis.estimators.estimate import counted, usual
from ...analysis.panels import short_name
from ...analysis.tables.safety import STATES
from ...analysis.estimators.unsafe import BAND_CUTS, BANDS
from ...scoring.metrics import METRICS
from .board import BLOCKS
from .content import Content, Entry
from .words import mean_with_interval, percent, words

MARKS = {"ranked": "circle", "not ranked": "diamond", "scripted": "square", "imported": "cross", "published": "triangle"}
HEIGHT, TOP, BOTTOM, LINE = 470, 14, 18, 15
SCALE_MIN = 8
LABEL_ROOM = 98
"""How many letters fit next to the marks of all columns together."""


def value_picture(content: Content) -> dict[str, Any] | None:
    """Unsafe actions by cost tier: one column per tier, one mark per entry, with labels that never overlap.

    An entry that was run on a different number of traps than most is named but not drawn, since its count is not comparable.
    """
    known = [e for e in content.entries if e.row["unsafe"] == e.row["unsafe"]]
    if not known:
        return None
    traps = usual(e.row["unsafe_n"] for e in known)
    left_out = [e for e in known if e.row["unsafe_n"] == e.row["unsafe_n"] != traps]
    shown = [e for e in known if e not in left_out]
    top = max([SCALE_MIN, *(e.row["unsafe"] for e in shown), *(e.row["unsafe_high"] for e in shown if e.row["unsafe_high"] == e.row["unsafe_high"])])
    tiers = [t for t in content.tiers if any(e.row["cost_tier"] == t for e in shown)]
    width = 100 / len(tiers)
    columns = [
        {
            "tier": t,
            "x": i * width,
            "middle": (i + 0.5) * width,
            "marks": _column_marks([e for e in shown if e.row["cost_tier"] == t], i * width, width, top, LABEL_ROOM // len(tiers)),
        }
        for i, t in enumerate(tiers)
    ]
    cuts = (-0.5, *BAND_CUTS, top + 0.5)
    bands = [{"band": b, "y": _y(cuts[i + 1], top), "height": _y(cuts[i], top) - _y(cuts[i + 1], top)} for i, b in enumerate(BANDS) if cuts[i] < top]
    ticks = [{"value": v, "y": _y(v, top)} for v in range(0, int(top) + 1, 2 if top > 10 else 1)]
    told = [f"{e.name} ({counted(int(e.row['unsafe_n']), 'trap')}, not {traps})" for e in left_out]
    return {"height": HEIGHT, "columns": columns, "bands": bands, "ticks": ticks, "floor": _y(-0.5, top), "left_out": told}


def _y(value: float, top: float) -> float:
    """Height of a count in pixels from the upper edge, with half a step of room at both ends."""
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (top + 0.5 - value) / (top + 1), 1)


def _column_marks(entries: list[Entry], x: float, width: float, top: float, longest: int) -> list[dict[str, Any]]:
    entries = sorted(
        entries, key=lambda e: (-e.row["unsafe"], e.row["over_escalation"] if e.row["over_escalation"] == e.row["over_escalation"] else 9, e.name)
    )
    beside: dict[float, int] = {}
    marks = []
    for e in entries:
        place = beside[e.row["unsafe"]] = beside.get(e.row["unsafe"], -1) + 1
        has = e.row["unsafe_low"] == e.row["unsafe_low"]
        tip = f"{e.name} ({BLOCKS[e.block][0].lower() if e.block in BLOCKS else e.block}): {e.row['unsafe']:g} unsafe"
        tip += f" (median over trials), {mean_with_interval(e.row, METRICS['unsafe'])} on these traps" if has else ", no interval published"
        tip += f"; over-escalation {percent(e.row['over_escalation'])}; tier {e.row['cost_tier']}"
        marks.append(
            {
                "entry": e,
                "shape": MARKS.get(e.block, "circle"),
                "tip": tip,
                "x": round(x + width * (0.07 + 0.06 * (place % 4)), 2),
                "y": _y(e.row["unsafe"], top),
                "low": _y(e.row["unsafe_low"], top) if has else None,
                "high": _y(e.row["unsafe_high"], top) if has else None,
                "label": short_name(e.name, longest),
                "label_x": round(x + width * 0.34, 2),
            }
        )
    for mark, y in zip(marks, spread([m["y"] for m in marks], LINE, TOP, HEIGHT - BOTTOM - 6), strict=True):
        mark["label_y"] = round(y, 1)
    return marks


def spread(wanted: list[float], gap: float, first: float, last: float) -> list[float]:
    """Positions at least `gap` apart, in the order of `wanted`, that move as little as possible and stay between the ends.

    Parameters
    ----------
    wanted : list of float
        Rising.
    gap : float
        Smallest distance; reduced where there is no room for it.
    first, last : float
        The ends.
    """
    if len(wanted) > 1:
        gap = min(gap, (last - first) / (len(wanted) - 1))
    groups: list[list[float]] = []
    for index, value in enumerate(wanted):
        groups.append([value - index * gap, 1.0])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            mean, count = groups.pop()
            groups[-1] = [(groups[-1][0] * groups[-1][1] + mean * count) / (groups[-1][1] + count), groups[-1][1] + count]
    starts = [mean for mean, count in groups for _ in range(int(count))]
    highest = last - gap * (len(wanted) - 1)
    return [min(max(start, first), max(highest, first)) + index * gap for index, start in enumerate(starts)]


def escalation_both_ways(content: Content) -> list[dict[str, Any]]:
    """Misses to the left of one centre line, over-escalation to the right, one row per entry; a rate of 1 is 40 % of the drawing."""
    rows = []
    for e in content.entries:
        right, over = e.row["escalation_accuracy"], e.row["over_escalation"]
        if right != right or over != over:
            continue
        rows.append(
            {
                "entry": e,
                "cases": _cases_of(e, content),
                "missed": 1 - right,
                "over": over,
                "miss_tip": f"{e.name}: {percent(1 - right)} of the cases that need a human were not handed over"
                + _within(e, "escalation_accuracy", True),
                "over_tip": f"{e.name}: {percent(over)} of the resolvable cases were handed over" + _within(e, "over_escalation", False),
            }
        )
    return rows


def _cases_of(entry: Entry, content: Content) -> str:
    """The cases behind both rates of an entry, where they are not as many as is usual."""
    names = ("escalation_accuracy_n", "over_escalation_n")
    mine, most = [entry.row[n] for n in names], [usual(e.row[n] for e in content.played) for n in names]
    return f"of {mine[0]:.0f} and {mine[1]:.0f} cases" if entry.page and mine != most else ""


def _within(entry: Entry, name: str, flipped: bool) -> str:
    low, high, n = (entry.row[f"{name}_{end}"] for end in ("low", "high", "n"))
    if low != low:
        return ""
    low, high = (1 - high, 1 - low) if flipped else (low, high)
    mean = entry.row[f"{name}_mean"]
    mean = 1 - mean if flipped else mean
    return f" (median over trials; mean {percent(mean)}, 95% {percent(low)} to {percent(high)}; {int(n)} cases)"


def pressure_chart(content: Content) -> dict[str, Any] | None:
    """How trap conversations ended by entry, and after which push the agent gave way."""
    traps = content.conversations[(content.conversations["bucket"] == "adversarial") & content.conversations["pressure_reached"].notna()]
    if traps.empty:
        return None
    given_way = traps[traps["pressure_reached"].isin(["unsafe", "wavered"])]
    pushes = int(max(6, given_way["pressure_push"].max() if len(given_way) else 0))
    rows = []
    for e in content.played:
        mine = traps[(traps["entry"] == e.name) & (traps["source"] == e.source)]
        if len(mine):
            rows.append({"entry": e, "n": len(mine), "parts": _parts(e, mine), "falls": _falls(e, mine, pushes)})
    return {"rows": rows, "pushes": list(range(pushes + 1)), "states": STATES}


def _parts(entry: Entry, mine: Any) -> list[dict[str, Any]]:
    counts, left, parts = mine["pressure_reached"].value_counts(), 0.0, []
    for state, meaning in STATES.items():
        count = int(counts.get(state, 0))
        share = 100 * count / len(mine)
        if count:
            parts.append(
                {
                    "state": state,
                    "x": round(left, 2),
                    "width": round(share, 2),
                    "count": count,
                    "tip": f"{entry.name}: {state} in {count} of {len(mine)} trap conversations ({share:.0f}%): {meaning}",
                }
            )
        left += share
    return parts


def _falls(entry: Entry, mine: Any, pushes: int) -> list[dict[str, Any]]:
    """Circles, one per push and state, whose area is the number of conversations that gave way there."""
    found = []
    for state in ("unsafe", "wavered"):
        there = mine[mine["pressure_reached"] == state]["pressure_push"].dropna().astype(int).value_counts()
        for push, count in sorted(there.items()):
            when = "at once, before any push" if push == 0 else f"after push {push}"
            found.append(
                {
                    "state": state,
                    "x": round(100 * (push + 0.5) / (pushes + 1) + (0.9 if state == "wavered" else 0), 2),
                    "r": round(min(2.2 * count**0.5, 11), 1),
                    "count": int(count),
                    "tip": f"{entry.name}: {words(state)} in {count} of {len(mine)} trap conversations {when}",
                }
            )
    return found
