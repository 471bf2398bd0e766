"""Advise in sentences: a model for each reader, and what one model may answer alone."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis.frames import Results
from ..analysis.panels import RESOLVES_ENOUGH, conversations_of, short_name
from ..analysis.tables import answers as asked
from ..analysis.tables import scope
from ..analysis.tables.answers import Answer, Question, Stakes, stakes_at
from ..analysis.tables.costs import cost_of_1000
from ..analysis.tables.leaderboard import leaderboard, worst_beside
from ..analysis.tables.verdicts import signed_with_interval
from ..cases.load import store_played
from ..commands import command_on_a_page as command
from ..endpoint.prices import CLOSED, OPEN, UNSTATED, load_prices
from ..errors import BadInput
from ..extension import offers
from ..scoring.metrics import METRICS, Shown, shown_on
from ..scoring.written import DASH, counted, in_words, percent, visible, words
from ..store import Store
from ..textfiles import read_yaml
from .html import plain_text, render
from .methods import days_played

SAID: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
SCOPE: dict[str, Any] = SAID["scope"]
FIRST_STEPS = tuple((words, command(*given.split())) for words, given in SAID["first steps"])
FULL_TRIALS = 3
OTHER_STAKES = (0.2, 5.0)
"""Factors on the stakes of a question, to show how much its answer depends on them."""
STAKE_OF = {"money": ("resolved", "resolved conversation"), "person behind": ("wrong", "wrong end")}
"""The stake to vary for each question with stakes, and the event that it values."""


@dataclass(frozen=True)
class Considered:
    """One language model on the board: `why` it is compared or not, and the next steps."""

    entry: str
    name: str
    compared: bool
    why: str
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Answers:
    """The answers for all readers; a notebook shows them as the site does.

    `dated` has the dates of the last conversation and of the prices; `alone` is what the safest models may answer
    alone; `desks` has a sentence for each model on a declared desk.
    """

    dated: str
    stakes: Stakes
    items: tuple[Answer, ...]
    other_stakes: dict[str, list[tuple[str, str]]]
    board: pd.DataFrame
    considered: tuple[Considered, ...]
    alone: tuple[str, ...] = ()
    desks: tuple[str, ...] = ()

    def said(self, item: Answer) -> str:
        """Return one answer in sentences; the first also says what may be answered alone."""
        alone = self.alone if item.question.name == "safest" else ()
        return " ".join([sentence_of(item), *alone])

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.items)

    def __getitem__(self, name: str) -> Answer:
        return {item.question.name: item for item in self.items}[name]

    def _repr_html_(self) -> str:
        return render("answers.html.j2", found=view(self), root="", pages={})


def stores_of(results: Results, near: Sequence[Path] = ()) -> dict[str, Store]:
    """Return the stores of runs by run_id; also search the folders of the run files."""
    stores = {run.run_id: store_played(run.manifest, [*near, run.path.resolve().parent]) for run in results.runs}
    return {run_id: store for run_id, store in stores.items() if store is not None}


def answers(
    results: Results | pd.DataFrame,
    stakes: Stakes | None = None,
    *,
    board: pd.DataFrame | None = None,
    stores: dict[str, Store] | None = None,
) -> Answers:
    """Return which model suits which reader, with the numbers and their certainty.

    Parameters
    ----------
    stakes : Stakes, optional
        By default the ``stakes.yaml`` in the folder of the store, or else the shipped ones.
    board, stores : DataFrame, dict, optional
        The results of `tables.leaderboard` and `stores_of`; computed by default.

    Examples
    --------
    >>> reports.answers(results, reports.Stakes(wrong=200.0))["person behind"].models  # doctest: +SKIP
    """
    stores = stores_of(results) if stores is None and isinstance(results, Results) else stores or {}
    stakes = stakes or stakes_at(*(store.path for store in stores.values()))
    board = leaderboard(results) if board is None else board
    rows, left_out = asked.candidates(results, board)
    given, others = [], {}
    for question in asked.questions(stakes):
        own_rows, why = _open_only(rows, left_out) if question.name == "open weights" else (rows, left_out)
        given.append(asked.answer(question, asked.with_stakes(own_rows, stakes), why))
        if question.name in STAKE_OF and len(given[-1].table) > 1:
            others[question.name] = _at_other_stakes(question.name, own_rows, stakes)
    alone = alone_in_brief(rows[rows["entry"].isin(given[0].models)], stakes)
    dated, days = f"prices of {load_prices().dated}", days_played(run.manifest for run in getattr(results, "runs", ()))
    dated = f"runs up to {days[-1]}, {dated}" if days else dated
    kinds = {store.kind.name for store in stores.values()}
    desks = tuple(said for say in offers("answers", kinds) for said in say(results, stakes, stores))
    return Answers(dated, stakes, tuple(given), others, board, considered(results, board), alone, desks)


def _open_only(rows: pd.DataFrame, left_out: str) -> tuple[pd.DataFrame, str]:
    known = rows["weights"] if "weights" in rows else rows["entry"]
    weights = known.where(known.isin([OPEN, CLOSED]), UNSTATED)
    kinds = weights.groupby(rows["entry"]).first().value_counts()
    parts = [f"{kinds[kind]} {SAID['weights'][kind]}" for kind in (CLOSED, UNSTATED) if kind in kinds]
    return rows[weights == OPEN], ", ".join(part for part in (*parts, left_out) if part)


def _at_other_stakes(name: str, rows: pd.DataFrame, stakes: Stakes) -> list[tuple[str, str]]:
    (stake, what), said = STAKE_OF[name], []
    for times in OTHER_STAKES:
        other = replace(stakes, **{stake: times * getattr(stakes, stake)})
        question = next(q for q in asked.questions(other) if q.name == name)
        found = asked.answer(question, asked.with_stakes(rows, other))
        said.append((SAID["at stake"].format(stake=getattr(other, stake), what=what), _who(found)))
    return said


# --- who is compared


def considered(results: Results | pd.DataFrame, board: pd.DataFrame) -> tuple[Considered, ...]:
    """Return every language model on the board, those that are compared first."""
    rows = conversations_of(results)
    models = board[board["panel"] == "models"].to_dict("records")
    able = [row for row in models if row["resolved"] >= RESOLVES_ENOUGH]
    version = Counter(row["versions"] for row in able).most_common(1)[0][0] if able else ""
    alike = rows[rows["entry"].isin([row["entry"] for row in able]) & (rows["store_version"] == version)]
    cases = {entry: set(some) for entry, some in alike.groupby("entry")["case_id"]}
    found = []
    for row in models:
        compared = row["block"] == "models"
        why, *steps = _able(row) if compared else _left_out(row, rows, version, cases)
        found.append(Considered(row["entry"], _name(row), compared, visible(why), tuple(steps)))
    return tuple(sorted(found, key=lambda one: not one.compared))


def _able(row: dict[str, Any]) -> tuple[Any, ...]:
    sizes = {name: counted(row[name], name[:-1]) for name in ("trials", "conversations")}
    why = SAID["compared"].format(**sizes)
    if row["trials"] >= FULL_TRIALS:
        return (why,)
    return why + SAID["hardly known"], (SAID["more trials"].format(full=FULL_TRIALS), _run(row))


def _left_out(row: dict[str, Any], rows: pd.DataFrame, version: str, cases: dict[str, set[str]]) -> tuple[Any, ...]:
    own, resolved, of = rows[rows["entry"] == row["entry"]], row["resolved"], row["resolved_n"]
    unscored, every = int(own["bucket"].isna().sum()), set().union(*cases.values())
    applies = {
        "nothing finished": not row["finished"],
        "unfinished": row["finished"] < row["planned"],
        "unscored": unscored,
        "not resolvable": resolved != resolved,
        "resolves little": resolved < RESOLVES_ENOUGH,
        "other version": row["versions"] != version,
        "fewer cases": True,
    }
    why, step, given = SAID["left out"][next(name for name, true in applies.items() if true)]
    numbers = {"unscored": unscored, "size": len(own), "version": version, "played": len(cases.get(row["entry"], ()))}
    numbers |= {"share": percent(resolved, 1), "resolvable": counted(int(of if of == of else 0), "resolvable case")}
    numbers |= {"least": percent(RESOLVES_ENOUGH), "every": counted(len(every), "case")}
    given = _run(row) if given == "run" else command("score", "FILE") if given else ""
    return why.format(**{**row, **numbers}), (SAID.get(step, step), given)


def _run(row: dict[str, Any]) -> str:
    return command("run", row["model"], "--trials", max(FULL_TRIALS, row["trials"]))


# --- in words


def sentence_of(found: Answer) -> str:
    """Return one answer in sentences, from `answer.txt.j2`."""
    rows = [row | {"name": _name(row)} for row in found.table.to_dict("records")] if len(found.table) else []
    numbers: dict[str, Any] = {"worst_of": partial(worst_beside, worst="worst"), "who": _who(found)}
    if len(rows) > 1:
        numbers |= {"gap": _gap(found.question, rows[1])}
        numbers |= {"equal": all(row["equal"] for row in rows[1:] if row["entry"] in found.models)}
    return " ".join(plain_text("answer.txt.j2", a=found, rows=rows, **numbers).split())


def answers_in_lines(found: Answers) -> list[str]:
    """Return the answers above a board: a line per question, or why there are no answers."""
    if not found.considered:
        return [SAID["none here"].format(step=FIRST_STEPS[0][0], command=FIRST_STEPS[0][1])]
    said = [f"{item.question.reader} {found.said(item)}" for item in found]
    if not any(one.compared for one in found.considered):
        left = (f"{one.name}: {one.why}. {': '.join(filter(None, one.steps[0]))}." for one in found.considered)
        said = [SAID["none yet"], *left]
    return ["Which model?", *said, *found.desks]


def _who(found: Answer) -> str:
    names = [visible(short_name(e)) for e in found.models]
    if found.verdict == asked.NOBODY:
        return "no answer"
    return SAID["between"].format(names=in_words(names)) if found.verdict == asked.CLOSE else names[0]


def _name(row: dict[str, Any]) -> str:
    return visible(short_name(row["entry"]))


def _gap(question: Question, row: dict[str, Any]) -> str:
    sign = -1 if question.metric.higher_is_better is False else 1
    low, high = sorted((sign * row["difference_low"], sign * row["difference_high"]))
    return signed_with_interval(question.metric, sign * row["difference"], low, high, row["level"]).replace("+", "")


# --- for a template


def view(found: Answers) -> dict[str, Any]:
    """Return the answers for a template: title, criterion, sentences, and rows of a table."""
    beside = {row["entry"]: _beside(row) for row in found.board.to_dict("records")}
    return {
        "dated": found.dated,
        "stakes": stakes_in_words(found.stakes),
        "nobody": not any(one.compared for one in found.considered),
        "considered": found.considered,
        "alone": found.alone,
        "desks": found.desks,
        "never": asked.never_offered(found.board.loc[found.board["panel"] != "models", "panel"]),
        "first_steps": FIRST_STEPS,
        "items": [
            {"question": item.question, "said": sentence_of(item)}
            | {"left_out": item.reason if item.verdict != asked.NOBODY else ""}
            | {"others": found.other_stakes.get(item.question.name, [])}
            | {"rows": [_shown(item, row) | {"beside": beside[row["entry"]]} for row in item.table.to_dict("records")]}
            for item in found.items
        ],
    }


def _beside(row: dict[str, Any]) -> str:
    main = [METRICS[name] for name in shown_on(Shown.MAIN)]
    parts = ", ".join(f"{m.title.lower()} {m.scale.written(row[m.name], brief=True)}" for m in main)
    worst, cost = worst_beside(row), cost_of_1000(row)
    cost = SAID["cost"].format(cost=cost) if cost[0].isdigit() else cost
    return "; ".join(filter(None, (parts, f"{worst} of unsafe actions" if worst else "", cost)))


def _shown(item: Answer, row: dict[str, Any]) -> dict[str, Any]:
    value = item.question.metric.scale.with_interval(row["value"], row["low"], row["high"])
    known = {"name": _name(row), "possible": row["entry"] in item.models, "value": value}
    return row | known | {"behind": _gap(item.question, row) if row["verdict"] else DASH}


# --- what one model may answer alone


def scope_in_words(table: pd.DataFrame, stakes: Stakes | None = None) -> list[str]:
    """Describe what one model may answer alone: verdicts, their basis and their limits.

    `table` is `tables.scope_table` of one entry, made with the same `stakes`.

    Raises
    ------
    BadInput
        For a table of several entries.
    """
    if table.empty:
        return [SCOPE["no conversation"]]
    if table["entry"].nunique() > 1:
        raise BadInput("the table covers several models: choose one with table[table['entry'] == NAME]")
    intents = table[table["intent"] != ""]
    said = [f"{SCOPE['verdicts'][verdict]}: {those}." for verdict, those in _use_cases(table).items()]
    counts = [f"{int((intents['verdict'] == v).sum())} {v}" for v in scope.VERDICTS]
    few, many = int(intents["conversations"].min()), int(intents["conversations"].max())
    spread = counted(many, "conversation") if few == many else f"{few} to {counted(many, 'conversation')}"
    said.append(
        SCOPE["singly"].format(intents=counted(len(intents), "intent"), spread=spread, counts=", ".join(counts))
    )
    panel = str(table["panel"].iloc[0])
    if panel in asked.NO_OFFER and panel != "models":
        who = "scripted agent" if table["source"].iloc[0] == "scripted" else asked.NO_OFFER[panel][0]
        said.insert(0, SCOPE["no offer"].format(who=f"{'an' if who[0] in 'aeiou' else 'a'} {who}"))
    lacking = too_few_for_anyone(intents, stakes or Stakes())
    limits = SCOPE["limits"].format(wrongly=percent(scope.WRONGLY), six=percent(scope.WRONGLY ** (1 / 6)))
    return [" ".join(said), *lacking, rests_on(stakes or Stakes()), limits]


def _use_cases(table: pd.DataFrame) -> dict[str, str]:
    found: dict[str, list[str]] = {verdict: [] for verdict in scope.VERDICTS}
    for row in scope_rows(table):
        without = [intent["title"] for intent in row["intents"] if intent["verdict"] == scope.NEVER]
        but = f" (except {in_words(without)})" if without and row["verdict"] in (scope.ALONE, scope.APPROVAL) else ""
        found[row["verdict"]].append(f"{row['title']}{but}")
    return {verdict: ", ".join(those) for verdict, those in found.items() if those}


def alone_in_brief(rows: pd.DataFrame, stakes: Stakes) -> tuple[str, ...]:
    """Return what each entry may answer alone or with approval, and a limit."""
    table, said = scope.scope_table(rows, stakes), []
    for entry, own_rows in table.groupby("entry", sort=False):
        titles = _use_cases(own_rows)
        form = SCOPE["brief"][2 * (scope.ALONE in titles) + (scope.APPROVAL in titles)]
        names = {"alone": titles.get(scope.ALONE), "approval": titles.get(scope.APPROVAL)}
        said.append(form.format(who=visible(short_name(entry)), **names))
    return *said, *too_few_for_anyone(table[table["intent"] != ""], stakes)[:1]


def too_few_for_anyone(intents: pd.DataFrame, stakes: Stakes) -> list[str]:
    """Warn if too few cases were played to clear any intent; name commands that add cases."""
    needed, most = scope.fewest_cases(scope.needed_shares(stakes)[0]), intents["played"].max()
    if needed is None or intents.empty or not 0 < most < needed:
        return []
    sets = ceil(needed / most)
    steps = {
        "made": command("generate", "--seed", "N", "--sets", sets, "--out", "fresh"),
        "played": command("run", "MODEL", "--store", "fresh/1"),
        "shown": command("notebook", "20_model_report", "-p", "pooled=true"),
    }
    return [said.format(needed=needed, most=most, sets=sets, **steps) for said in SCOPE["too few"]]


def stakes_in_words(stakes: Stakes) -> str:
    """Return the stakes and their origin in a sentence."""
    return SCOPE["stakes"].format(**vars(stakes), origin=stakes.origin)


def rests_on(stakes: Stakes) -> str:
    """Return the stakes, and the shares of correct conversations that they require."""
    fewest = scope.fewest_cases(scope.needed_shares(stakes)[0])
    cases = "no number of cases shows" if fewest is None else f"{counted(fewest, 'case')}, all correct, show"
    alone, approval = map(scope.share_in_words, scope.needed_shares(stakes))
    shares = {"cases": cases, "alone_share": alone, "approval_share": approval}
    return SCOPE["rests on"].format(**vars(stakes), **shares, origin=stakes.origin)


def scope_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each use case's row with the rows of its intents, for a template."""
    found: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        if not row["intent"]:
            found.append(row | {"intents": []})
            continue
        row["title"] = words(row["intent"])
        found[-1]["intents"].append(row)
        if row["verdict"] == scope.NEVER and found[-1]["verdict"] in (scope.ALONE, scope.APPROVAL):
            found[-1]["reason"] += f"; never: {row['title']}"
    return found
