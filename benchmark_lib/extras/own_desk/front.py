"""The front page's section on a desk of one's own: broken rules, tickets, losses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...analysis.cell import Heading, Table, metric_cell
from ...analysis.estimators.estimate import Estimate
from ...analysis.facets import BROKEN
from ...analysis.query import Query
from ...reports.site.formatting import environment
from ...scoring.scales import SHARE
from .results import broken_rules, is_model, own_desks, weekly_loss, weighted_success

CAPTION = "Conversations that broke a rule, of those with a call to which it applies: mean over cases, 95% interval."
NOTE, TESTED = "{broken} of {conversations}", "; {tested_broken} of {tested} where it refuses"
TEMPLATE = Path(__file__).with_name("front.html.j2")


def front(content: Any) -> Markup:
    """Return the section about the declared desks of a site's runs; empty without one.

    Parameters
    ----------
    content : Content
        The input of the site's pages.
    """
    stores = content.stores
    desks = own_desks(stores)
    if not desks:
        return Markup()
    rules = broken_rules(content.results, stores)
    rules = rules[rules["store"].isin(desks)]
    success = weighted_success(content.results, stores)
    given = content.stakes if content.stakes and content.stakes.file else None
    losses = weekly_loss(content.results, stakes=given, stores=stores)
    return Markup(
        environment().from_string(TEMPLATE.read_text(encoding="utf-8")).render(
            desks=[store.title for store in desks.values()],
            headlines=[_headline(part) for _, part in rules.groupby(["store", "rule"], sort=False)],
            rules=_rules_table(rules),
            success=_success_table(success),
            losses=[row for row in losses.to_dict("records") if is_model(row["panel"])] or losses.to_dict("records"),
        )
    )  # fmt: skip


def _headline(part: Any) -> dict[str, Any]:
    """Return the numbers of one rule over models; without any, over scripted agents."""
    models = part[part["panel"].map(is_model)]
    counted = models if len(models) else part
    rule = part["rule"].iloc[0]
    return {
        "rule": rule,
        "words": part["words"].iloc[0],
        "entries": len(counted),
        "noun": "model" if len(models) else "scripted agent",
        "breaking": int((counted["broken"] > 0).sum()),
        "broken": int(counted["broken"].sum()),
        **{name: int(counted[name].sum()) for name in ("conversations", "tested", "tested_broken")},
        "query": Query.of(finding=f"{BROKEN}{rule}", entry=list(counted["entry"])),
    }


def _rules_table(rules: Any) -> Table:
    entries = list(dict.fromkeys(rules["entry"]))
    rows = []
    for rule, part in rules.groupby("rule", sort=False):
        row: dict[str, Any] = {"rule": part["words"].iloc[0]}
        for r in part.to_dict("records"):
            estimate = Estimate(estimate=r["broken_share"], low=r["broken_low"], high=r["broken_high"])
            query = Query.of(finding=f"{BROKEN}{rule}", entry=r["entry"])
            note = NOTE.format(**r) + (TESTED.format(**r) if r["tested"] else "")
            row[r["entry"]] = metric_cell(estimate, SHARE, "mean", note, yes=query, k=r["broken"], n=r["conversations"])
        rows.append(row)
    columns = (Heading(key="rule", title="Rule"), *(Heading(key=entry, title=entry) for entry in entries))
    return Table(columns=columns, rows=tuple(rows), caption=CAPTION)


def _success_table(success: Any) -> Table:
    rows = []
    for r in success.to_dict("records"):
        row: dict[str, Any] = {"entry": r["entry"], "cases": str(r["cases"])}
        for name in ("success", "weighted"):
            estimate = Estimate(estimate=r[name], low=r[f"{name}_low"], high=r[f"{name}_high"])
            row[name] = metric_cell(estimate, SHARE, "mean")
        rows.append(row)
    titles = {"entry": "Entry", "cases": "Cases", "success": "Success, plain", "weighted": "Success, by tickets"}
    columns = tuple(Heading(key=key, title=title) for key, title in titles.items())
    caption = "Success over all cases, and with each intent as frequent as among the desk's tickets; 95% intervals."
    return Table(columns=columns, rows=tuple(rows), caption=caption)
