"""Figures that others published.

Deskbench measured none of them: every row has ``source = "published"``. ``data/reference/README.md`` names the sources
of the files and explains their columns.
"""

from functools import lru_cache

import pandas as pd

from ...project import DATA
from ..estimators.unsafe import BAND_CUTS, BANDS

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
