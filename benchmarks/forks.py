"""Measure by simulation the coverage of forks' intervals, and the savings against whole conversations.

    python benchmarks/forks.py [--times 2000] [--seed 35] [--out benchmarks/forks.md]

Everything is drawn and nothing is played. The chance of an unsafe act after a branch is Beta(1, 2), fixed in advance.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmark_lib.analysis.estimators.estimate import Estimate
from benchmark_lib.analysis.estimators.intervals import proportion_interval
from benchmark_lib.extras.forks.estimates import branch_weighted_rate, effect, rate_over_prefixes

FORKS, PREFIX = 40, 0.4
"""Number of forks of a named branch, and the share of a conversation's cost before it."""
REACHED = (0.05, 0.1, 0.2, 0.5, 1.0)
TRAPS, EACH = 18, 10

Draw = Callable[[np.random.Generator], tuple[float, Estimate]]


def named_branch(rng: np.random.Generator) -> tuple[float, Estimate]:
    """Draw one branch and its forks."""
    p = rng.beta(1, 2)
    return p, proportion_interval(int(rng.binomial(FORKS, p)), FORKS)


def prefixes(number: int) -> Draw:
    """Draw a mean rate over prefixes, and the forks of some."""

    def draw(rng: np.random.Generator) -> tuple[float, Estimate]:
        mean = rng.beta(1, 2)
        p = rng.beta(3 * mean, 3 * (1 - mean), number)
        return mean, rate_over_prefixes(rng.binomial(EACH, p), [EACH] * number)

    return draw


def overall(trials: int, forked: bool) -> Draw:
    """Draw the overall rate on some traps, and the forks or single outcomes of a few trials."""

    def draw(rng: np.random.Generator) -> tuple[float, Estimate]:
        mean = rng.beta(1, 2, TRAPS)
        p = rng.beta(4 * mean, 4 * (1 - mean), (trials, TRAPS))
        rates = rng.binomial(EACH, p) / EACH if forked else rng.binomial(1, p).astype(float)
        return mean.mean(), branch_weighted_rate(rates.ravel(), np.tile(np.arange(TRAPS), trials))

    return draw


def change(points: int, by: float) -> Draw:
    """Draw the effect of a change at some points, and forks with it and without it."""

    def draw(rng: np.random.Generator) -> tuple[float, Estimate]:
        plain = rng.beta(1, 2, points)
        changed = np.clip(plain - by, 0, 1)
        counts = [EACH] * points
        return (changed - plain).mean(), effect(rng.binomial(EACH, changed), counts, rng.binomial(EACH, plain), counts)

    return draw


def coin(turns: int, at: int, chance: float, rng: np.random.Generator) -> tuple[bool, bool]:
    """Return whether the turn at which a coin fell is found, and whether its interval contains the coin's chance."""
    shares = [chance if turn <= at else 1.0 for turn in range(turns)]
    counts = [int(rng.binomial(FORKS, p)) for p in shares]
    steps = [effect([b], [FORKS], [a], [FORKS]) for a, b in zip(counts, counts[1:], strict=False)]
    surest = max(range(len(steps)), key=lambda n: abs(steps[n].estimate))
    mine = proportion_interval(counts[at], FORKS)
    return surest == at and steps[at].low > 0, mine.low <= chance <= mine.high


def lines(times: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield the page line by line."""
    yield "| estimate | coverage of the 95% interval | mean width |\n|---|---|---|"
    draws = {f"named branch, {FORKS} forks": named_branch}
    draws |= {f"mean over {n} prefixes, {EACH} forks each": prefixes(n) for n in (2, 5, 10, 20)}
    for trials in (1, 2, 3, 5):
        for forked in (False, True):
            how = f"{EACH} forks each" if forked else "whole conversations alone"
            draws[f"rate on {TRAPS} traps, trials {trials}, {how}"] = overall(trials, forked)
    draws |= {f"effect of no change, points {n}": change(n, 0.0) for n in (1, 5, 10)}
    draws |= {f"effect of a change, points {n}": change(n, 0.25) for n in (1, 5, 10)}
    for name, draw in draws.items():
        found = [draw(rng) for _ in range(times)]
        hit = np.mean([e.low <= truth <= e.high for truth, e in found])
        yield f"| {name} | {hit:.3f} | {np.mean([e.high - e.low for _, e in found]):.3f} |"
    found = [coin(5, int(rng.integers(0, 4)), 0.5, rng) for _ in range(times)]
    yield f"\nWith a coin flip of chance 0.5 at one of five turns and {FORKS} forks per turn, that turn is found in {100 * np.mean([f for f, _ in found]):.1f}% of"
    yield f"conversations that ended badly; the chance is inside the interval of that turn in {100 * np.mean([h for _, h in found]):.1f}%.\n"
    yield "| branch reached in | whole conversations for the same width | their cost | cost of forks | forks / whole |\n|---|---|---|---|---|"
    for reach in REACHED:
        whole, forks = FORKS / reach, FORKS * (1 - PREFIX)
        yield f"| {100 * reach:g}% | {whole:.0f} | {whole:.0f} | {forks:.0f} | {100 * forks / whole:.0f}% |"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=35)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("forks.md"))
    given = parser.parse_args()
    widest = proportion_interval(FORKS // 2, FORKS)
    head = (
        f"# Forks: coverage and savings\n\n`python benchmarks/forks.py --times {given.times} --seed {given.seed}` simulates these figures. "
        f"The chance of an unsafe act after a branch is drawn from Beta(1, 2).\n{FORKS} forks leave an interval at most "
        f"{100 * (widest.high - widest.low):.0f} points wide. The unit of cost is one whole conversation, of which {100 * PREFIX:.0f}% is spent before the branch.\n"
    )
    text = "\n".join([head, *lines(given.times, np.random.default_rng(given.seed))]) + "\n"
    given.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
