"""The recovery panel: scripted agents whose true rates are known play the real cases; what is recorded must agree with the truth."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from math import nan, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import SCORE_FAULT
from .estimate import DEFAULT_SEED

if TYPE_CHECKING:
    import pandas as pd

    from ..runfile import RunFile
    from .frames import Results

AGENTS = 24
RANGES = {"skill": (0.40, 0.97), "credulity": (0.02, 0.60), "caution": (0.02, 0.40), "verbosity": (0.0, 2.0)}
"""Lowest and highest value of each setting of a panel's agents."""

LINKS = {("skill", "credulity"): -0.6, ("credulity", "caution"): -0.4}
"""Correlations of the settings over agents (Gaussian copula); those not named are 0."""

TRUTHS: dict[str, Callable[[Any], Any]] = {
    "over_escalation": lambda agent: agent["caution"],
    "resolved": lambda agent: (1 - agent["caution"]) * agent["skill"],
    "escalation_accuracy": lambda agent: agent["skill"],
    "adversarial_success": lambda agent: 1 - agent["credulity"],
    "unsafe": lambda agent: 18 * agent["credulity"],
}
"""True value of each metric on Northline's cases: a tunable agent draws once a conversation what it plays."""

PAIRS = (
    ("over_escalation", "unsafe"),
    ("escalation_accuracy", "unsafe"),
    ("over_escalation", "escalation_accuracy"),
    ("resolved", "unsafe"),
)
"""Metrics whose correlation over agents is recovered."""

PASS_K = 3


def known_panel(agents: int = AGENTS, *, rng: np.random.Generator | None = None) -> "pd.DataFrame":
    """Draw a panel of agents whose true rates are known.

    Parameters
    ----------
    agents : int
    rng : numpy.random.Generator, optional
        Seeded with `DEFAULT_SEED` when not given.

    Returns
    -------
    DataFrame
        model (its spec), seed, the settings, and ``true_*`` for every metric of `TRUTHS`.
    """
    import pandas as pd

    stream = np.random.default_rng(DEFAULT_SEED) if rng is None else rng
    panel = pd.DataFrame({name: values.round(2) for name, values in _settings(agents, stream).items()})
    panel.insert(0, "model", ["scripted:tunable?" + "&".join(f"{n}={row[n]:.2f}" for n in RANGES) for row in panel.to_dict("records")])
    panel.insert(1, "seed", stream.choice(2**31, size=agents, replace=False))
    return panel.assign(**{f"true_{name}": truth(panel) for name, truth in TRUTHS.items()})


def truth_of(model: str) -> dict[str, float]:
    """True rates of a tunable agent by metric, read from its name; empty for any other model."""
    from ..conversation.scripted import Tunable, parse_spec

    name = model.partition(" [")[0]
    if not name.startswith("scripted:tunable"):
        return {}
    known = inspect.signature(Tunable).parameters
    settings = {setting: known[setting].default for setting in RANGES} | parse_spec(name)[1]
    return {metric: truth(settings) for metric, truth in TRUTHS.items()}


def _settings(agents: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Settings of many agents, tied by `LINKS`."""
    from scipy.special import ndtr

    names = list(RANGES)
    matrix = np.eye(len(names))
    for (one, other), strength in LINKS.items():
        i, j = names.index(one), names.index(other)
        matrix[i, j] = matrix[j, i] = strength
    places = ndtr(rng.standard_normal((agents, len(names))) @ np.linalg.cholesky(matrix).T)
    return {name: low + (high - low) * place for (name, (low, high)), place in zip(RANGES.items(), places.T, strict=True)}


def play_panel(panel: "pd.DataFrame", folder: str | Path, *, cases: str = "all", trials: int = 3) -> "list[RunFile]":
    """Play the agents of a panel over the real cases, as ``deskbench run`` does; what is on file and still current stays as it is.

    Parameters
    ----------
    panel : DataFrame
        As `known_panel` gives it.
    folder : path
        Where the run files go; each appears there whole.
    cases, trials
        As for `Experiment`.

    Returns
    -------
    list of RunFile
    """
    from ..experiment.experiment import Experiment
    from ..project import in_project
    from ..experiment.plan import prepare
    from ..runfile import SUFFIX, RunFile

    folder = in_project(folder)
    folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for number, agent in enumerate(panel.to_dict("records"), 1):
        path = folder / f"panel-{number:02d}{SUFFIX}"
        options = dict(cases=cases, trials=trials, seed=int(agent["seed"]), progress=False)
        if not _current(path, prepare(Experiment(agent["model"], **options))):
            with TemporaryDirectory(dir=folder, prefix=".playing-") as place:
                fresh = Path(place) / path.name
                _finish(Experiment(agent["model"], out=fresh, **options).run())
                os.replace(fresh, path)
        runs.append(RunFile(path))
    return runs


def panel_runs(folder: str | Path | None = "data/runs/panel") -> "list[RunFile]":
    """The runs of the standard panel, played first where they are not on file (about ten seconds); none for None."""
    return [] if folder is None else play_panel(known_panel(), folder)


def _current(path: Path, plan: Any) -> bool:
    """Whether a file holds what the plan would play: same inputs, same cases, every trial finished and scored by the present rules."""
    from ..experiment.manifest import differences
    from ..runfile import RunFile

    if not path.is_file():
        return False
    run = RunFile(path)
    there, here = run.manifest, plan.manifest
    same = not differences(there, here) and there["planned"] == here["planned"]
    scored = sum(not found.get(SCORE_FAULT) for found in run.scores(plan.scoring_version).values())
    return same and scored >= sum(here["planned"].values()) == run.counts()["finished"]


def _finish(work: Any) -> Any:
    """The result of a coroutine, also from inside a notebook's running loop."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()


def recovered_rates(panel: "pd.DataFrame", results: "Results | pd.DataFrame") -> "pd.DataFrame":
    """What was recorded of every agent beside what is true.

    Parameters
    ----------
    panel : DataFrame
    results : Results or DataFrame
        The runs of the panel, or their conversations.

    Returns
    -------
    DataFrame
        One row an agent and interval: model, metric, interval, truth, estimate, low, high, holds, and z, the recorded mean less
        the truth in units of the exact binomial standard deviation (NaN where that is 0, and for pass^k, which needs 3 trials).
    """
    import pandas as pd

    frame = results.conversations if hasattr(results, "conversations") else results
    rows = [row for agent in panel.to_dict("records") for row in _of_agent(agent, frame[frame["model"] == agent["model"]])]
    table = pd.DataFrame(rows, columns=["model", "metric", "interval", "truth", "estimate", "low", "high", "z"])
    return table.assign(holds=(table["low"] <= table["truth"]) & (table["truth"] <= table["high"]))


def _of_agent(agent: dict[str, Any], mine: "pd.DataFrame") -> Iterator[tuple]:
    from . import pass_hat_k_interval, unsafe_posterior
    from .tables import case_matrix, metric_estimate

    for metric in TRUTHS:
        truth, (values, _, intents) = agent[f"true_{metric}"], case_matrix(mine, metric)
        seen = ~np.isnan(values)
        if metric == "unsafe":
            found = unsafe_posterior(np.nansum(values, axis=1), seen.sum(axis=1))
            z = _z(found.observed / max(found.traps, 1), agent["credulity"], int(seen.sum()))
            yield agent["model"], metric, "these traps", truth, found.observed, found.these_low, found.these_high, z
            yield agent["model"], metric, "traps like these", truth, found.observed, found.low, found.high, nan
            continue
        found = metric_estimate(mine, metric)
        yield agent["model"], metric, "mean", truth, found.mean, found.low, found.high, _z(found.mean, truth, int(seen.sum()))
        if metric == "resolved" and seen.sum(axis=1).max(initial=0) >= PASS_K:
            again = pass_hat_k_interval(np.nansum(values, axis=1), seen.sum(axis=1), PASS_K, clusters=intents)
            yield agent["model"], metric, f"pass^{PASS_K}", truth**PASS_K, again.estimate, again.low, again.high, nan


def _z(mean: float, truth: float, n: int) -> float:
    spread = sqrt(truth * (1 - truth) / n) if n else 0.0
    return (mean - truth) / spread if spread else nan


def recovered_differences(panel: "pd.DataFrame", results: "Results | pd.DataFrame") -> "pd.DataFrame":
    """Neighbours in the panel compared in pairs: the true difference, and whether the cautious interval holds it.

    Returns
    -------
    DataFrame
        One row a disjoint pair and metric: a, b, metric, truth, estimate, low, high (cautious), p, holds.
    """
    import pandas as pd

    from . import paired_difference
    from .tables import case_matrix

    frame = results.conversations if hasattr(results, "conversations") else results
    of = {model: rows for model, rows in frame.groupby("model")}
    agents, rows = panel.to_dict("records"), []
    for a, b in zip(agents[::2], agents[1::2]):
        for metric in ("over_escalation", "resolved", "unsafe"):
            (x, _, intents), (y, _, _) = (case_matrix(of[agent["model"]], metric) for agent in (a, b))
            scale = 18 if metric == "unsafe" else 1
            found = paired_difference(np.nanmean(x, axis=1), np.nanmean(y, axis=1), clusters=intents if scale == 1 else None,
                                      trials=x.shape[1], n_resamples=200)  # fmt: skip
            rows.append((a["model"], b["model"], metric, a[f"true_{metric}"] - b[f"true_{metric}"],
                         *(scale * v for v in (found.estimate, found.cautious_low, found.cautious_high)), found.p))  # fmt: skip
    table = pd.DataFrame(rows, columns=["a", "b", "metric", "truth", "estimate", "low", "high", "p"])
    return table.assign(holds=(table["low"] <= table["truth"]) & (table["truth"] <= table["high"]))


def recovered_correlations(panel: "pd.DataFrame", rates: "pd.DataFrame") -> "pd.DataFrame":
    """Correlations of recorded metrics over the agents of a panel, beside those of their true rates.

    Parameters
    ----------
    panel : DataFrame
    rates : DataFrame
        As `recovered_rates` gives it.

    Returns
    -------
    DataFrame
        One row a pair of `PAIRS`: truth (over all agents such a panel is drawn from), panel_truth (over the true rates of these
        agents), estimate, low, high, p, holds (of truth), holds_panel.
    """
    import pandas as pd

    from . import correlation

    plain = rates[rates["interval"].isin(["mean", "these traps"])]
    recorded = plain.pivot(index="model", columns="metric", values="estimate").reindex(panel["model"])
    rows = []
    for one, other in PAIRS:
        found = correlation(recorded[one], recorded[other], n_resamples=4_000)
        exact = correlation(panel[f"true_{one}"], panel[f"true_{other}"], n_resamples=10)
        rows.append((f"{one} and {other}", true_correlation(one, other), exact.estimate, found.estimate, found.low, found.high, found.p))
    table = pd.DataFrame(rows, columns=["pair", "truth", "panel_truth", "estimate", "low", "high", "p"])
    inside = {
        name: (table["low"] <= table[truth]) & (table[truth] <= table["high"]) for name, truth in (("holds", "truth"), ("holds_panel", "panel_truth"))
    }
    return table.assign(**inside)


def true_correlation(one: str, other: str, *, agents: int = 200_000) -> float:
    """Spearman correlation of two true rates over all agents a panel is drawn from (by a large seeded draw)."""
    from scipy.stats import spearmanr

    many = _settings(agents, np.random.default_rng(DEFAULT_SEED))
    return float(spearmanr(TRUTHS[one](many), TRUTHS[other](many)).statistic)


def coverage(table: "pd.DataFrame", by: list[str], *, nominal: float = 0.95) -> "pd.DataFrame":
    """How often intervals held the truth, against how often they should.

    Parameters
    ----------
    table : DataFrame
        With a column `holds`, and `z` where there is one.
    by : list of str
        Columns that name a kind of interval.
    nominal : float
        Level of the intervals.

    Returns
    -------
    DataFrame
        `by`, intervals, held, share with its Wilson interval (low, high), p_too_few (exact binomial chance of at most as many, if
        each held with probability `nominal`), bias (mean z) and scatter (mean z squared; 1 where the recorded rates scatter as they should).
    """
    import pandas as pd
    from scipy.stats import binom

    from . import proportion_interval

    rows = []
    for key, group in table.groupby(by, sort=False):
        held, n = int(group["holds"].sum()), len(group)
        share = proportion_interval(held, n)
        z = group["z"].dropna() if "z" in group else pd.Series(dtype=float)
        rows.append((*key, n, held, share.estimate, share.low, share.high, float(binom.cdf(held, n, nominal)),
                     float(z.mean()) if len(z) else nan, float((z**2).mean()) if len(z) else nan))  # fmt: skip
    return pd.DataFrame(rows, columns=[*by, "intervals", "held", "share", "low", "high", "p_too_few", "bias", "scatter"])


def in_words(row: dict[str, Any], *, nominal: float = 0.95) -> str:
    """Whether a row of `coverage` is as it should be, by its Wilson interval."""
    if row["high"] < nominal:
        return "less often than they should"
    return "more often than they need to" if row["low"] > nominal else "as often as they should"
