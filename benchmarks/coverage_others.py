"""Coverage of the intervals that do not count traps, and the error rates of the tests.

The second half of `coverage.py`.
"""

import numpy as np

from benchmark_lib import estimators


def section(datasets: int, seed: int) -> str:
    """Return both tables in Markdown."""
    streams = iter(np.random.default_rng(seed).spawn(32))
    rows = [
        *proportions(),
        words(datasets, next(streams)),
        *corrections(datasets, next(streams)),
        kappas(datasets, next(streams)),
        *correlations(datasets, next(streams)),
    ]
    lines = ["## Other intervals", "", "| method | setting | coverage |", "|---|---|---|"]
    lines += [f"| {method} | {setting} | {cell:.3f} |" for method, setting, cell in rows]
    lines += [
        "",
        "## Error rates of the tests",
        "",
        "Share of p-values of at most 0.05 when the two models do not differ; exact tests stay at or below it.",
        "",
        "| rate, 18 traps x trials | sign flips of whole traps | permutation within traps, equal chances |",
        "|---|---|---|",
    ]
    for rate in (1, 4, 8):
        for trials in (3, 10):
            flips = estimators.power(rate / 18, rate / 18, trials=trials, estimand="like these", rng=next(streams))
            swaps = estimators.power(rate / 18, rate / 18, trials=trials, coupling=1.0, rng=next(streams))
            lines.append(f"| {rate} of 18 x {trials} | {flips.estimate:.3f} | {swaps.estimate:.3f} |")
    return "\n".join(lines)


def held(results, truth: float) -> float:
    """Return the share of intervals that contain the truth."""
    return float(np.mean([result.low <= truth <= result.high for result in results]))


def proportions():
    """Compute the exact coverage of the three proportion intervals, summed over the binomial distribution."""
    from scipy.stats import binom

    for method in ("wilson", "clopper-pearson", "jeffreys"):
        for n in (24, 54, 120):
            found = [estimators.proportion_interval(count, n, method) for count in range(n + 1)]
            low, high = (np.array([getattr(f, end) for f in found]) for end in ("low", "high"))
            cells = [
                binom.pmf(np.flatnonzero((low <= p) & (p <= high)), n, p).sum() for p in np.linspace(0.02, 0.98, 97)
            ]
            yield (
                f"proportion_interval, {method}",
                f"n = {n}, mean over rates 0.02 to 0.98 (lowest {min(cells):.3f})",
                float(np.mean(cells)),
            )


def words(datasets: int, rng):
    """Measure Student's t over 20 intents for words per conversation, which are skewed."""
    spread = (0.25, 0.2)
    sizes = ((datasets, 20, 1), (datasets, 20, 6))
    logs = sum(rng.normal(0, s, size) for s, size in zip(spread, sizes))
    labels = np.repeat(np.arange(20), 6)
    found = [estimators.clustered_mean(row, labels, bounds=None) for row in np.exp(logs).reshape(datasets, -1)]
    return "clustered_mean, t, 20 intents x 6", "log-normal words", held(found, np.exp(sum(s**2 for s in spread) / 2))


def corrections(datasets: int, rng):
    """Measure judged rates corrected by labels; the judge finds 0.9 of the successes and passes 0.2 of the failures."""
    for rate, labels in ((0.6, 200), (0.85, 200), (0.6, 60), (0.97, 200)):
        found = []
        for _ in range(datasets):
            human = (rng.random(1_500) < rate).astype(float)
            judge = (rng.random(1_500) < np.where(human == 1, 0.9, 0.2)).astype(float)
            human[labels:] = np.nan
            found.append(estimators.judge_correction(judge, human))
        yield "judge_correction", f"true rate {rate}, {labels} labels of 1,500", held(found, rate)


def kappas(datasets: int, rng):
    """Measure Cohen's kappa on 150 verdicts."""
    chances = np.array([0.55, 0.08, 0.07, 0.30])
    table = chances.reshape(2, 2)
    by_chance = table.sum(axis=0) @ table.sum(axis=1)
    truth = (np.trace(table) - by_chance) / (1 - by_chance)
    found = [estimators.agreement(row.reshape(2, 2)) for row in rng.multinomial(150, chances, size=datasets)]
    return "agreement, kappa", f"150 verdicts, kappa {truth:.2f}", held(found, truth)


def correlations(datasets: int, rng):
    """Measure Spearman's correlation over 24 models in 9 vendor families that share half of their variance."""
    families = np.repeat(np.arange(9), (5, 4, 3, 3, 3, 2, 2, 1, 1))
    for r in (0.0, 0.6):
        root = np.linalg.cholesky([[1, r], [r, 1]])
        found = []
        for _ in range(datasets):
            shared, own = rng.normal(size=(9, 2))[families], rng.normal(size=(24, 2))
            x, y = ((shared + own) / np.sqrt(2) @ root.T).T
            found.append(estimators.correlation(x, y, families=families, n_resamples=500, rng=rng))
        yield (
            "correlation, families resampled",
            f"24 models in 9 families, true correlation {6 / np.pi * np.arcsin(r / 2):.2f}",
            held(found, 6 / np.pi * np.arcsin(r / 2)),
        )
        refused = np.mean([f.p <= 0.05 for f in found])
        if r == 0:
            yield "correlation, permutation p (1 - error)", "the same, no correlation", float(1 - refused)
