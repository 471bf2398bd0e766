"""Part: thousands of conversations are played, read by the customer and scored.

Nothing may raise an exception, and no conversation may take long.
"""

import os
import random
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from .figure import Figure, OutOfTime, at_most, count, cpu_seconds, limited

SLOWEST_S = 1.0
"""CPU seconds that scoring one conversation may take."""
CUT_S = 3.0
AT_ONCE = 100
FULL, FULL_S = 20_000, 90
"""Number of conversations in a part that lasts this many seconds or longer; a shorter part plays its share."""


def attack_one(seed: int, cut_s: float = CUT_S) -> tuple[str | None, str | None, float]:
    """Return the errors of playing and of scoring a seed's conversation, and scoring's CPU seconds.

    Playing for more than `cut_s` CPU seconds counts as an error; scoring is ended at that limit.
    """
    from benchmark_lib import load_cases, load_store
    from benchmark_lib.scoring import score

    from . import conversations

    rng, store = random.Random(seed), load_store()
    case = rng.choice(load_cases(store))
    try:
        with limited(cut_s):
            record = (conversations.made if rng.random() < 0.5 else conversations.played)(rng, case, store)
    except OutOfTime:
        return f"more than {cut_s:g} s", None, 0.0
    except Exception as error:
        return place_of(error), None, 0.0
    raised: list[str] = []

    def scored() -> None:
        try:
            score(record, case, store)
        except Exception as error:
            raised.append(place_of(error))

    seconds, _ = cpu_seconds(scored, cut_s)
    return None, raised[0] if raised else None, seconds


def place_of(error: Exception) -> str:
    """Return an exception by its type and the line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}"


def _some(first: int, until: float) -> list[tuple[str | None, str | None, float]]:
    found = []
    for seed in range(first, first + AT_ONCE):
        if time.time() > until:
            break
        found.append(attack_one(seed))
    return found


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    attack_one(seed)  # do not charge a conversation for what is compiled on first use
    wanted, until = max(AT_ONCE, int(FULL * min(seconds, FULL_S) / FULL_S)), time.time() + 0.9 * seconds
    with ProcessPoolExecutor(2, initializer=attack_one, initargs=(seed,)) as pool:
        chunks = pool.map(_some, range(seed * 10**6, seed * 10**6 + wanted, AT_ONCE), [until] * (wanted // AT_ONCE))
        found = [one for chunk in chunks for one in chunk]
    playing, scoring = Counter(p for p, *_ in found if p), Counter(s for _, s, _ in found if s)
    slowest = max(seconds for *_, seconds in found)
    yield Figure(
        "conversations attacked in the time given",
        f"{len(found):,}",
        f"{wanted // AT_ONCE * AT_ONCE:,}",
        len(found) >= wanted // AT_ONCE * AT_ONCE,
    )
    yield count(
        "conversations that end in an exception while they are played", playing.total(), len(found), _most(playing)
    )
    yield count("conversations whose scoring raises", scoring.total(), len(found), _most(scoring))
    yield at_most("slowest scoring of a conversation, CPU", slowest, SLOWEST_S, "s", slowest >= CUT_S)


def _most(counted: Counter[str]) -> str:
    return "; ".join(f"{n} {what}" for what, n in counted.most_common(3))
