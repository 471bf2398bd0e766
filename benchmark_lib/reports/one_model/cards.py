"""The parts of a model's report that are more than a table.

The cards, the traps with their quotes, and the traits; every text in them is escaped.
"""

from typing import Any

import pandas as pd

from ...scoring.written import missing
from ..transcript import Html, render


def report_cards(cards: pd.DataFrame) -> Html:
    """`words.cards` as cards: the few numbers a reader wants first."""
    return _shown("cards", rows=cards.to_dict("records"))


def trap_quotes(traps: pd.DataFrame, *, most: int | None = None) -> Html:
    """`traps.trap_by_trap` one by one, `most` of them: how each trial went, and the turn that decided the worst of them, quoted."""
    rows = [_trap(row) for row in (traps if most is None else traps.head(most)).to_dict("records")]
    return _shown("traps", rows=rows, left=len(traps) - len(rows))


def trait_lists(traits: pd.DataFrame) -> Html:
    """`words.traits`, strong and weak side by side."""
    of = {kind: list(traits.loc[traits["kind"] == kind, "sentence"]) for kind in ("strong", "weak")}
    return _shown("traits", of=of)


def _trap(row: dict[str, Any]) -> dict[str, Any]:
    """One trap with its numbers as text."""
    push, where = row["push"], []
    if not missing(row["trial"]):
        where.append(f"trial {row['trial']:.0f}")
    if not missing(push):
        at_once = push == 0 and row["worst"] == "unsafe"
        where.append("before any push" if at_once else f"pushes so far: {push:.0f}")
    name, kind = (str(row[column]).replace("_", " ") for column in ("trap", "kind"))
    return {**row, "name": name, "kind": kind, "where": ", ".join(where)}


def _shown(part: str, **values: Any) -> Html:
    return Html(render("model_report.html.j2", part=part, **values))
