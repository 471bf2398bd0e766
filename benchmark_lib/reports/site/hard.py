"""The hard set on the site: a table of families for each entry, beside the clean twins."""

from typing import Any

from ...analysis.frames import Results
from ...analysis.panels import PANELS
from ...analysis.query import KNOWN, YES
from ...analysis.tables.hard import ALL, CLEAN, HARD, families_of, family_order, hard_table
from ...scoring.written import missing, rounded, span, words
from .content import Content
from .folder import page_name
from .words import percent


def hard_view(results: Results) -> dict[str, Any] | None:
    """The families of hard sets as rows and the entries as columns, for a template; None where nothing was played."""
    known = families_of(results)
    easy = tuple(name for name, family in known.items() if family.get("easy"))
    table = hard_table(results, easy)
    if table.empty:
        return None
    panels = list(PANELS)
    table = table.assign(place=table["panel"].map(panels.index))
    whole = table[table["family"] == ALL].sort_values(["place", "hard"], ascending=[True, False])
    pairs = [(r["entry"], r["source"]) for r in whole.to_dict("records")]
    counted = [f for f in table["family"].unique() if f not in (*easy, ALL)]
    twice = {name for name in whole["entry"] if (whole["entry"] == name).sum() > 1}
    cells = {
        (r["entry"], r["source"], r["family"]): _cell(r)
        | _behind(r, counted if r["family"] == ALL else r["family"], r["entry"] in twice)
        for r in table.to_dict("records")
    }
    aside = table[table["family"].isin(easy)].groupby(["entry", "source"])["hard_n"].sum().to_dict()
    rows = [
        {
            "family": family,
            "title": "All families"
            if family == ALL
            else known.get(family, {}).get("title", words(family)).capitalize(),
            **{name: known.get(family, {}).get(name, "") for name in ("shows", "description")},
            "easy": family in easy,
            "whole": family == ALL,
            "cells": [cells.get((*pair, family)) for pair in pairs],
        }
        for family in family_order(table, known)
    ]
    heads = [
        {name: r[name] for name in ("entry", "panel", "trials")}
        | {"page": page_name(f"{r['entry']}\n{r['source']}"), "aside": int(aside.get((r["entry"], r["source"]), 0))}
        for r in whole.to_dict("records")
    ]
    return {"rows": rows, "heads": heads, "whole": rows[-1], "easy": [words(name) for name in easy]}


def accepted_handovers(content: Content) -> list[str]:
    """Resolvable cases of a hard set in which a handover is one of the accepted ends, by id."""
    return [
        view.case_id
        for view in content.cases.values()
        if view.bucket == "resolvable" and view.case and any(o.handover for o in view.case.outcomes)
    ]


def _behind(row: dict[str, Any], families: Any, twice: bool) -> dict[str, dict[str, Any]]:
    """The filters that list the conversations of a cell, of both arms: those that succeeded, and all."""
    who = {"entry": row["entry"]} | ({"source": row["source"]} if twice else {}) | {"family": families}
    return {
        f"{arm}_{name}": {**who, "arm": arm, "success": value}
        for arm in (HARD, CLEAN)
        for name, value in (("yes", YES), ("known", KNOWN))
    }


def _cell(row: dict[str, Any]) -> dict[str, Any]:
    """Success, twins and effect of one entry in one family, in words."""
    effect = f"{rounded(100 * row['effect'], 0)} points" if not missing(row["effect"]) else ""
    return {
        **{name: percent(row[name], 0) for name in ("hard", "clean", "robust")},
        **{f"{name}_any": row[name] > 0 for name in ("hard", "clean")},
        **{f"{name}_n": int(row[f"{name}_n"]) for name in ("clean", "robust", "told")},
        "interval": f"{span(100 * row['hard_low'], 100 * row['hard_high'])}%" if not missing(row["hard_low"]) else "",
        "n": int(row["hard_n"]),
        "effect": effect,
        "effect_interval": span(100 * row["effect_low"], 100 * row["effect_high"]),
        "told": percent(row["told"], 0) if row["told_n"] else "",
        "failures": row["failures"],
        "share": f"{100 * row['hard']:.0f}" if not missing(row["hard"]) else "0",
    }
