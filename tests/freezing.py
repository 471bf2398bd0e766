"""What a rebuild must not change: scores, tables, figures, downloads and every text that a model or customer reads.

``python tests/freezing.py`` writes the values anew into ``tests/data/freeze``; do it only where a change of numbers is meant, and name it in the
changelog. `test_freeze.py` plays everything again and compares. Counts and rates are exact; a resampled interval may move within `TOLERANCE`.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import orjson
import pandas as pd
from made_runs import add_rows, call_row, made_run
from matplotlib import pyplot as plt

from benchmark_lib import Experiment, figures, load_results, load_store, tables
from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.experiment.again import rescore
from benchmark_lib.experiment.manifest import new_manifest, part
from benchmark_lib.records import content_hash
from benchmark_lib.reports.site import build_site
from benchmark_lib.scoring.score import VERSION

FOLDER = Path(__file__).parent / "data" / "freeze"
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "data" / "examples").glob("*.deskbench"))
TOLERANCE = 1e-6
"""Relative; a rebuild that resamples in another order states its Monte Carlo error here."""

PROSE = {
    "version", "hardness", "title", "reason", "notes", "score_fault", "store_version", "versions", "run", "run_id", "started",
    "finished_at", "path",
}  # fmt: skip
"""Columns that are prose, or that name the file and the hour: never compared."""

MODELS = {
    "alder-2": ("skill=0.89&caution=0.12&credulity=0.04&verbosity=0.4", 5),
    "birch-mini": ("skill=0.62&caution=0.06&credulity=0.22&verbosity=0.1", 6),
    "cedar-pro": ("skill=0.95&caution=0.03&credulity=0.02&verbosity=1", 7),
}
"""Made-up models: scripted agents of these settings and seeds, filed as models."""

KEYS = ("model", "entry", "case_id", "trial", "arm", "family", "bucket", "intent", "metric")
"""Columns that name a row whatever their words."""

WORDY = ("spam", "echo")
"""Scripted agents that write most, and take the longest to score."""

READ = ("stores", "rubrics", "languages")
"""Folders of `data` that hold what a model, an agent, a judge or a customer reads."""


# --- what is played


def scripted(folder: Path, slow: bool) -> dict[str, Path]:
    """Play the scripted agents over both sets, one trial a case; return the run files by agent and set.

    The two that write most, and the hard set, take a minute and are played where `slow` only.
    """
    made = {}
    for cases in ("all", "hard") if slow else ("all",):
        for name in AGENTS if slow else [name for name in AGENTS if name not in WORDY]:
            out = folder / f"{name}-{cases}.deskbench"
            asyncio.run(Experiment(f"scripted:{name}", cases=cases, trials=1, out=out, progress=False).run())
            made[f"{name} {cases}"] = out
    return made


def shipped(folder: Path) -> dict[str, Path]:
    """Score the records that ship again, in copies; return the copies by name."""
    made = {}
    for path in EXAMPLES:
        made[path.stem] = Path(shutil.copy(path, folder / path.name))
        rescore(made[path.stem], again=True)
    return made


def models(folder: Path) -> list[Path]:
    """Play the made-up models over the core set, three trials a case, and file them as models with calls and costs."""
    made = []
    for model, (settings, seed) in MODELS.items():
        out = folder / f"{model}.played"
        played = Experiment(f"scripted:tunable?{settings}", trials=3, seed=seed, out=out, progress=False)
        run = asyncio.run(played.run())
        scores = run.scores()
        rows = [
            (replace(record, model=model, source="model"), scores[content_hash(record.to_json())], [])
            for record in run.records()
        ]
        old = run.manifest
        manifest = new_manifest(model, "model", {**old["inputs"], "model": part(model)}, old["cases"], 3)
        manifest["run_id"] = f"{model}-1"
        new = made_run(folder / f"{model}.deskbench", rows, manifest=manifest, versions=lambda _: VERSION)
        price = 0.002 * seed
        calls = [
            call_row(r.case_id, r.trial, n, model=model, cost=price, tokens=900 + 10 * n, latency=0.1 * seed)
            for r, *_ in rows
            for n, _ in enumerate(r.replies(), 1)
        ]
        add_rows(new.path, calls=calls)
        made.append(new.path)
    return made


# --- what is compared


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of numbers and flags of a table, beside the short texts that name its rows."""
    kept = {}
    for name, column in frame.items():
        if name in PROSE:
            continue
        if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
            kept[str(name)] = column.astype("Float64").astype(float)
        elif name in KEYS or column.map(lambda v: isinstance(v, str) and len(v) <= 40 and " " not in v).all():
            kept[str(name)] = column
    return pd.DataFrame(kept).reset_index(drop=True)


def digests(run: Path) -> dict[str, dict[str, str]]:
    """Return a digest of each numeric field of a run's scores over its cases, and of each case over all fields.

    Together they name what moved, and where.
    """
    results = load_results(run)
    rows = results.conversations if len(results.conversations) else results.hard.conversations
    rows = numbers(rows.sort_values(["case_id", "trial"], kind="stable"))
    fields = rows.columns.difference(["model", "entry", "case_id", "trial"])
    return {
        "fields": {field: _digest(rows[["case_id", "trial", field]]) for field in fields},
        "cases": {str(case): _digest(mine[[*fields]]) for case, mine in rows.groupby("case_id", sort=True)},
    }


def _digest(frame: pd.DataFrame) -> str:
    text = frame.to_csv(index=False, float_format="%.9g")
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def texts() -> dict[str, str]:
    """Return a digest of everything that a model, an agent, a customer or a judge reads, by file, prompt and tool."""
    found = {}
    for folder in READ:
        for path in sorted((ROOT / "data" / folder).rglob("*")):
            if path.is_file() and path.suffix in (".md", ".yaml", ".jsonl"):
                found[path.relative_to(ROOT).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    store = load_store()
    for name, tool in store.tools.items():
        found[f"tool {name}"] = content_hash(orjson.dumps(tool.schema(store.policy), option=orjson.OPT_SORT_KEYS))
    return found


def made_tables(results, hard) -> dict[str, pd.DataFrame]:
    """Make every table of the example panel, by the name of the function that makes it."""
    t, pair = tables, ("alder-2", "birch-mini")
    safety, reliability = t.safety_table(results), t.reliability_table(results)
    found = {
        "between_models": t.between_models(results, n_resamples=500),
        "case_headlines": t.trial_table(results),
        "claim_tone_effects": t.claim_tone_effects(results),
        "claims_table": t.claims_table(results),
        "compare_runs": t.compare_runs(results, list(MODELS), every_pair=True),
        "comparison_table": t.comparison_table(results, *pair, explore=True),
        "cost_lines": t.cost_lines(t.cost_table(results).set_index("entry").loc[pair[0]]),
        "cost_quality": t.cost_quality(results),
        "cost_table": t.cost_table(results),
        "customer_flag_table": t.customer_flag_table(results),
        "detectable_table": t.detectable_table(2 / 18, units=(18, 36), trials=(3,), n_simulations=50),
        "differing_cases": t.differing_cases(results, *pair),
        "escalation_table": t.escalation_table(results),
        "findings": t.findings(results),
        "honesty_table": t.honesty_table(results),
        "intent_table": t.intent_table(results),
        "kind_table": t.kind_table(results),
        "language_table": t.language_table(results),
        "leaderboard": t.leaderboard(results),
        "metric_table": t.metric_table(results, "resolved"),
        "model_means": t.model_means(results),
        "power_table": t.power_table(2 / 18, 4 / 18, units=(18,), trials=(3,), n_simulations=200),
        "pressure_table": t.pressure_table(results),
        "promise_ledger": t.promise_ledger(results),
        "promise_table": t.promise_table(results),
        "published_board": t.published_board(),
        "published_pass_hat_k": t.published_pass_hat_k(),
        "queue_table": t.queue_table(results),
        "reliability_table": reliability,
        "safety_table": safety,
        "scope_table": t.scope_table(results),
        "shift_table": t.shift_table(results),
        "trap_table": t.trap_table(results),
        "unsafe_table": t.unsafe_table(results),
        "within_models": t.within_models(results, n_resamples=200),
        "hard_table": t.hard_table(hard),
        "hard_failures": t.hard_failures(hard),
        "hard_language_table": t.language_table(hard),
    }
    return {name: numbers(table) for name, table in found.items()}


def drawn(results) -> dict[str, list[float]]:
    """Draw the figures of the example panel; return the sorted numbers of their marks."""
    t, pair = tables, ("alder-2", "birch-mini")
    board = t.leaderboard(results)
    axes = {
        "differences": figures.differences(table=t.comparison_table(results, *pair), a=pair[0], b=pair[1]),
        "differing_cases": figures.differing_cases(table=t.differing_cases(results, *pair), a=pair[0], b=pair[1]),
        "directions_by_intent": figures.directions_by_intent(table=t.intent_table(results)),
        "escalation_both_ways": figures.escalation_both_ways(board=board),
        "failure_kinds": figures.failure_kinds(table=t.kind_table(results)),
        "metric_intervals": figures.metric_intervals(table=t.metric_table(results, "resolved")),
        "pass_decay": figures.pass_decay(table=t.reliability_table(results)),
        "pressure_chart": figures.pressure_chart(table=t.pressure_table(results)),
        "queue_matrix": figures.queue_matrix(table=t.queue_table(results)),
        "trap_matrix": figures.trap_matrix(table=t.trap_table(results)),
        "trial_spread": figures.trial_spread(table=t.trial_table(results)),
        "two_directions": figures.two_directions(table=t.escalation_table(results)),
        "unsafe_intervals": figures.unsafe_intervals(table=t.unsafe_table(results)),
        "value_picture": figures.value_picture(board=board),
    }
    found = {name: _marks(ax) for name, ax in axes.items()}
    for ax in axes.values():
        plt.close(ax.figure)
    return found


def _marks(ax) -> list[float]:
    """Return the numbers of all marks of an Axes, rounded and sorted: neither style nor order of drawing counts."""
    values = [v for line in ax.lines for v in np.ravel(line.get_xydata())]
    values += [v for c in ax.collections for v in np.ravel(np.ma.filled(c.get_offsets(), np.nan))]
    values += [v for p in ax.patches if hasattr(p, "get_width") for v in (p.get_width(), p.get_height())]
    return sorted({float(f"{v:.6g}") for v in values if np.isfinite(v)})


def downloads(results, folder: Path) -> dict[str, pd.DataFrame]:
    """Build the site and return the numbers of every CSV that it offers, by name."""
    build_site(results, folder)
    return {path.stem: numbers(pd.read_csv(path)) for path in sorted(folder.rglob("*.csv"))}


def panel(folder: Path):
    """Return the results of the made-up models, and those of the oracle and a tunable agent on a family of the hard set."""
    runs = [folder / f"hard-{name}.deskbench" for name in ("oracle", "tunable")]
    for name, out in zip(("oracle", "tunable"), runs, strict=True):
        played = Experiment(f"scripted:{name}", cases="hard:privacy", trials=2, out=out, progress=False)
        asyncio.run(played.run())
    return load_results(*models(folder)), load_results(*runs).hard


def write() -> None:
    """Write the present values into the folder of the freeze."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    with TemporaryDirectory() as name:
        folder = Path(name)
        results, hard = panel(folder)
        scores = {who: digests(run) for who, run in (scripted(folder, slow=True) | shipped(folder)).items()}
        data = {"scores": scores, "texts": texts(), "figures": drawn(results)}
        frames = {f"table-{name}": table for name, table in made_tables(results, hard).items()}
        frames |= {f"site-{name}": table for name, table in downloads(results, folder / "site").items()}
    for name, value in data.items():
        (FOLDER / f"{name}.json").write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    for name, frame in frames.items():
        frame.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.9g")


if __name__ == "__main__":
    write()
