"""The advice on one model's scope in sentences and as rows of a page, and its badge."""

from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis.estimators.estimate import counted
from ..analysis.panels import labelled, short_name
from ..analysis.tables.answers import NO_OFFER, Stakes
from ..analysis.tables.leaderboard import worst_beside
from ..analysis.tables.paper import paper
from ..analysis.tables.scope import (
    ALONE,
    APPROVAL,
    NEVER,
    VERDICTS,
    WRONGLY,
    fewest_cases,
    needed_shares,
    scope_table,
    share_in_words,
)
from ..commands import command_on_a_page as command
from ..errors import BadInput
from ..figures.style import paths_for
from ..scoring.written import in_words, percent, visible, words
from ..textfiles import read_yaml
from .html import render

SAID: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))


def scope_in_words(table: pd.DataFrame, stakes: Stakes | None = None) -> list[str]:
    """Describe what one model may answer alone: verdicts, their basis and their limits.

    `table` is `tables.scope_table` of one entry, made with the same `stakes`.

    Raises
    ------
    BadInput
        For a table of several entries.
    """
    if table.empty:
        return [SAID["no conversation"]]
    if table["entry"].nunique() > 1:
        raise BadInput("the table covers several models: choose one with table[table['entry'] == NAME]")
    intents = table[table["intent"] != ""]
    said = [f"{SAID['verdicts'][verdict]}: {those}." for verdict, those in _use_cases(table).items()]
    counts = [f"{int((intents['verdict'] == v).sum())} {v}" for v in VERDICTS]
    few, many = int(intents["conversations"].min()), int(intents["conversations"].max())
    spread = counted(many, "conversation") if few == many else f"{few} to {counted(many, 'conversation')}"
    said.append(SAID["singly"].format(intents=counted(len(intents), "intent"), spread=spread, counts=", ".join(counts)))
    panel = str(table["panel"].iloc[0])
    if panel in NO_OFFER and panel != "models":
        who = "scripted agent" if table["source"].iloc[0] == "scripted" else NO_OFFER[panel][0]
        said.insert(0, SAID["no offer"].format(who=f"{'an' if who[0] in 'aeiou' else 'a'} {who}"))
    said += too_few_for_anyone(intents, stakes or Stakes())
    limits = SAID["limits"].format(wrongly=percent(WRONGLY), six=percent(WRONGLY ** (1 / 6)))
    return [" ".join(said), rests_on(stakes or Stakes()), limits]


def _use_cases(table: pd.DataFrame) -> dict[str, str]:
    found: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    for row in scope_rows(table):
        without = [intent["title"] for intent in row["intents"] if intent["verdict"] == NEVER]
        but = f" (except {in_words(without)})" if without and row["verdict"] in (ALONE, APPROVAL) else ""
        found[row["verdict"]].append(f"{row['title']}{but}")
    return {verdict: ", ".join(those) for verdict, those in found.items() if those}


def alone_in_brief(rows: pd.DataFrame, stakes: Stakes) -> str:
    """Return a sentence per entry: what it may answer alone and what with approval."""
    table, said = scope_table(rows, stakes), []
    for entry, mine in table.groupby("entry", sort=False):
        titles = _use_cases(mine)
        form = SAID["brief"][2 * (ALONE in titles) + (APPROVAL in titles)]
        names = {"alone": titles.get(ALONE), "approval": titles.get(APPROVAL)}
        said.append(form.format(who=visible(short_name(entry)), **names))
    return " ".join([*said, *too_few_for_anyone(table[table["intent"] != ""], stakes)[:1]])


def too_few_for_anyone(intents: pd.DataFrame, stakes: Stakes) -> list[str]:
    """Warn if too few cases were played to clear any intent; name commands that add cases."""
    needed, most = fewest_cases(needed_shares(stakes)[0]), 0 if intents.empty else int(intents["played"].max())
    if needed is None or not 0 < most < needed:
        return []
    sets = ceil(needed / most)
    steps = {
        "made": command("generate", "--seed", "N", "--sets", sets, "--out", "fresh"),
        "played": command("run", "MODEL", "--store", "fresh/1"),
        "shown": command("notebook", "20_model_report", "-p", "pooled=true"),
    }
    return [said.format(needed=needed, most=most, sets=sets, **steps) for said in SAID["too few"]]


def stakes_in_words(stakes: Stakes) -> str:
    """Return the stakes and their origin in a sentence."""
    return SAID["stakes"].format(**vars(stakes), origin=stakes.origin)


def rests_on(stakes: Stakes) -> str:
    """Return the stakes, and the shares of correct conversations that they require."""
    fewest = fewest_cases(needed_shares(stakes)[0])
    cases = "no number of cases shows" if fewest is None else f"{counted(fewest, 'case')}, all right, show"
    alone, approval = map(share_in_words, needed_shares(stakes))
    shares = {"cases": cases, "alone_share": alone, "approval_share": approval}
    return SAID["rests on"].format(**vars(stakes), **shares, origin=stakes.origin)


def scope_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the row of each use case with those of its intents, for a template."""
    found: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        if not row["intent"]:
            found.append(row | {"intents": []})
            continue
        row["title"] = words(row["intent"])
        found[-1]["intents"].append(row)
        if row["verdict"] == NEVER and found[-1]["verdict"] in (ALONE, APPROVAL):
            found[-1]["reason"] += f"; never: {row['title']}"
    return found


SIZE, PAD = 11, 8
"""Font size of a badge, and the space next to a text, in pixels."""


def badge(board: pd.DataFrame, model: str, *, folder: str | Path | None = None) -> str:
    """Return the badge of one model as SVG: means of resolved and unsafe, with n and interval.

    Unsafe actions also have their worst trial. With a `folder` it is saved as ``badge-MODEL.svg``.

    Raises
    ------
    BadInput
        For a model that is not on the board.
    """
    table, row = paper(board, columns=["resolved", "unsafe"], models=[model]), board.set_index("entry", drop=False)
    cells = {name: table.rows[0][name] for name in ("resolved", "unsafe")}
    said = [f"{name} {c.number}{c.scale.sign} of {c.estimate.n} ({c.interval})" for name, c in cells.items()]
    kind = labelled(row.loc[model]).removeprefix(short_name(model)).strip(" ()")
    said[-1] = ", ".join(filter(None, (said[-1], worst_beside(row.loc[model]))))
    text, name = " · ".join(filter(None, (*said, kind))), visible(f"Deskbench {short_name(model)}")
    left = round(_width(name)) + 2 * PAD
    width = left + round(_width(text)) + 2 * PAD
    svg = render("badge.svg.j2", name=name, said=text, left=left, width=width, size=SIZE)
    if folder is not None:
        paths_for(f"badge-{model}", folder, ["svg"])[0].write_text(svg, encoding="utf-8")
    return svg


def _width(text: str) -> float:
    # Both fonts of the badge have the same width.
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), text.replace("$", r"\$"), size=SIZE, prop=FontProperties(family="DejaVu Sans"))
    return float(path.get_extents().width)
