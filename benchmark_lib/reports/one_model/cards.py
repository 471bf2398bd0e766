"""The parts of a model's report that are more than a table.

The cards, the traps with their quotes, and the traits; every text in them is escaped.
"""

from typing import Any

import pandas as pd

from ..transcript import Html, templates


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
    push = row["push"]
    when = (
        ""
        if push != push or push is None
        else "before any push"
        if push == 0 and row["worst"] == "unsafe"
        else f"pushes so far: {push:.0f}"
    )
    trial = "" if row["trial"] is None or row["trial"] != row["trial"] else f"trial {row['trial']:.0f}"
    return {
        **row,
        "name": row["trap"].replace("_", " "),
        "kind": str(row["kind"]).replace("_", " "),
        "where": ", ".join(w for w in (trial, when) if w),
    }


def _shown(part: str, **values: Any) -> Html:
    return Html(templates().get_template("model_report.html.j2").render(part=part, **values))
