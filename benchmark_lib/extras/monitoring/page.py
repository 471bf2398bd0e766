"""Results of monitoring for terminal, notebook and pages, without the conversations' words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from ...errors import BadInput
from ...figures.canvas import as_svg
from ...figures.style import WIDTHS, figure_of
from ...project import write_csv, writing
from ...reports.conversation_view import conversation_view
from ...reports.html import render, transcript_css
from ...reports.shown import show_figure
from ...reports.terminal import columns
from ...scoring.metrics import SHARE
from ...scoring.written import DASH, counted, rounded, span, visible
from .drift import sunday
from .figures import weekly_rate
from .measures import TEXTS, findings_of

if TYPE_CHECKING:
    from . import Monitored

HEADS: dict[str, Any] = TEXTS["heads"]
TITLE_WIDTH = 27
LINE = 100
"""Width of a terminal line in characters."""


def terminal_lines(seen: Monitored) -> list[str]:
    """Return the table of drift with its alarms."""
    rows = seen.drift.to_dict("records")
    body = [["", "baseline", "newest week", f"last {counted(seen.recent, 'week')} - base", "alarm"]]
    for row in rows:
        mark = "NOW" if row["on"] else "over" if row["alarm"] else ""
        body.append([row["title"][:TITLE_WIDTH], rate(row, "base"), rate(row, "last"), change(row), mark])
    gone = "; ".join(f"{r['title']} ({r['alarm_side']}), first in the week of {r['alarm']}" for r in rows if r["alarm"])
    log, baseline = _spans(seen)
    return [
        log,
        f"baseline: {baseline}",
        "",
        *columns(body, right=(1, 2, 3)),
        "",
        *textwrap.wrap(f"{_how_many(seen)}{': ' if gone else ''}{gone}.", LINE),
    ]


def _spans(seen: Monitored) -> tuple[str, str]:
    log, weeks = seen.log, counted(len(seen.log.weeks), "week")
    days = f"{min(log.days)} to {max(log.days)} ({weeks} from Monday, UTC)"
    return f"{len(log.rows):,} conversations, {days}", f"{seen.baseline[0]} to {sunday(seen.baseline[-1])}"


def _how_many(seen: Monitored) -> str:
    gone = int((seen.drift["alarm"] != "").sum())
    deaf = str(TEXTS["could_not"]).format(deaf=len(seen.deaf)) * bool(seen.deaf)
    return str(TEXTS["alarms"]).format(gone=gone or "None", measures=len(seen.drift), deaf=deaf)


def unalarmed(seen: Monitored) -> str:
    """Explain why changes whose interval excludes 0 raised no alarm; empty if there are none."""
    rows = [r for r in seen.drift.to_dict("records") if is_clear(r)]
    if not rows:
        return ""
    changes, measures = ", ".join(f"{r['title']} {change(r)}" for r in rows), counted(len(seen.drift), "measure")
    return str(TEXTS["unalarmed"]).format(changes=changes, measures=measures, limit=rows[0]["limit"])


def footnotes(seen: Monitored) -> list[str]:
    """Return the notes below the table of drift: missing alarms, the rule, and the logs."""
    return [text for text in (seen.power, unalarmed(seen), seen.rule, *seen.notes) if text]


def is_clear(row: dict[str, Any]) -> bool:
    """Return whether a change raised no alarm although its interval excludes 0."""
    return bool(row["change_low"] > 0 or row["change_high"] < 0) and not row["alarm"]


def rate(row: dict[str, Any], name: str = "") -> str:
    """Return a rate in percent with its counts; without a name, the rate of a week."""
    count, n = (row[f"{name}_{end}".removeprefix("_")] for end in ("count", "n"))
    return f"{SHARE.mean(row[name or 'share'])} ({count:,}/{n:,})" if n else DASH


def interval(row: dict[str, Any], name: str) -> str:
    """Return the interval of a rate in percent; empty without conversations."""
    return SHARE.interval(row[f"{name}_low"], row[f"{name}_high"]) if row[f"{name}_n"] else ""


def change(row: dict[str, Any]) -> str:
    """Return a difference in percentage points with its interval."""
    if row["change"] != row["change"]:
        return DASH
    shares = (row[name] for name in ("change", "change_low", "change_high"))
    value, low, high = (f"{'+' * (share > 0)}{rounded(100 * share)}" for share in shares)
    return f"{value} ({low} to {high})"


def alarm_word(row: dict[str, Any]) -> str:
    """Return the alarm of a measure in a few words; empty without an alarm."""
    return f"{row['alarm']}, {row['alarm_side']}; {'still on' if row['on'] else 'over'}" if row["alarm"] else ""


IN_TEMPLATES = {word.__name__: word for word in (rate, interval, change, alarm_word, is_clear)}


def drift_shown(seen: Monitored) -> pd.DataFrame:
    """Return the table of drift for a notebook or page."""
    rows = []
    for r in seen.drift.to_dict("records"):
        rates = (f"{rate(r, n)}, {interval(r, n)}" for n in ("base", "recent"))
        rows.append((r["title"], *rates, change(r), alarm_word(r) or "none"))
    return pd.DataFrame(rows, columns=[h.format(recent=counted(seen.recent, "week")) for h in HEADS["drift"]])


def absent_shown(seen: Monitored) -> pd.DataFrame:
    """Return the measures that the logs cannot give, with the reasons."""
    rows = [(", ".join(titles), reason) for reason, titles in seen.absent.items()]
    return pd.DataFrame(rows, columns=HEADS["absent"])


def behind_shown(seen: Monitored, most: int = 8) -> pd.DataFrame:
    """Return some conversations behind the newest number of the first measure in the table."""
    numbers = seen.behind[seen.behind["measure"] == seen.drift["measure"].iloc[0]]
    rows = numbers[numbers["week"] == numbers["week"].max()].head(most)
    return rows[list(HEADS["behind"])].reset_index(drop=True).map(visible).rename(columns=HEADS["behind"])


def show_weeks(seen: Monitored, *, planted: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Draw the measures with an alarm or a planted change; if there are none, the first three.

    `planted` has the Monday of each planted change by measure. Return the axes by name, for `figures.save_all`.
    """
    planted, drawn = planted or {}, {}
    rows = seen.drift.to_dict("records")
    for row in [r for r in rows if r["alarm"] or r["measure"] in planted] or rows[:3]:
        numbers = seen.weeks[seen.weeks["measure"] == row["measure"]]
        ax = weekly_rate(table=numbers, alarm=row["alarm"], planted=planted.get(row["measure"], ""))
        drawn[f"monitoring-{row['measure'].replace('_', '-')}"] = show_figure(ax)
    return drawn


def found_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of found changes for display."""
    rows = []
    for r in table.to_dict("records"):
        slow = f", over {r['grows_over']} weeks" if r["grows_over"] > 1 else ""
        years = f"{r['found']} of {r['years']} ({span(100 * r['low'], 100 * r['high'])}%)"
        waits = [f"{r[name]:.0f}" if r[name] < 99 else "not found" for name in ("weeks_median", "weeks_90")]
        shares = (f"{100 * r['before']:g}", f"{100 * r['after']:g}{slow}")
        rows.append((r["title"], *shares, years, str(r["too_soon"]), *waits))
    return pd.DataFrame(rows, columns=HEADS["found"])


def false_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of false alarms in years without a change for display."""
    rows = []
    for r in table.to_dict("records"):
        years = f"{r['with_alarm']} of {r['years']} ({span(100 * r['low'], 100 * r['high'], 1)}%)"
        rows.append((r["rule"], years, f"{r['alarms_per_year']:.2f}"))
    return pd.DataFrame(rows, columns=HEADS["false"])


def elsewhere_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of alarms by measures without a planted change for display."""
    return table.rename(columns=HEADS["elsewhere"])


def safe_link(link: str, name: str, template: str | None) -> str:
    """Return a conversation's address in the desk's own system; empty if missing or unsafe."""
    address = template.replace("{id}", quote(name, safe="")) if template else link
    return address if re.match(r"https?://[^\s\"'<>]+\Z", address) else ""


def check_template(template: str | None) -> None:
    """Refuse a template that yields no valid address."""
    if template is not None and not ("{id}" in template and safe_link("", "1", template)):
        mend = "write it as https://desk.example/tickets/{id}, with {id} in place of the id"
        raise BadInput(f"--link {template[:60]!r} is not an address: {mend}")


def write_pages(seen: Monitored, folder: Path, *, link: str | None = None, transcripts: int = 0) -> Path:
    """Write the pages and tables; return the path of the index.

    `link` is a template for a conversation's address in the desk's own system: ``https://desk.example/tickets/{id}``.
    For each alarm, the newest conversations up to its first week (at most `transcripts`) are copied in full.
    """
    check_template(link)
    rows, places = seen.drift.to_dict("records"), dict[str, None]()
    for row in (row for row in rows if row["alarm"]):
        listed = seen.behind[(seen.behind["measure"] == row["measure"]) & (seen.behind["week"] <= row["alarm"])]
        places |= dict.fromkeys(listed.iloc[::-1]["place"].head(transcripts))
    pages = {place: f"conversation-{number}.html" for number, place in enumerate(places, 1)}
    behind = seen.behind.assign(
        link=[safe_link(r.link, r.conversation, link) for r in seen.behind.itertuples()],
        page=[pages.get(place, "") for place in seen.behind["place"]],
    )

    def write(name: str, template: str, **given: Any) -> None:
        page = render(template, seen=seen, **given, **IN_TEMPLATES)
        (folder / name).write_text(page, encoding="utf-8")

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in (("weeks", seen.weeks), ("drift", seen.drift), ("behind", behind)):
            write_csv(table, folder / f"{name}.csv")
        for row in rows:
            weeks, listed = (t[t["measure"] == row["measure"]] for t in (seen.weeks, behind))
            by_week = {week: part.to_dict("records") for week, part in listed.groupby("week")}
            drawings = [_drawn(weeks, row, width) for width in WIDTHS]
            parts = {"weeks": weeks.to_dict("records")[::-1], "listed": by_week, "drawings": drawings}
            write(f"{row['measure']}.html", "monitor_measure.html.j2", row=row, **parts)
        for logged in seen.logs if pages else ():
            if logged.place in pages:
                view = conversation_view(logged.record, {"findings": findings_of(logged, seen.store, seen.log.chosen)})
                write(pages[logged.place], "monitor_conversation.html.j2", v=view, logged=logged)
        if pages:
            (folder / "transcript.css").write_text(transcript_css(), encoding="utf-8")
        log, baseline = _spans(seen)
        about = {"sentence": _how_many(seen), "unalarmed": unalarmed(seen), "log": log, "baseline": baseline}
        write("index.html", "monitor.html.j2", rows=rows, **about)
    return folder / "index.html"


def _drawn(weeks: pd.DataFrame, row: dict[str, Any], width: str) -> Markup | str:
    import matplotlib.pyplot as plt

    ax = weekly_rate(table=weeks, alarm=row["alarm"], width=width)
    plt.close(figure_of(ax))
    return Markup(as_svg(ax, width, lambda _: {})) if ax.axison else ""
