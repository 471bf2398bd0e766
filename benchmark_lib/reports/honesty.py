"""How to read the numbers honestly: what they cannot tell, each statement with the measurement behind it. Nothing here is typed: see `analysis.tables.calibration`."""

from dataclasses import dataclass
from functools import lru_cache
from textwrap import fill
from typing import Any

import yaml
from babel.lists import format_list

from ..analysis.estimators.estimate import counted
from ..analysis.estimators.intervals import proportion_interval
from ..analysis.estimators.unsafe import BAND_TRAPS
from ..analysis.tables import calibration as measured
from ..analysis.tables.detectors import LEAST_RECALL, MOST_FALSE, measured_by_detector, rebuilt_in_words
from ..errors import BadInput
from ..scoring.customer_audit import FINDINGS
from ..scoring.written import percent, span
from ..store.world import load_store
from .views import language_names

LANGUAGES = language_names()
"""The languages that are read, by their English names."""

WIDTH = 150
HEAD = """# How to read this honestly

What the numbers of Deskbench cannot tell, with the measurements behind each statement. `make calibration` measures again and writes this page;
the method page of a site shows the same, and what its own runs add."""


@dataclass(frozen=True)
class Limit:
    """One thing the numbers cannot tell; `head` and `rows` are a table, empty where there is none."""

    title: str
    text: str
    source: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@lru_cache(maxsize=1)
def limits() -> tuple[Limit, ...]:
    """What the numbers cannot tell, from the shipped data and `data/calibration.yaml`.

    Raises `BadInput` if the file of measurements is missing.
    """
    return (_customers(), _one_shop(), _languages(), _size(), _ceiling(), _detectors(), _judges())


def limits_page() -> str:
    """`limits` as Markdown, for ``data/limits.md``."""
    parts = [HEAD]
    for limit in limits():
        parts.append(f"## {limit.title}\n\n{fill(limit.text, WIDTH, break_long_words=False, break_on_hyphens=False)}")
        if limit.head:
            lines = [limit.head, tuple("---" for _ in limit.head), *limit.rows]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        parts.append(f"Source: {limit.source}.")
    return "\n\n".join(parts) + "\n"


def write_calibration() -> None:
    """Measure again, and write ``data/calibration.yaml`` and ``data/limits.md``; for ``make calibration``.

    Raises `BadInput` where the data cannot be written, as in an installed package.
    """
    found = {"half_widths": measured.measure_half_widths(), "trap_coverage": measured.measure_trap_coverage()}
    head = "# Made by `make calibration`, never by hand: how wide intervals are, and how often they hold the truth.\n"
    limits.cache_clear()
    try:
        measured.CALIBRATION.write_text(head + yaml.safe_dump(found, sort_keys=False), encoding="utf-8")
        measured.CALIBRATION.with_name("limits.md").write_text(limits_page(), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{measured.CALIBRATION} cannot be written: measure in a checkout ({error})") from None


def _customers() -> Limit:
    played = measured.blind_play().to_dict("records")
    parts = []
    for r in played:
        share = f"{percent(r['share'])}, 95 % {span(100 * r['low'], 100 * r['high'])} %"
        parts.append(f"{r['flagged']} of {counted(r['conversations'], 'conversation')} of the {r['set']} ({share})")
    read = measured.customers_read()
    wrong, found, alarms = (
        f"{k} of {n} ({percent(e.estimate)}, 95 % {span(100 * e.low, 100 * e.high)} %)"
        for k, n in (
            (read["both"], read["messages"]),
            (read["found"], read["both"]),
            (read["alarms"], read["messages"] - read["either"]),
        )
        for e in [proportion_interval(k, n)]
    )
    kinds = [meaning for name, meaning in FINDINGS.items() if any(r.get(name, 0) > 0 for r in played)]
    text = (
        "The customers are simulated. The scripted one follows an agenda and is deaf to what it was not written to hear; a model that plays the "
        "customer invents. Neither is tired, witty or late, and no real customer has been compared with them. The audit finds only faults that "
        f"can be read from the record. In the blind play that ships it found one in {' and in '.join(parts)}"
        f"{': the customer ' if kinds else ''}{'; or '.join(kinds)}. Read the results with and without such conversations. "
        f"Two strong language models who read {read['rounds']} rounds of blind play both called {wrong} of the customer's messages clearly wrong; a third, asked as "
        f"`--scorers customer_turns` asks, named {found} of these and {alarms} of the messages that neither called clearly wrong. The causes found in each round were mended after it."
    )
    source = "the audit of `data/examples/` and `data/customer_turns_read.yaml`, intervals by Wilson"
    return Limit("No real customer was served", text, source)


def _one_shop() -> Limit:
    store = load_store()
    text = (
        f"All cases belong to one invented shop, {store.title} ({counted(len(store.tables['products']), 'product')}, "
        f"{counted(len(store.tables['orders']), 'order')}, "
        f"{counted(len(store.tools), 'tool')}, one policy), on one day, {store.now.day} {store.now:%B %Y}. How a model does with other goods, rules, tools or a "
        "prompt of your own is not measured; the way there is a store and cases of your own. The traps are there because they were chosen, not "
        "because customers try them this often: shares of traps are not shares of real trouble."
    )
    return Limit("One shop, one day, one policy", text, "`data/stores/northline`")


def _languages() -> Limit:
    sets = measured.languages_of_sets()
    rows = tuple(
        (name, *(str(of.get(code, 0)) for code in LANGUAGES), str(sum(of.values()))) for name, of in sets.items()
    )
    core = sets["core set"]
    rest = {code: n for code, n in core.items() if code != "en"}
    few = min(rest, key=lambda code: rest[code])
    text = (
        f"{percent(core['en'] / sum(core.values()))} of the core cases are in English. {LANGUAGES[few]} has {counted(rest[few], 'case')}: with all of "
        f"them right, a true rate of {percent(measured.least_rate(rest[few]))} is still compatible with the result (95 %). Languages that are not in "
        "the table are not tested at all."
    )
    return Limit("Mostly English", text, "the files of the cases", ("set", *LANGUAGES.values(), "cases"), rows)


def _size() -> Limit:
    rows = []
    for r in measured.calibration()["half_widths"]:
        like = f"± {100 * r['like_these']:.0f}" if "like_these" in r else ""
        what = "unsafe" if r["bucket"] == "adversarial" else "right"
        cases = f"{r['cases']} in {counted(r['intents'], 'intent')}" if r["cases"] > r["intents"] else str(r["cases"])
        bucket, half = r["bucket"].replace("_", " "), f"± {100 * r['half_width']:.0f}"
        rows.append((bucket, cases, f"{percent(r['rate'])} {what}", half, like))
    none = 1 - measured.least_rate(BAND_TRAPS)
    trials = measured.calibration()["half_widths"][0]["trials"]
    text = (
        f"With {trials} trials per case the leaderboard cannot tell small differences. The table has the usual half-width of its 95 % intervals in "
        f"percentage points, for a model whose true rate is known. No unsafe act on {BAND_TRAPS} traps is compatible with {percent(none)} on traps "
        "like these. More trials narrow only what is said of exactly these cases."
    )
    head = ("bucket", "cases", "true rate", "half-width, points", "for traps like these, points")
    source = "`data/calibration.yaml`, simulated as in `benchmarks/coverage.md`"
    return Limit("The set is small", text, source, head, tuple(rows))


def _ceiling() -> Limit:
    parts = []
    for r in measured.blind_play().to_dict("records"):
        what = f" (hard cases of {r['families']} families, easy ones among them, without their twins)"
        right = f"{r['success']} of {counted(r['conversations'], 'conversation')} of the {r['set']}"
        parts.append(right + (what if r["families"] else ""))
    text = (
        f"A strong player who saw only what a model sees was right in {' and in '.join(parts)}. These are the conversations that ship; the figures "
        "in the README count whole rounds of hard cases, and the board's row over all families leaves the easy families out. Near the ceiling the sets hardly tell strong models "
        "apart, and a full mark says that a model does what this desk asks, not that it can run yours unattended. There was one player, and "
        "one trial of each case: that shows that the cases can be solved, not how often."
    )
    return Limit("Strong players are near the ceiling", text, "`data/examples/`")


def _detectors() -> Limit:
    found, rows = measured_by_detector().to_dict("records"), []
    for r in found:
        of = ("found", "planted"), ("false", "honest"), ("played_false", "played")
        rows.append((r["title"], *(f"{r[part]} of {r[whole]}" for part, whole in of)))
    missing = format_list([r["title"].lower() for r in found if not r["reaches"]], locale="en")
    planted, right, false = (sum(r[name] for r in found) for name in ("planted", "found", "false"))
    text = (
        "What an agent *did* is read from its calls. What it *said* is read by detectors, which miss things: they found "
        f"{right} of {planted} planted faults ({percent(right / max(planted, 1))}), so a count of findings is a lower bound. Of their alarms in the "
        f"planted and honest conversations {right} of {right + false} were right; where faults are rarer, fewer are. A model with words that nobody "
        f"planted may be missed more often. The last column counts conversations of honest blind play with a false finding when they were first read by a "
        f"detector in its present form, before anything was mended. Two were rebuilt after false findings: {rebuilt_in_words()}, each round read "
        f"without what was learnt from it. The goals are {percent(LEAST_RECALL)} found and {percent(MOST_FALSE)} of the honest conversations false"
        f"{f'; {missing} miss a goal, so read their findings before you believe their counts' if missing else ''}."
    )
    head = ("detector", "planted faults found", "false alarms in honest conversations", "false findings in blind play")
    source = "`data/claims/detectors.csv`, measured on `data/claims/planted/locked.jsonl`, and `data/claims/played.csv`"
    return Limit("Words are read by detectors", text, source, head, tuple(rows))


def _judges() -> Limit:
    verdicts = measured.verdicts_in_play()
    text = (
        "No number of the leaderboard is judged by a language model. Tone and mood are, where a run was judged: such scores are one model's opinion "
        f"of another. {counted(verdicts, 'verdict') if verdicts else 'No verdict'} of a judge ships with Deskbench, so no judge's agreement with "
        "people is known from here: label a sample yourself (notebook 21) and see what notebook 04 makes of it."
    )
    return Limit("Judges give opinions", text, "the verdicts in `data/examples/`")


def in_words(limit: Limit) -> dict[str, Any]:
    """A limit for a page that is not Markdown."""
    plain = {name: getattr(limit, name).replace("`", "").replace("*", "") for name in ("title", "text", "source")}
    return plain | {"head": limit.head, "rows": limit.rows}
