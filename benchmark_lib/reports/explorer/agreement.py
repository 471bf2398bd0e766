"""The agreement of labellers as HTML."""

import pandas as pd

from ..transcript import render
from ..views import readable


def agreement_html(table: pd.DataFrame) -> str:
    """Return each pair of `tables.label_agreement_table` as a heading, the four counts, and three coefficients with their intervals."""
    coefficients = readable(table, "labellers").to_dict("records")
    pairs = list(zip(table.to_dict("records"), coefficients, strict=True))
    return render("agreement.html.j2", pairs=pairs)
