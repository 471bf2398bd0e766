"""The page of one model, which is its report, with each trap and its deciding turn."""

from base64 import b64encode
from collections import defaultdict
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...analysis.counting import behind_finding, behind_median, behind_metric, behind_repeats, behind_trials, tally
from ...analysis.estimators.trials import FEW_TRIALS
from ...analysis.estimators.unsafe import BAND_TRAPS
from ...analysis.facets import flags_of, judged_by
from ...analysis.frames import Results
from ...analysis.panels import short_name
from ...analysis.query import KNOWN, YES
from ...analysis.tables.answers import Stakes
from ...analysis.tables.costs import cost_lines
from ...analysis.tables.leaderboard import RESOLVES_ENOUGH, TOO_LITTLE, band_in_words, does_too_little, worst_beside
from ...analysis.tables.scope import scope_table
from ...errors import BadInput
from ...extension import offer, offered
from ...project import PACKAGE, in_project, writing
from ...records import BUCKETS
from ...scoring.metrics import METRICS, Shown
from ...scoring.written import missing
from ..answers import scope_in_words, scope_rows
from ..html import POLICY, environment, render
from ..one_model import ModelReport, conduct, grades, model_report, numbers
from ..one_model.numbers import PLACES
from ..terminal import language_names
from .content import Content, Entry
from .conversations import ConversationPage, by_case, read_conversations, worth_quoting
from .front import ALL_METRICS, band, heading_of, was_run

if TYPE_CHECKING:
    from ..explorer.links import LinkedPage

Row = dict[str, Any]
PARTS = (
    *("head", "words", "metrics", "reliability", "scope", "intents"),
    *("traps", "rules", "tools", "endings", "cost", "all"),
)
"""The parts of the page, in order: the blocks of its template."""


def model_view(content: Content, entry: Entry, talks: list[ConversationPage], pooled: bool = False) -> Row:
    """Return everything on the page of one model; `pooled` advice includes its fresh sets."""
    report = ModelReport.of(content.conversations, content.board, entry.name, entry.row["panel"])
    rows, who, paid = content.rows(entry), entry.who, content.paid[entry.key]
    graded = _graded(report)
    metrics = [_metric(report, graded[name], who) for name in ALL_METRICS if was_run(METRICS[name], content)]
    talk_of = {(talk.view.case_id, talk.trial): talk for talk in talks}
    judged = {
        name: table[table["entry"] == entry.name].to_dict("records")
        for name in (("judge_table", "loss_table") if len(content.results.verdicts) else ())
        if name in offered("tables") and len(table := offer("tables", name)(content.results))
    }
    return {
        "entry": entry,
        "block": heading_of(entry.block),
        "runs": [content.manifests[r] for r in rows["run_id"].unique()],
        "customers": sorted(rows["customer"].unique()),
        "cases": rows["case_id"].nunique(),
        "total": len(rows),
        "missing": numbers.what_is_missing(report),
        "no_field": report.why_no_field,
        "words": in_words(report),
        "metrics": metrics,
        "cards": [m for m in metrics if Shown.CARD in m["metric"].shown],
        "flagged": int(flags_of(rows).sum()),
        "band": band(entry.row),
        "worst": worst_beside(entry.row),
        "too_little": TOO_LITTLE if does_too_little(entry.row) else "",
        "unsafe": content.unsafe.get(entry.key),
        "repeats": [
            row | {"behind": behind_repeats(rows[rows["bucket"] == row["bucket"]], **who, bucket=row["bucket"])}
            for row in numbers.repeats(report)
        ],
        "scope": _pooled_scope(content, entry) if pooled else model_scope(content, entry),
        "intents": _intents(report, who),
        "missed": [t for t in talks if t.view.bucket == "must_escalate" and t.state == "bad"],
        "languages": _languages(report, who),
        "traps": _traps(report, talks),
        "rules": [
            row | {"examples": [(talk_of[case, trial], times) for case, trial, times in row["examples"]]}
            for row in conduct.process_rules(report).to_dict("records")
        ],
        "own_rules": content.own_rules[content.own_rules["entry"] == entry.name].to_dict("records"),
        "said": [
            row | behind_finding(row["detector"], **who) for row in conduct.said_against_did(report).to_dict("records")
        ],
        "tools": conduct.tools(report, content.results.tool_calls).to_dict("records"),
        "habits": conduct.habits(report).to_dict("records"),
        "outcomes": conduct.how_it_ended(report).to_dict("records"),
        "endings": conduct.endings(report).to_dict("records"),
        "experience": conduct.customer_experience(report).to_dict("records"),
        "buckets": BUCKETS,
        "paid": cost_lines(paid).to_dict("records"),
        "paid_note": paid["reason"],
        "verdicts": [
            row | {name: {**who, name: judged_by(row["scorer"], row["judge"])} for name in ("judge_scored", "judged")}
            for row in judged.get("judge_table", [])
        ],
        "second_readings": judged.get("loss_table", []),
        "matrix": _matrix(talks),
    }


@dataclass(frozen=True, eq=False)
class ModelPage:
    """The page of one model outside a site: by part in a notebook, or as one file."""

    report: ModelReport
    content: Content
    view: Row

    def part(self, *names: str, most: int | None = None) -> "LinkedPage":
        """Return some of `PARTS` for a notebook, in which numbers open their conversations.

        The static form of the head contains the style of all parts.

        Parameters
        ----------
        most : int, optional
            How many traps are shown; all by default.

        Raises
        ------
        BadInput
            For a name that is not a part.
        """
        from ..explorer.links import LinkedPage

        if not names or not {*names} <= {*PARTS}:
            raise BadInput(f"there is no part {', '.join({*names} - {*PARTS})!r}: choose from {', '.join(PARTS)}")
        page, values = environment().get_template("site/model.html.j2"), self._values(most)
        html = "".join("".join(page.blocks[name](page.new_context(values))) for name in names)
        return LinkedPage(self.content.results, html, style="head" in names)

    def save(self, path: str | Path) -> Path:
        """Write the page as one self-contained file without links to conversations; return its path."""
        from ..explorer.links import unlinked

        look = (PACKAGE / "reports" / "assets" / "site.css").read_text(encoding="utf-8")
        digest = b64encode(sha256(look.encode()).digest()).decode()
        alone = {"here": "", "look": Markup(look), "csp": POLICY.replace("'self'", f"'sha256-{digest}'", 1)}
        html = render("site/model.html.j2", **self._values(), **alone)
        target = in_project(path)
        with writing(target, "path"):
            target.write_text(unlinked(html), encoding="utf-8")
        return target

    def _values(self, most: int | None = None) -> Row:
        site = {**self.content.about, "hard": False, "other": None}
        return {"v": self.view, "who": self.view["entry"].who, "root": "", "site": site, "most": most}


def model_page(
    results: Results, entry: str | None = None, *, stakes: Stakes | None = None, pooled: bool = False
) -> ModelPage:
    """Make the page of one model, as the site shows it; entry and errors as for `model_report`.

    Parameters
    ----------
    stakes : Stakes, optional
        Stakes for the advice on scope.
    pooled : bool
        Whether that advice also uses the model's runs on fresh sets.
    """
    report, content = model_report(results, entry), Content(results, stakes=stakes)
    chosen = next(e for e in content.played if (e.name, e.row["panel"]) == (report.entry, report.panel))
    talks = [talk for talk, _ in read_conversations(content, set(report.mine["run_id"])) if talk.entry is chosen]
    places = {case: place for place, case in enumerate(content.cases)}
    talks.sort(key=lambda t: (places[t.view.case_id], t.trial))
    return ModelPage(report, content, model_view(content, chosen, talks, pooled))


def in_words(report: ModelReport) -> Markup:
    """Return the verdict on one model, its traits and their thresholds, with names escaped."""
    metrics, row = _graded(report), report.row
    view = {
        "name": short_name(report.entry),
        "panel": report.panel,
        "kind": grades.TEXTS["kinds"].get(report.panel, ""),
        "metrics": metrics,
        "scored": any(not missing(metrics[name]["mean"]) for name in grades.VERDICT),
        "brought": [r for r in numbers.repeats(report) if r["bucket"] not in BUCKETS],
        "worst": worst_beside(row),
        "band": "" if row["band"] in ("none", "") else band_in_words(row),
        "band_traps": BAND_TRAPS,
        "too_little": TOO_LITTLE if does_too_little(row) else "",
        "dominance": grades.dominance(report),
        "traits": grades.traits(report),
        "languages": language_names(),
        "thresholds": grades.TEXTS,
        "enough": RESOLVES_ENOUGH,
    }
    return Markup(render("site/_grades.html.j2", w=view))


def _graded(report: ModelReport) -> dict[str, Row]:
    rows = numbers.at_a_glance(report).to_dict("records")
    return {r["metric"]: r | {"metric": METRICS[r["metric"]], "grade": grades.grade_of(report, r)} for r in rows}


def _metric(report: ModelReport, row: Row, who: dict[str, str]) -> Row:
    metric, reasons = row["metric"], row["reason"].split("; ")
    found = report.forms[metric.name][0]
    few = [reason for reason in reasons if reason.endswith(FEW_TRIALS)]
    return row | {
        "median": behind_median(report.mine, metric, **who),
        "behind": behind_metric(report.mine, metric, **who),
        "per_trial": list(zip(found.per_trial, behind_trials(report.mine, metric, **who), strict=True)),
        "method": found.mean.method,
        "reason": "; ".join(reason for reason in reasons if reason not in few),
        "few": few[0] if few else "",
    }


def model_scope(content: Content, entry: Entry) -> Row | None:
    """Return what the entry may answer alone at the stakes of the site; None without use cases."""
    table = content.scope.get(entry.key)
    return None if table is None else _scope(table, content, entry.who)


def _pooled_scope(content: Content, entry: Entry) -> Row:
    alike = content.conversations.merge(content.rows(entry)[["model", "settings"]].drop_duplicates())
    table = scope_table(alike, content.stakes, pooled=True)
    return _scope(table, content, {"entry": sorted(alike["entry"].unique())})


def _scope(table: Any, content: Content, who: Row) -> Row:
    rows = scope_rows(table)
    for row in rows:
        row["chosen"] = {**who, "use_case": row["title"]}
        tempted = {**row["chosen"], "bucket": "adversarial"}
        row["on_traps"] = ({**tempted, "unsafe": YES}, {**tempted, "unsafe": KNOWN})
        for intent in row["intents"]:
            intent |= {"chosen": row["chosen"] | {"intent": intent["intent"]}, "on_traps": row["on_traps"]}
    return {"said": scope_in_words(table, content.stakes), "rows": rows}


def _intents(report: ModelReport, who: dict[str, str]) -> list[Row]:
    rows = []
    for row in numbers.by_intent(report).query("bucket in @BUCKETS[:2]").to_dict("records"):
        chosen = {**who, "bucket": row["bucket"], "intent": row["intent"]}
        frame = report.mine[(report.mine["bucket"] == row["bucket"]) & (report.mine["intent"] == row["intent"])]
        counts = {flag: tally(frame[flag], **chosen) for flag in numbers.FLAGS}
        rows.append(row | counts | {"sometimes": {**chosen, "trials_succeed": "sometimes"}})
    return rows


def _languages(report: ModelReport, who: dict[str, str]) -> list[Row]:
    rows = []
    for language, some in report.mine[["language", "bucket", "success"]].groupby("language", sort=True):
        chosen = {**who, "language": str(language)}
        by_bucket = [tally(some[some["bucket"] == b]["success"], **chosen, bucket=b) for b in BUCKETS]
        name = language_names().get(str(language), str(language))
        rows.append({"language": name, "counts": by_bucket, "n": len(some), "chosen": chosen})
    return rows if len(rows) > 1 else []


def _traps(report: ModelReport, talks: list[ConversationPage]) -> list[Row]:
    found = by_case(talks)
    return [
        row | {"view": of_trap[0].view, "talks": of_trap, "quoted": worth_quoting(of_trap)}
        for row in conduct.trap_by_trap(report).to_dict("records")
        for of_trap in [found[row["trap"]]]
    ]


def _matrix(talks: list[ConversationPage]) -> list[Row]:
    rows = defaultdict(list)
    for _, of_case in sorted(by_case(talks).items()):
        rows[of_case[0].view.bucket, of_case[0].view.intent].append(of_case)
    ordered = sorted(rows.items(), key=lambda r: (PLACES.get(r[0][0], 9), r[0][1]))
    return [{"bucket": bucket, "intent": intent, "cases": cases} for (bucket, intent), cases in ordered]
