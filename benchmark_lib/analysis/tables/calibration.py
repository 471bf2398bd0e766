"""How far the instrument can be trusted: measured once (`data/calibration.yaml`), or counted from the shipped data.

`make calibration` measures again; a test holds the file to what its sources give.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...cases import load_cases
from ...cases.load import HARD
from ...experiment.demo import EXAMPLE, HARD_EXAMPLE
from ...project import DATA
from ...store.world import load_store
from ...textfiles import read_yaml
from ..estimators.estimate import exact_bound
from .nuisance import customer_flag_table

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

CALIBRATION = DATA / "calibration.yaml"
SOURCES = {"core set": EXAMPLE, "hard set": HARD_EXAMPLE}
"""Run files of blind play that ship with the package."""


def calibration() -> dict[str, Any]:
    """Return the measurements that ship: ``half_widths`` and ``trap_coverage``.

    Raises
    ------
    BadInput
        If the file is missing or no YAML.
    """
    return dict(read_yaml(CALIBRATION))


def trap_coverage() -> pd.DataFrame:
    """Return how often the intervals over 18 traps contained the truth: one row per true count and number of trials."""
    import pandas as pd

    return pd.DataFrame(calibration()["trap_coverage"])


def blind_play() -> pd.DataFrame:
    """Return the blind play that ships: how a strong player fared, and how often the simulated customer failed it.

    Returns
    -------
    DataFrame
        One row per set: set, player, cases, conversations, success, families (of a hard set; 0 otherwise), and the
        columns of `customer_flag_table` (flagged with share, low and high, and one column per finding).
    """
    import pandas as pd

    parts = []
    for name, played in _played().items():
        rows = played.conversations
        part = customer_flag_table(rows).assign(set=name, player=rows["source"].iloc[0])
        families = rows["family"].nunique() if "family" in rows else 0
        parts.append(
            part.assign(cases=rows["case_id"].nunique(), success=int(rows["success"].sum()), families=families)
        )
    return pd.concat(parts, ignore_index=True)


def customers_read() -> dict[str, int]:
    """Count how readers judged the scripted customer's messages in `data/customer_turns_read.yaml`.

    Returns
    -------
    dict
        rounds, messages, either, both (called clearly wrong by one reader or both), found (of both, named by the judge)
        and alarms (named by the judge alone or where neither reader said clear).
    """
    read = read_yaml(DATA / "customer_turns_read.yaml")
    clear = [(row[3:5].count("clear"), row[5] != "none") for row in read["named"]]
    both = [named for count, named in clear if count == 2]
    alarms = sum(named for count, named in clear if count == 0)
    either = sum(count > 0 for count, _ in clear)
    return {
        "rounds": len(read["messages"]),
        "messages": sum(read["messages"].values()),
        "either": either,
        "both": len(both),
        "found": sum(both),
        "alarms": alarms,
    }


def _played() -> dict[str, Results]:
    from ..frames import load_results

    return {name: load_results(path) for name, path in SOURCES.items()}


def languages_of_sets() -> dict[str, dict[str, int]]:
    """Return, by set, how many of its cases are in each language, the most frequent first."""
    sets = {"core set": load_cases(load_store()), "hard set": load_cases(load_store(f"northline:{HARD}"))}
    return {name: dict(Counter(c.language for c in cases).most_common()) for name, cases in sets.items()}


def verdicts_in_play() -> int:
    """Return how many verdicts of judges are in the run files that ship."""
    return sum(len(played.verdicts) for played in _played().values())


def least_rate(n: int) -> float:
    """Return the lowest true rate that is compatible with success in all of `n` cases, 95 %."""
    return float(exact_bound(1.0, n)[0])
