"""Results of monitoring for terminal, notebook and pages, without words of a conversation unless requested."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from ...analysis.estimators.estimate import counted
from ...errors import BadInput
from ...figures.style import figure_of
from ...figures.svg import as_svg
from ...outputs import write_csv, writing
from ...reports.conversation_view import conversation_view
from ...reports.shown import show_figure
from ...reports.terminal import columns
from ...reports.transcript import render, transcript_css
from ...scoring.scales import SHARE
from ...scoring.written import DASH, rounded, span, visible
from ...store import Store
from .figures import weekly_rate

if TYPE_CHECKING:
    from . import Monitored
    from .logs import Logged

TITLE_WIDTH = 27
LINE = 100
"""Characters of a line in a terminal."""
ALL_CONVERSATIONS = 6
"""Default number of transcripts per measure, if transcripts are requested."""


def terminal_lines(seen: Monitored) -> list[str]:
    """Return the table of drift with its alarms, and its notes."""
    c = seen.counted
    rows = seen.drift.to_dict("records")
    heads = ["", "baseline", "newest week", "last 4 weeks - base", "alarm"]
    body = [[r["title"][:TITLE_WIDTH], rate(r, "base"), rate(r, "last"), change(r), alarm_mark(r)] for r in rows]
    return [
        (
            f"{c.conversations.total():,} conversations, {c.weeks[0]} to {c.weeks[-1]} "
            f"({counted(len(c.weeks), 'week')}, by Monday, UTC)"
        ),
        f"baseline: {seen.baseline.words}",
        "",
        *columns([heads, *body], right=(1, 2, 3)),
        "",
        *textwrap.wrap(in_a_sentence(seen), LINE),
    ]


def how_many(seen: Monitored) -> str:
    """Describe how many measures raised an alarm."""
    gone = int((seen.drift["alarm"] != "").sum())
    return f"{gone or 'None'} of {len(seen.drift)} measures raised an alarm"


def in_a_sentence(seen: Monitored) -> str:
    """Describe the alarms: their number, measures and first weeks."""
    gone = seen.drift[seen.drift["alarm"] != ""].to_dict("records")
    told = "; ".join(f"{r['title']} ({r['alarm_side']}), first in the week of {r['alarm']}" for r in gone)
    return f"{how_many(seen)}{': ' if gone else ''}{told}."


def unalarmed(seen: Monitored) -> str:
    """Explain why changes with an interval clear of 0 raised no alarm; empty if there are no such changes."""
    rows = [r for r in seen.drift.to_dict("records") if not r["alarm"] and is_clear(r)]
    if not rows:
        return ""
    named = ", ".join(f"{r['title']} {change(r)}" for r in rows)
    limit = rows[0]["limit"]
    return (
        f"No alarm although the interval of the change is clear of 0: {named}. Such an interval (95 %) looks "
        "at one measure once, so with "
        f"{counted(len(seen.drift), 'measure')} some are clear of 0 by chance alone. An alarm allows for "
        f"every measure and every week of a year: it takes p <= {limit:.2g} in the last 1, 4 or 13 weeks, "
        "after allowance for weeks that vary more than chance, and only on the side "
        "that is watched (for most measures: more). Take such a change as a reason to look, not as a finding."
    )


def footnotes(seen: Monitored) -> list[str]:
    """Return the notes below the table of drift: missing alarms, the rule, and oddities in the logs."""
    return [text for text in (unalarmed(seen), seen.rule, *seen.notes) if text]


def is_clear(row: dict[str, Any]) -> bool:
    """Return whether the interval of a change excludes 0."""
    return bool(row["change_low"] > 0 or row["change_high"] < 0)


def rate(row: dict[str, Any], name: str) -> str:
    """Return a rate in percent with its counts."""
    n = row[f"{name}_n"]
    return f"{SHARE.mean(row[name])} ({row[f'{name}_count']:,}/{n:,})" if n else DASH


def interval(row: dict[str, Any], name: str) -> str:
    """Return the interval of a rate in percent; empty without conversations."""
    return SHARE.interval(row[f"{name}_low"], row[f"{name}_high"]) if row[f"{name}_n"] else ""


def change(row: dict[str, Any]) -> str:
    """Return a difference in points with its interval."""
    if row["change"] != row["change"]:
        return DASH
    shares = (row[name] for name in ("change", "change_low", "change_high"))
    value, low, high = (f"{'+' * (share > 0)}{rounded(100 * share)}" for share in shares)
    return f"{value} ({low} to {high})"


def alarm_mark(row: dict[str, Any]) -> str:
    """Return a mark: the newest week has an alarm, only an earlier week had, or empty."""
    return "NOW" if row["on"] else "over" if row["alarm"] else ""


def alarm_word(row: dict[str, Any]) -> str:
    """Return the alarm of a measure in a few words; empty without an alarm."""
    if not row["alarm"]:
        return ""
    return f"{row['alarm']}, {row['alarm_side']}; {'still on' if row['on'] else 'over'}"


def drift_shown(seen: Monitored) -> pd.DataFrame:
    """Return the table of drift for a notebook or page."""
    heads = ("Measure", "Baseline (95 %)", "Last 4 weeks (95 %)", "Change, points (95 %)", "First alarm")
    rows = []
    for r in seen.drift.to_dict("records"):
        rates = (f"{rate(r, n)}, {interval(r, n)}" for n in ("base", "recent"))
        rows.append((r["title"], *rates, change(r), alarm_word(r) or "none"))
    return pd.DataFrame(rows, columns=heads)


def absent_shown(seen: Monitored) -> pd.DataFrame:
    """Return the measures that the logs cannot give, with the reasons."""
    rows = [(", ".join(titles), reason) for reason, titles in seen.absent.items()]
    return pd.DataFrame(rows, columns=("Not read", "Why"))


def behind_shown(seen: Monitored, most: int = 8) -> pd.DataFrame:
    """Return some conversations of the newest number of the first measure in the table of drift."""
    first = seen.drift["measure"].iloc[0]
    mine = seen.behind[seen.behind["measure"] == first]
    rows = mine[mine["week"] == mine["week"].max()].head(most)
    heads = {"title": "Measure", "week": "Week of", "conversation": "Conversation", "place": "Place in the log"}
    return pd.DataFrame(rows[list(heads)].to_numpy(), columns=list(heads.values())).map(visible)


def show_weeks(seen: Monitored, *, planted: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Draw the measures with an alarm or a planted change in a notebook, or else the first three.

    Parameters
    ----------
    planted : mapping of str to str, optional
        The Monday of a planted change, by measure.

    Returns the axes by name, for `figures.save_all`.
    """
    planted, drawn = planted or {}, {}
    rows = seen.drift.to_dict("records")
    for row in [r for r in rows if r["alarm"] or r["measure"] in planted] or rows[:3]:
        mine = seen.weeks[seen.weeks["measure"] == row["measure"]]
        ax = weekly_rate(table=mine, alarm=row["alarm"], planted=planted.get(row["measure"], ""))
        show_figure(ax)
        drawn[f"monitoring-{row['measure'].replace('_', '-')}"] = ax
    return drawn


def found_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of found changes for a reader."""
    heads = ("Planted change", "From, %", "To, %", "Found, years (95 %)", "Too soon", "Weeks, median", "Weeks, 9 in 10")
    rows = []
    for r in table.to_dict("records"):
        slow = f", over {r['grows_over']} weeks" if r["grows_over"] > 1 else ""
        found = f"{r['found']} of {r['years']} ({span(100 * r['low'], 100 * r['high'])} %)"
        waits = [f"{r[name]:.0f}" if r[name] < 99 else "not found" for name in ("weeks_median", "weeks_90")]
        shares = (f"{100 * r['before']:g}", f"{100 * r['after']:g}{slow}")
        rows.append((r["title"], *shares, found, str(r["too_soon"]), *waits))
    return pd.DataFrame(rows, columns=heads)


def false_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of false alarms in years without a change for a reader."""
    heads = ("Rule", "Years with a false alarm (95 %)", "False alarms a year")
    rows = []
    for r in table.to_dict("records"):
        years = f"{r['with_alarm']} of {r['years']} ({span(100 * r['low'], 100 * r['high'], 1)} %)"
        rows.append((r["rule"], years, f"{r['alarms_per_year']:.2f}"))
    return pd.DataFrame(rows, columns=heads)


def elsewhere_shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of alarms of measures without a planted change for a reader."""
    heads = {"title": "Measure", "years": "Years", "with_alarm": "With an alarm"}
    return table.rename(columns=heads | {"before_any": "Before any planted change"})


def safe_link(link: str, name: str, template: str | None) -> str:
    """Return the address of a conversation in the desk's own system; empty if it is missing or unsafe for a page."""
    address = template.replace("{id}", quote(name, safe="")) if template else link
    return address if re.match(r"https?://[^\s\"'<>]+\Z", address) else ""


def check_template(template: str | None) -> None:
    """Refuse a template that yields no valid address."""
    if template is not None and not ("{id}" in template and safe_link("", "1", template)):
        mend = "write it as https://desk.example/tickets/{id}, with {id} where the id stands"
        raise BadInput(f"--link {template[:60]!r} makes no address: {mend}")


def write_pages(
    seen: Monitored, folder: Path, *, link: str | None = None, transcripts: dict[str, str] | None = None
) -> Path:
    """Write the pages and tables; return the path of the index.

    Parameters
    ----------
    link : str, optional
        Template of a conversation's address in the desk's own system: ``https://desk.example/tickets/{id}``.
    transcripts : dict of str to str, optional
        Requested pages of conversations by place (`read_transcripts`).
    """
    check_template(link)
    pages = {place: f"conversation-{number}.html" for number, place in enumerate(transcripts or {}, 1)}
    behind = seen.behind.assign(
        link=[safe_link(r.link, r.conversation, link) for r in seen.behind.itertuples()],
        page=[pages.get(place, "") for place in seen.behind["place"]],
    )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in (("weeks", seen.weeks), ("drift", seen.drift), ("behind", behind)):
            write_csv(table, folder / f"{name}.csv")
        for row in seen.drift.to_dict("records"):
            _write_measure(seen, row, behind, folder)
        for place, page in (transcripts or {}).items():
            (folder / pages[place]).write_text(page, encoding="utf-8")
        if transcripts:
            (folder / "transcript.css").write_text(transcript_css(), encoding="utf-8")
        index = folder / "index.html"
        index.write_text(_index(seen), encoding="utf-8")
    return index


def _index(seen: Monitored) -> str:
    rows = [
        {**r, "change_text": change(r), "word": alarm_word(r), "unalarmed": is_clear(r) and not r["alarm"]}
        | {f"{name}_text": rate(r, name) for name in ("base", "last")}
        | {f"{name}_interval": interval(r, name) for name in ("base", "last")}
        for r in seen.drift.to_dict("records")
    ]
    c = seen.counted
    told = {
        "sentence": how_many(seen),
        "rule": seen.rule,
        "unalarmed": unalarmed(seen),
        "baseline": seen.baseline.words,
    }
    logs = {"conversations": c.conversations.total(), "weeks": c.weeks, "notes": seen.notes, "absent": seen.absent}
    return render("monitor.html.j2", rows=rows, **told, **logs)


def _write_measure(seen: Monitored, row: dict[str, Any], behind: pd.DataFrame, folder: Path) -> None:
    name = row["measure"]
    mine = seen.weeks[seen.weeks["measure"] == name]
    weeks = [
        {**w, "text": rate({"w": w["share"], "w_n": w["n"], "w_count": w["count"]}, "w")}
        for w in mine.to_dict("records")
    ]
    listed = {week: part.to_dict("records") for week, part in behind[behind["measure"] == name].groupby("week")}
    told = {"word": alarm_word(row), "unalarmed": is_clear(row) and not row["alarm"], "change_text": change(row)}
    drawn = {"weeks": weeks[::-1], "listed": listed, "drawing": _drawn(mine, row)}
    page = render("monitor_measure.html.j2", row=row, **told, **drawn)
    (folder / f"{name}.html").write_text(page, encoding="utf-8")


def _drawn(weeks: pd.DataFrame, row: dict[str, Any]) -> Markup | str:
    import matplotlib.pyplot as plt

    ax = weekly_rate(table=weeks, alarm=row["alarm"])
    plt.close(figure_of(ax))
    return Markup(as_svg(ax, "weeks", lambda _: {})) if ax.axison else ""


def places_wanted(seen: Monitored, most: int = ALL_CONVERSATIONS) -> list[str]:
    """Return the places of an alarm's conversations: for each measure, the newest up to its first alarm."""
    found: dict[str, None] = {}
    for row in seen.drift[seen.drift["alarm"] != ""].to_dict("records"):
        mine = seen.behind[(seen.behind["measure"] == row["measure"]) & (seen.behind["week"] <= row["alarm"])]
        found |= dict.fromkeys(mine.iloc[::-1]["place"].head(most))
    return list(found)


def read_transcripts(records: Iterable[Logged], places: Iterable[str], store: Store, has_store: bool) -> dict[str, str]:
    """Return the pages of conversations at some places of the logs, with escaped texts and marked findings.

    Parameters
    ----------
    store : Store
        The desk whose words and tools are used.
    has_store : bool
        Whether the logs are of this very desk.
    """
    from .measures import Heard, findings_of

    wanted, found = set(places), {}
    for logged in records if wanted else ():
        if logged.place in wanted:
            view = conversation_view(logged.record, {"findings": findings_of(Heard(logged, store), has_store)})
            at = logged.at.isoformat(" ", "minutes")
            about = {"name": logged.name, "place": logged.place, "at": at}
            found[logged.place] = render("monitor_conversation.html.j2", v=view, **about)
            if len(found) == len(wanted):
                break
    return found
