"""The charts of the front page as plain geometry.

Templates draw them as inline SVG with x in percent, so they fit any width.
"""

from typing import Any

from ...analysis.counting import behind_median
from ...analysis.estimators.estimate import usual
from ...analysis.estimators.unsafe import BAND_CUTS, BANDS
from ...analysis.panels import short_name
from ...analysis.query import NO
from ...analysis.tables.escalation import both_directions
from ...analysis.tables.leaderboard import of_usual_traps, worst_beside
from ...analysis.tables.safety import STATES, pressure_table, trap_table
from ...analysis.tables.tiers import cost_of_1000
from ...scoring.metrics import METRICS
from ...scoring.written import missing
from .board import BLOCKS
from .content import Content, Entry
from .words import mean_with_interval, percent, plural, tight

MARKS = {
    "models": "circle",
    "played": "star",
    "scripted": "square",
    "imported": "cross",
    "published": "triangle",
    "set apart": "diamond",
}
HEIGHT, TOP, BOTTOM, LINE = 470, 14, 18, 15
SCALE_MIN = 8
LABEL_ROOM = 98
"""How many letters fit next to the marks of all columns together."""


def value_picture(content: Content) -> dict[str, Any] | None:
    """Unsafe actions by what 1,000 conversations cost: one column per tier, one mark per entry, with labels that never overlap.

    An entry that was run on a different number of traps than most is named but not drawn, since its count is not
    comparable.
    """
    drawn, _, left_out = of_usual_traps(content.entry_rows.dropna(subset=["unsafe"]), "unsafe_n")
    shown = [content.entries[place] for place in drawn.index]
    if not shown:
        return None
    numbers = [e.row[name] for e in shown for name in ("unsafe", "unsafe_worst", "unsafe_high")]
    top = max([SCALE_MIN, *(n for n in numbers if n == n)])
    tiers = [t for t in content.tiers if any(e.row["cost_tier"] == t for e in shown)]
    width, columns = 100 / len(tiers), []
    for i, tier in enumerate(tiers):
        mine, x = [e for e in shown if e.row["cost_tier"] == tier], i * width
        marks = _column_marks(mine, x, width, top, LABEL_ROOM // len(tiers))
        columns.append({"tier": tier, "x": x, "middle": (i + 0.5) * width, "marks": marks})
    cuts = (-0.5, *BAND_CUTS, top + 0.5)
    bands = [
        {"band": b, "y": _y(cuts[i + 1], top), "height": _y(cuts[i], top) - _y(cuts[i + 1], top)}
        for i, b in enumerate(BANDS)
        if cuts[i] < top
    ]
    ticks = [{"value": v, "y": _y(v, top)} for v in range(0, int(top) + 1, 2 if top > 10 else 1)]
    drawn = {"columns": columns, "bands": bands, "ticks": ticks, "floor": _y(-0.5, top)}
    published = any(e.source == "published" for e in shown)
    return drawn | {"published": published, "height": HEIGHT, "left_out": left_out}


def _y(value: float, top: float) -> float:
    """Height of a count in pixels from the upper edge, with half a step of room at both ends."""
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (top + 0.5 - value) / (top + 1), 1)


def _column_marks(entries: list[Entry], x: float, width: float, top: float, longest: int) -> list[dict[str, Any]]:
    over = {e.name: e.row["over_escalation"] for e in entries}
    entries = sorted(entries, key=lambda e: (-e.row["unsafe"], 9 if missing(over[e.name]) else over[e.name], e.name))
    beside: dict[float, int] = {}
    marks: list[dict[str, Any]] = []
    for e in entries:
        place = beside[e.row["unsafe"]] = beside.get(e.row["unsafe"], -1) + 1
        has = e.row["unsafe_low"] == e.row["unsafe_low"]
        kind = f"partial {e.row['partial']}" if e.block == "partial" else BLOCKS[e.block][0].lower()
        tip = f"{e.name} ({kind}): {e.row['unsafe']:g} unsafe"
        mean = f" (median over trials), {mean_with_interval(e.row, METRICS['unsafe'])} on these traps"
        tip += mean if has else ", no interval published"
        worst = worst_beside(e.row)
        tip += f", {worst}" if worst else ""
        tip += f"; over-escalation {percent(e.row['over_escalation'])}; {'cost tier as published' if e.source == 'published' else 'USD for 1,000 conversations'}: {cost_of_1000(e.row)}"
        cost = cost_of_1000(e.row).partition(" (")[0]
        paid = f", {cost} USD" if cost[0].isdigit() else ""
        marks.append(
            {
                "entry": e,
                "shape": MARKS.get(e.block, "circle"),
                "tip": tip,
                "x": round(x + width * (0.07 + 0.06 * (place % 4)), 2),
                "y": _y(e.row["unsafe"], top),
                "low": _y(e.row["unsafe_low"], top) if has else None,
                "high": _y(e.row["unsafe_high"], top) if has else None,
                "worst": _y(e.row["unsafe_worst"], top) if worst else None,
                "label": f"{short_name(e.name, longest - len(paid))}{paid}",
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
            before, many = groups[-1]
            groups[-1] = [(before * many + mean * count) / (many + count), many + count]
    starts = [mean for mean, count in groups for _ in range(int(count))]
    highest = last - gap * (len(wanted) - 1)
    return [min(max(start, first), max(highest, first)) + index * gap for index, start in enumerate(starts)]


def escalation_both_ways(content: Content) -> list[dict[str, Any]]:
    """Misses to the left of one centre line, over-escalation to the right, one row per entry.

    A rate of 1 is 40 % of the drawing.
    """
    table = both_directions(content.entry_rows).dropna(subset=["missed", "over"])
    most = [usual(table.loc[table["page"].notna(), f"{name}_cases"]) for name in ("missed", "over")]
    return [_directions(content, content.entries[row.Index], row, most) for row in table.itertuples()]


def _directions(content: Content, entry: Entry, row: Any, most: list[int]) -> dict[str, Any]:
    """One row of the figure; its numbers of cases are given if they are not the usual ones.

    A bar is a median over trials, and leads to the conversations of its trial.
    """
    cases = [row.missed_cases, row.over_cases]
    tips, chosen = [], []
    for name, key, which in (
        ("missed", "escalation_accuracy", "cases that need a human were not handed over"),
        ("over", "over_escalation", "resolvable cases were handed over"),
    ):
        value, mean, low, high, n = (getattr(row, f"{name}{end}") for end in ("", "_mean", "_low", "_high", "_cases"))
        scale = METRICS[key].scale
        interval = tight(f"mean {scale.mean(mean)}, 95 % {scale.interval(low, high)}; {plural(n, 'case')}")
        sure = f" (median over trials; {interval})" if low == low else ""
        tips.append(f"{entry.name}: {percent(value)} of the {which}{sure}")
        found = behind_median(content.rows(entry), METRICS[key], **entry.who)["yes"] if entry.page else None
        chosen.append({**found, METRICS[key].column: NO} if found and name == "missed" else found)
    bars = {"missed": row.missed, "over": row.over} | dict(zip(("miss_chosen", "over_chosen"), chosen, strict=True))
    told = f"of {cases[0]} and {cases[1]} cases" if entry.page and cases != most else ""
    return {"entry": entry, "cases": told, "miss_tip": tips[0], "over_tip": tips[1]} | bars


def pressure_chart(content: Content) -> dict[str, Any] | None:
    """How trap conversations ended by entry, and after which push the agent gave way."""
    endings = trap_table(content.conversations).groupby(["panel", "entry"])[list(STATES)].sum()
    pressure = pressure_table(content.conversations)
    if pressure.empty:
        return None
    keys, kinds = ["panel", "entry", "push"], ["unsafe", "wavered"]
    given = pressure.assign(wavered=pressure["given_way"] - pressure["unsafe"]).set_index(keys)[kinds]
    fell = given.groupby(["panel", "entry"]).diff().fillna(given).astype(int).sort_index()
    pushes = int(max([6, *fell[fell.sum(axis=1) > 0].index.get_level_values("push")]))
    rows = []
    for e in content.played:
        key = (e.row["panel"], e.name)
        if key in endings.index and (n := int(endings.loc[key].sum())):
            parts, falls = _parts(e, endings.loc[key], n), _falls(e, fell.loc[key], n, pushes)
            rows.append({"entry": e, "n": n, "parts": parts, "falls": falls})
    return {"rows": rows, "pushes": list(range(pushes + 1)), "states": STATES}


def _parts(entry: Entry, counts: Any, n: int) -> list[dict[str, Any]]:
    left, parts = 0.0, []
    for state, meaning in STATES.items():
        share = 100 * counts[state] / n
        if share:
            many = f"{counts[state]} of {n} trap conversations ({percent(share / 100, 0)})"
            place = {"state": state, "x": round(left, 2), "width": round(share, 2), "count": int(counts[state])}
            chosen = {**entry.who, "bucket": "adversarial", "pressure_reached": state}
            parts.append(place | {"tip": f"{entry.name}: {state} in {many}: {meaning}", "chosen": chosen})
        left += share
    return parts


def _falls(entry: Entry, fell: Any, n: int, pushes: int) -> list[dict[str, Any]]:
    """Circles, one per push and state, whose area is the number of conversations that gave way there."""
    found = []
    for state in ("unsafe", "wavered"):
        for push, count in fell.loc[fell[state] > 0, state].items():
            when = "at once, before any push" if push == 0 else f"after push {push}"
            x = round(100 * (push + 0.5) / (pushes + 1) + (0.9 if state == "wavered" else 0), 2)
            tip = f"{entry.name}: {state} in {count} of {n} trap conversations {when}"
            chosen = {"bucket": "adversarial", "pressure_reached": state, "pressure_push": int(push)}
            circle = {"state": state, "x": x, "r": round(min(2.2 * count**0.5, 11), 1), "count": int(count)}
            found.append(circle | {"tip": tip, "chosen": entry.who | chosen})
    return found
