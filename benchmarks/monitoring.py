"""Measure how soon planted changes in made-up logs are found, false alarms, and the cost of a large log.

    python benchmarks/monitoring.py [--years 400] [--conversations 100000] [--seed 25] [--out benchmarks/monitoring.md]

A year is drawn as counts of written texts, which the code that reads logs has read once (`benchmark_lib.extras.monitoring.made_up`). The large log
is really written and read, and its texts all differ.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import orjson

from benchmark_lib.extras.monitoring import monitor
from benchmark_lib.extras.monitoring.made_up import (
    CHANGES,
    elsewhere_table,
    false_alarm_table,
    first_alarms,
    found_table,
    made_up_year,
)
from benchmark_lib.extras.monitoring.page import false_shown, found_shown

QUIET = ((50, 0.0), (200, 0.0), (1000, 0.0), (200, 0.3))
"""Years without a change: conversations per week, and how much the shares of all kinds vary from week to week beyond chance."""
CHANGED = (50, 200, 1000)
LARGE = 100_000


def markdown(frame) -> list[str]:
    """Return a frame as a Markdown table."""
    rows = [list(frame.columns), ["---"] * len(frame.columns), *frame.astype(str).to_numpy().tolist()]
    return [f"| {' | '.join(row)} |" for row in rows]


def false_lines(years: int, rng: np.random.Generator) -> list[str]:
    """Count false alarms in years in which nothing changes."""
    lines = []
    for per_week, unrest in QUIET:
        alarms = first_alarms(years, rng, changes=(), per_week=per_week, unrest=unrest)
        words = f", shares that vary by about {100 * unrest:.0f}% from week to week" if unrest else ""
        lines += [
            f"### {per_week} conversations a week{words}",
            "",
            *markdown(false_shown(false_alarm_table(alarms))),
            "",
        ]
        print(lines[-3:], flush=True)
    return lines


def found_lines(years: int, rng: np.random.Generator) -> list[str]:
    """Measure how soon planted changes are found."""
    lines = []
    for per_week in CHANGED:
        alarms = first_alarms(years, rng, per_week=per_week)
        rest = elsewhere_table(alarms)
        also = [f"{r.title} {r.with_alarm}" for r in rest.itertuples() if r.with_alarm]
        lines += [f"### {per_week} conversations a week", "", *markdown(found_shown(found_table(alarms))), ""]
        lines += [
            f"Alarms of measures for which nothing was planted, of {years} years: {', '.join(also) or 'none'}; before the first planted change: {rest['before_any'].sum()}.",
            "",
        ]
        print(lines[-3:], flush=True)
    return lines


def write_large(path: Path, n: int, seed: int) -> None:
    """Write a log of `n` conversations whose texts are all different."""
    with path.open("wb") as file:
        for number, line in zip(range(n), made_up_year(np.random.default_rng(seed), per_week=n // 50), strict=False):
            messages = [{**m, "content": f"{m['content']} My note {number} of this month."} for m in line["messages"]]
            file.write(orjson.dumps({**line, "messages": messages}, option=orjson.OPT_APPEND_NEWLINE))


def read_large(path: str, store: str) -> None:
    """Read a log and print conversations, CPU seconds and peak memory."""
    begun = time.process_time()
    seen = monitor(path, store=store or None)
    spent, peak = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(len(seen.log.rows), f"{spent:.1f}", f"{peak:.0f}")


def cost_lines(sizes: tuple[int, ...], seed: int) -> list[str]:
    """Measure CPU and peak memory by the size of the log, each in its own process."""
    lines = [
        "| conversations | log, MB | with --store | CPU ms a conversation | peak memory, MB |",
        "|---|---|---|---|---|",
    ]
    for n in sizes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "large.jsonl"
            write_large(path, n, seed)
            for store in ("", "northline") if n == sizes[0] else ("",):
                command = [sys.executable, __file__, "--read", str(path), "--store", store]
                told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                cost = 1000 * float(told[1]) / int(told[0])
                size = path.stat().st_size / 1e6
                lines.append(
                    f"| {int(told[0]):,} | {size:,.0f} | {'yes' if store else 'no'} | {cost:.1f} | {told[2]} |"
                )
                print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--years", type=int, default=400)
    parser.add_argument("--conversations", type=int, default=LARGE, help="of the large log; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--out", default=str(Path(__file__).with_suffix(".md")))
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--store", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_large(options.read, options.store)
        return
    rng = np.random.default_rng(options.seed)
    planted = "; ".join(
        f"{c.kind} from week {c.week + 1}" + (f", little by little over {c.over} weeks" if c.over > 1 else "")
        for c in CHANGES
    )
    lines = [
        "# Watching production: planted changes and false alarms",
        "",
        f"{options.years} made-up years per table, seed {options.seed}; made by `python benchmarks/monitoring.py`. Everything here is synthetic: written texts "
        "(the locked planted conversations of the detectors, the blind play, and replies put under another customer's message in another language), drawn with "
        "known shares. The baseline is the first 13 of 52 weeks. The detectors are the real ones and miss some of what is planted, so the shares they see "
        "are not the shares that were planted.",
        "",
        "The rule: the last 1, 4 and 13 weeks against the baseline, Fisher's exact test, Bonferroni over 52 looks, windows and measures, 5% a year for all of them together. "
        "For comparison, there is a textbook p-chart (limits at 3 standard deviations, checked every week, uncorrected).",
        "",
        "## Years in which nothing changes",
        "",
        *false_lines(options.years, rng),
        "## Years with planted changes",
        "",
        f"Planted: {planted}. Weeks are counted from the change to the end of the week with the alarm, over all years; a year in which the alarm came too soon is not "
        "among them. A text contains more than it is planted for: a quarter of the replies in another language, which were written to somebody else, are "
        "ungrounded, so alarms of that measure next to them are not false.",
        "",
        *found_lines(options.years // 2, rng),
    ]
    if options.conversations:
        sizes = (options.conversations // 10, options.conversations)
        lines += ["## What a large log costs", "", *cost_lines(sizes, options.seed)]
    Path(options.out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
