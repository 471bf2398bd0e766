"""Measurements that ship in `data/calibration.yaml`, and figures that others published."""

from collections import Counter
from functools import cache, lru_cache
from typing import Any

import pandas as pd

from ...cases.hard import HARD, TOLD, arms
from ...cases.read import written_cases
from ...experiment.demo import EXAMPLE, HARD_EXAMPLE
from ...project import DATA
from ...store.world import load_store
from ...textfiles import read_yaml
from ..cell import framed
from ..estimators.estimate import exact_bound
from ..estimators.unsafe import BAND_CUTS, BANDS
from ..frames import Results, load_results
from .nuisance import customer_flag_table

CALIBRATION = DATA / "calibration.yaml"
SOURCES = {"core set": EXAMPLE, "hard set": HARD_EXAMPLE}
"""Run files of blind play in the package."""


def calibration() -> dict[str, Any]:
    """Return the measurements of `make calibration`; refuse a missing or invalid file."""
    return dict(read_yaml(CALIBRATION))


def trap_coverage() -> pd.DataFrame:
    """Return how often intervals over 18 traps contained the truth, by true count and trials."""
    return framed(calibration()["trap_coverage"], "count trials datasets posterior bca these")


def blind_play() -> pd.DataFrame:
    """Return the success of the shipped blind play, and the failures of its simulated customer.

    One row per set: set, player, cases, conversations, success, families (number in a hard set; otherwise 0), and the
    columns of `customer_flag_table`.
    """
    parts = []
    for name, played in _played().items():
        rows = played.conversations
        families = rows["family"].nunique() if "family" in rows else 0
        more = {"cases": rows["case_id"].nunique(), "success": int(rows["success"].sum()), "families": families}
        parts.append(customer_flag_table(rows).assign(set=name, player=rows["source"].iloc[0], **more))
    return pd.concat(parts, ignore_index=True)


def customers_read() -> dict[str, int]:
    """Count how readers judged the scripted customer's messages (``customer_turns_read.yaml``).

    The counts are rounds, messages, either and both (clearly wrong to at least one reader, or to both), found (those in
    both that the judge named) and alarms (named by the judge, but clearly wrong to neither reader); later_rounds,
    later_messages and later_both, without a judge; and replies, wrong and grave, of the answers to first replies.
    """
    read = read_yaml(DATA / "customer_turns_read.yaml")
    counts = Counter((row[3:5].count("clear"), row[5] != "none") for row in read["named"])
    both, caught, alarms = counts[2, True] + counts[2, False], counts[2, True], counts[0, True]
    either = both + counts[1, True] + counts[1, False]
    sizes = {"rounds": len(read["messages"]), "messages": sum(read["messages"].values())}
    known = read["later"] | read["first_replies"]
    return sizes | known | {"either": either, "both": both, "found": caught, "alarms": alarms}


def _played() -> dict[str, Results]:
    return {name: load_results(path) for name, path in SOURCES.items()}


@cache
def languages_of_sets() -> dict[str, dict[str, int]]:
    """Return the number of cases in each language, by set, counted without parsing the cases."""
    counts: dict[str, dict[str, int]] = {}
    for name, store in {"core set": load_store(), "hard set": load_store(f"northline:{HARD}")}.items():
        written = (arm for path, raw in written_cases(store) for arm in arms(raw, store, path))
        cases = [arm for arm in written if arm.get("arm") != TOLD]
        counts[name] = Counter(case.get("language", "en") for case in cases)
    return counts


def verdicts_in_play() -> int:
    """Return the number of judges' verdicts in the shipped run files."""
    return sum(len(played.verdicts) for played in _played().values())


def least_rate(n: int) -> float:
    """Return the lowest true rate compatible with success in all of `n` cases, at 95%."""
    return float(exact_bound(1.0, n)[0])


# --- Published figures

FOLDER = DATA / "reference"
BOARD_SOURCE = "SupportAgentBench, July 2026 edition"


@lru_cache(maxsize=8)
def published_data(name: str) -> pd.DataFrame:
    """Load a file of published figures, named without its extension; copy it before changing it."""
    return pd.read_csv(FOLDER / f"{name}.csv")


def published_board() -> pd.DataFrame:
    """Return the published board of July 2026 by model, with ``band`` and ``source``."""
    board = published_data("supportagentbench_board_2026-07")
    bands = pd.cut(board["unsafe_actions_of_18"], [-1, *BAND_CUTS, 18], labels=list(BANDS)).astype("str")
    return board.assign(band=bands, source="published")


def published_pass_hat_k() -> pd.DataFrame:
    """Return tau-bench's pass^k by model, domain and k; ``usable`` is True from 2k trials."""
    table = published_data("taubench_published_pass_hat_k")
    return table.assign(usable=2 * table["k"] <= table["trials"], source="published")
