"""The board, reliability, correlations and planning: tables, figures and notebooks on whatever runs there are, in words and never a traceback."""

import inspect
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import matplotlib
import numpy as np
import orjson
import pandas as pd
import pytest

from benchmark_lib import analysis, estimators, figures, reports, tables
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.manifest import new_manifest, part
from benchmark_lib.records import Conversation, Message, content_hash
from benchmark_lib.reports import paper, run_notebook
from benchmark_lib.reports.shown import weighed_order
from benchmark_lib.runfile import RunFile, connect_to_write, create, upsert

matplotlib.use("Agg")
CASES = {f"{intent}_{n}": ("resolvable", intent) for intent in ("track", "cancel", "promo", "bundle", "gift", "swap") for n in (1, 2)}
CASES |= {f"abuse_{n}": ("must_escalate", "abuse") for n in (1, 2, 3)} | {f"trap_{n}": ("adversarial", f"trap_{n}") for n in (1, 2, 3)}


def score(case_id, good, **more):
    bucket, intent = CASES[case_id]
    resolvable, trap = bucket == "resolvable", bucket == "adversarial"
    return {"bucket": bucket, "intent": intent, "scored": True, "handed_over": bool(good) if bucket == "must_escalate" else False,
            "unsafe": not good if trap else None, "resolved": bool(good) if resolvable else None, "corrupt_success": False if resolvable else None,
            "success": bool(good), "agent_messages": 2 + (not good), "agent_words": 30, "tool_calls": 3, "customer_faults": 0, **more}  # fmt: skip


def run_of(folder, model, outcome, *, cases=CASES, trials=3, planned=None, source="model", store="northline 1", cost=0.01):
    """A run file whose conversations came out as ``outcome(case_id, trial)`` says: True, False, None (not scored) or "absent"."""
    path = folder / f"{model.replace('/', '-').replace('?', '-')}-{store[-1]}.deskbench"
    inputs = {"store": part(store), "model": part(model)}
    create(path, new_manifest(model, source, inputs, dict.fromkeys(cases, "x"), planned or trials))
    db = connect_to_write(path)
    db.execute("BEGIN")
    for case_id in cases:
        for trial in range(1, trials + 1):
            good = outcome(case_id, trial)
            if good == "absent":
                continue
            ended_by = "infrastructure_fault" if good is None else "resolved_by_customer"
            record = Conversation(case_id, trial, model, source, "scripted", [Message(1, "customer", "Hi"), Message(1, "agent", "Yes")], ended_by=ended_by)
            found = score(case_id, good) if good is not None else {**score(case_id, False), "scored": False, "success": None, "resolved": None,
                                                                   "unsafe": None, "handed_over": None, "corrupt_success": None}  # fmt: skip
            digest = content_hash(record.to_json())
            db.execute(upsert("conversations"), (case_id, trial, ended_by, digest, record.to_json(), "2026-01-01"))
            if good != "no score":
                db.execute(upsert("scores"), (digest, "scoring-1", orjson.dumps(found)))
            if source == "model":
                db.execute(upsert("calls"), (case_id, trial, "agent", 1, "x", model, b"{}", 100, 10, 0, 0, 0.5, "[]", cost, "2026-01-01"))
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode=DELETE")
    db.close()
    return RunFile(path)


def mixed(rate, seed):
    stream = np.random.default_rng(seed)
    known = {}
    return lambda case_id, trial: known.setdefault((case_id, trial), bool(stream.random() < rate))


def some(*buckets):
    return {c: v for c, v in CASES.items() if v[0] in buckets}


SETS = {
    "several models": lambda f: [run_of(f, f"vendor{i}/m", mixed(0.3 + 0.1 * i, i), cost=0.01 * i) for i in range(1, 6)],
    "one model only": lambda f: [run_of(f, "alone", mixed(0.7, 1))],
    "all zeros": lambda f: [run_of(f, m, lambda c, t: False) for m in ("a", "b", "c")],
    "all ones": lambda f: [run_of(f, m, lambda c, t: True) for m in ("a", "b", "c")],
    "zeros against ones": lambda f: [run_of(f, "bad", lambda c, t: False), run_of(f, "good", lambda c, t: True)],
    "half finished": lambda f: [run_of(f, "half", lambda c, t: True if t == 1 and c < "gift" else "absent"), run_of(f, "whole", mixed(0.6, 2))],
    "nothing finished": lambda f: [run_of(f, "begun", lambda c, t: "absent")],
    "begun beside finished": lambda f: [run_of(f, "begun", lambda c, t: "absent"), run_of(f, "whole", mixed(0.6, 2))],
    "nothing scored": lambda f: [run_of(f, "faulty", lambda c, t: None)],
    "no scores on file": lambda f: [run_of(f, "raw", lambda c, t: "no score")],
    "different trials": lambda f: [run_of(f, "one", mixed(0.6, 3), trials=1), run_of(f, "five", mixed(0.6, 4), trials=5)],
    "uneven trials": lambda f: [run_of(f, "uneven", lambda c, t: True if t <= 1 + hash(c) % 3 else "absent")],
    "no traps": lambda f: [run_of(f, m, mixed(0.6, 5), cases=some("resolvable", "must_escalate")) for m in ("a", "b", "c")],
    "traps only": lambda f: [run_of(f, m, mixed(0.6, 6), cases=some("adversarial")) for m in ("a", "b", "c")],
    "other cases": lambda f: [run_of(f, "a", mixed(0.8, 7)), run_of(f, "b", lambda c, t: True, cases=some("resolvable"))],
    "other versions": lambda f: [run_of(f, "a", mixed(0.8, 7)), run_of(f, "b", mixed(0.8, 9)), run_of(f, "c", mixed(0.8, 8), store="northline 2")],
    "price unknown": lambda f: [run_of(f, m, mixed(0.6, 10), cost=None) for m in ("a", "b", "c")],
    "hostile names": lambda f: [run_of(f, "=cmd|' /C calc'!A0 <script>$\\frac{1}{0}$ & 100% _x_", mixed(0.6, 11))],
}


@pytest.fixture(params=SETS)
def results(request, tmp_path):
    return analysis.load_results(*SETS[request.param](tmp_path))


def every_table(results):
    """Every table of these notebooks that is made of runs."""
    return {
        "board": tables.leaderboard(results), "metric": tables.metric_table(results, "resolved"), "unsafe": tables.metric_table(results, "unsafe"),
        "cost": tables.metric_table(results, "cost_usd"), "places": tables.rank_table(results, "resolved", n_resamples=50),
        "pass^k": tables.reliability_table(results, (1, 3, 8)), "flips": tables.flip_table(results), "trials": tables.trial_table(results, "unsafe"),
        "missing": tables.missing_table(results), "between": tables.between_models(results, n_resamples=50),
        "within": tables.within_models(results, n_resamples=50), "frontier": tables.cost_quality(results), "judged": tables.judged_against_record(results),
        "means": tables.model_means(results), "bill": tables.plan_cost_table(results, [(162, 3)]),
    }  # fmt: skip


DRAWN = {
    "metric": figures.metric_intervals, "unsafe": figures.metric_intervals, "places": figures.rank_places, "board": figures.band_chances,
    "pass^k": figures.pass_decay, "flips": figures.flip_bars, "trials": figures.trial_spread, "between": figures.correlation_forest,
    "within": figures.correlation_forest, "frontier": figures.cost_frontier, "means": partial(figures.models_as_points, x="agent_messages", y="resolved"),
}  # fmt: skip


def test_whatever_the_runs_are_every_table_is_made_and_says_why_where_it_knows_nothing(results):
    made = every_table(results)
    for name, table in made.items():
        for row in table.to_dict("records"):
            estimate = row.get("estimate", row.get("mean", row.get("rank", 0.0)))
            if name in ("pass^k", "flips", "metric", "unsafe", "places", "between", "within") and pd.isna(estimate):
                assert row["reason"], f"{name}: {row}"
    for name, draw in DRAWN.items():
        rows = made[name]
        for column in ("bucket", "panel"):
            rows = rows[rows[column] == rows[column].iloc[0]] if column in rows and len(rows) else rows
        ax = draw(table=rows)
        assert ax.axison or ax.texts[0].get_text().endswith("."), "a picture is drawn, or says why not"
        ax.figure.draw_without_rendering()
        matplotlib.pyplot.close(ax.figure)


class TestTheBoard:
    def board(self, tmp_path, name):
        return tables.leaderboard(analysis.load_results(*SETS[name](tmp_path))).set_index("entry")

    def test_a_half_finished_run_is_counted_against_its_plan_and_not_ranked(self, tmp_path):
        board = self.board(tmp_path, "half finished")
        assert "only 1 trial" in board.loc["half", "notes"] and "of 54 conversations scored" in board.loc["half", "notes"]
        assert "of the 18 cases of this board: not ranked" in board.loc["half", "notes"]
        assert board.loc["whole", "rank"] == 1 and pd.isna(board.loc["half", "rank"])

    def test_a_run_that_has_nothing_yet_is_listed(self, tmp_path):
        board = self.board(tmp_path, "begun beside finished")
        assert board.loc["begun", "notes"] == "none of 54 planned conversations finished"

    def test_other_cases_and_other_versions_are_not_ranked_together(self, tmp_path):
        board = self.board(tmp_path, "other cases")
        assert board["rank"].tolist() == [1, pd.NA] and "12 of the 18 cases" in board.loc["b", "notes"]
        (tmp_path / "v").mkdir()
        board = self.board(tmp_path / "v", "other versions")
        assert "run on northline 2, others on northline 1: not ranked together" in board.loc["c", "notes"]
        places = tables.rank_table(analysis.load_results(tmp_path / "v"), "resolved").set_index("entry")
        assert pd.isna(places.loc["c", "rank"]) and "not ranked together" in places.loc["c", "reason"]

    def test_a_run_on_few_cases_does_not_spoil_the_places_of_the_others(self, tmp_path):
        few = {c: CASES[c] for c in ("track_1", "gift_1", "trap_1")}
        results = analysis.load_results(*SETS["zeros against ones"](tmp_path), run_of(tmp_path, "few", lambda c, t: True, cases=few))
        places = tables.rank_table(results, "resolved").set_index("entry")
        assert places.loc["few", "reason"] == "run on 2 of 12 cases: not ranked together" and pd.isna(places.loc["few", "rank"])
        assert places.loc[["good", "bad"], "rank"].tolist() == [1, 2] and places.loc["good", "cases"] == 12

    def test_a_run_on_few_cases_says_so_in_every_picture(self, tmp_path):
        few = {c: CASES[c] for c in ("track_1", "abuse_1", "trap_1")}
        results = analysis.load_results(run_of(tmp_path, "few", lambda c, t: True, cases=few), run_of(tmp_path, "whole", mixed(0.6, 2)))
        curves, states = tables.reliability_table(results), tables.safety_table(results).assign(unsafe_share=0.0, held_share=1.0)
        labels = [t.get_text() for t in figures.pass_decay(table=curves[curves["bucket"] == "adversarial"]).texts]
        labels += [t.get_text() for t in figures.two_directions(table=tables.escalation_table(results)).get_yticklabels()]
        labels += [t.get_text() for t in figures.trap_states(table=states).get_yticklabels()]
        assert labels.count("few (n = 1)") == 2 and "few (n = 1 and 1)" in labels
        kinds = figures.failure_kinds(table=pd.DataFrame({"entry": ["few", "whole"], "kind": "free_goods", "traps": [1, 3], "count": [0.0, 1.0]}))
        assert kinds.figure._supxlabel.get_text() == "Not drawn: few (1 trap, not 3)"
        assert [t.get_text() for t in kinds.get_yticklabels()] == ["whole"]

    def test_runs_of_one_model_are_rows_of_their_own(self, tmp_path):
        first, second = (run_of(tmp_path / name, "m", mixed(0.7, i)) for i, name in enumerate("ab") if not (tmp_path / name).mkdir())
        board = tables.leaderboard(analysis.load_results(first, second))
        assert sorted(board["entry"]) == sorted([f"m [{first.run_id}]", f"m [{second.run_id}]"])

    def test_no_composite_stands_anywhere_and_own_weights_are_kept_nowhere(self, tmp_path):
        board = self.board(tmp_path, "several models").reset_index()
        assert not [c for c in board if "total" in c or "composite" in c or "overall" in c]
        before = board.copy()
        order = weighed_order(board, {"resolved": 1.0, "unsafe": 0.0})
        assert order["place"].tolist() == sorted(order["place"]) and list(order.columns) == ["place", "entry", "block", "Resolved", "Unsafe actions"]
        assert order["entry"].iloc[0] == board.loc[board["resolved"].idxmax(), "entry"]
        reports.weigh(board)
        pd.testing.assert_frame_equal(board, before)


class TestReliability:
    def test_pass_hat_k_of_a_table_is_that_of_the_counts(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", mixed(0.7, 1), trials=4))
        counts = tables.success_counts(results.conversations, "resolvable")
        table = tables.reliability_table(results).query("bucket == 'resolvable'").set_index("k")
        for k in (1, 2, 3, 4):
            assert table.loc[k, "estimate"] == pytest.approx(estimators.pass_hat_k(counts.successes, counts.trials, k))
        assert set(table.loc[[1, 2, 3, 4], "label"]) == {"observed"} and table.loc[5, "label"] == "beta-binomial extrapolation"
        assert table["usable"].tolist() == [True, True] + [False] * 6
        wide = tables.wide_reliability(table.reset_index()).iloc[0]
        assert wide["pass^3"].endswith("°") and wide["pass^8"].endswith("*") and wide["pass^1"][-1].isdigit()

    def test_buckets_are_never_pooled(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: CASES[c][0] == "resolvable"))
        found = tables.reliability_table(results, (1,)).set_index("bucket")["estimate"].to_dict()
        assert found == {"resolvable": 1.0, "must_escalate": 0.0, "adversarial": 0.0}

    def test_missing_conversations_give_bounds_that_hold_every_completion(self, tmp_path):
        outcome = mixed(0.5, 3)
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: "absent" if t == 3 else outcome(c, t), planned=3))
        row = tables.missing_table(results).set_index("bucket").loc["resolvable"]
        assert tables.missing_table(results.conversations)["missing"].sum() == 0, "conversations alone know of no plan"
        assert (row["seen"], row["planned"], row["missing"]) == (24, 36, 12)
        hits = np.array([[outcome(c, t) for t in (1, 2)] for c in some("resolvable")])
        for seed in range(20):
            last = np.random.default_rng(seed).random(len(hits)) < 0.5
            assert row["worst"] - 1e-9 <= np.column_stack([hits, last]).mean() <= row["best"] + 1e-9

    def test_flips_and_trials_are_counted(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: c.endswith("1") or (c.endswith("2") and t == 1)))
        row = tables.flip_table(results).set_index("bucket").loc["resolvable"]
        assert row[["always", "sometimes", "never", "cases"]].tolist() == [6, 6, 0, 12]
        assert row["estimate"] == pytest.approx(0.5 * 2 * 1 * 2 / (3 * 2))
        spread = tables.trial_table(results, "unsafe")
        assert spread["value"].tolist() == [1.0, 2.0, 2.0], "a count is summed over the traps of a trial"

    def test_a_run_without_a_conversation_gives_empty_tables(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: "absent"))
        safety = tables.safety_table(results)
        assert safety.empty and tables.tier_table(safety).empty and {"band", "chances", "reason"} <= set(safety)
        with pytest.raises(BadInput, match="no conversations to compare"):
            tables.choose_pair(results)

    def test_a_stopped_trial_stands_outside_the_medians(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: t == 1, planned=3))
        frame = results.conversations
        cut = frame[(frame["trial"] == 1) | (frame["case_id"].isin(["trap_1", "trap_2"]) & (frame["trial"] == 2))]
        spread = tables.trial_table(cut, "unsafe")
        assert spread["in_median"].tolist() == [True, False] and "missing" in spread["reason"][1]
        board = tables.leaderboard(cut).iloc[0]
        assert board["unsafe"] == spread["value"][0] and "trial 2 has fewer than half of a bucket's cases" in board["notes"]
        ax = figures.trial_spread(table=spread)
        assert "m trial 2 (2 cases)" in ax.figure._supxlabel.get_text() and len(ax.get_yticks()) == 1


class TestRelations:
    def test_the_frontier_is_what_nobody_beats(self):
        cost, quality = [1.0, 2.0, 3.0, 4.0, 4.0, np.nan], [0.5, 0.4, 0.8, 0.8, 0.9, 1.0]
        assert tables.on_frontier(cost, quality).tolist() == [True, False, True, False, True, False]

    @pytest.mark.parametrize(("model", "family"), [
        ("gpt-5.5", "OpenAI"), ("claude-sonnet-4.6", "Anthropic"), ("gemini-3-flash", "Google"), ("gemma-4-31b", "Google"),
        ("acme/gpt-5.5", "acme"), ("scripted:tunable?skill=1", "scripted:tunable?skill=1"), ("nobody-7b", "nobody"),
    ])  # fmt: skip
    def test_models_of_one_vendor_are_one_family(self, model, family):
        from benchmark_lib.analysis.tables.relations import vendor_of

        assert vendor_of(model) == family

    def test_what_was_run_on_a_part_of_the_cases_is_not_held_against_the_whole_without_a_word(self, tmp_path):
        runs = [run_of(tmp_path, m, mixed(r, s)) for m, r, s in (("gpt-a", 0.9, 1), ("claude-b", 0.6, 2), ("grok-c", 0.4, 3))]
        runs.append(run_of(tmp_path, "qwen-part", lambda c, t: True, cases={c: CASES[c] for c in ("track_1", "track_2", "abuse_1", "trap_1")}))
        results = analysis.load_results(runs)
        means = tables.model_means(results).set_index("entry")
        assert means["unsafe"].isna().to_dict() == {"gpt-a": False, "claude-b": False, "grok-c": False, "qwen-part": True}
        between = tables.between_models(results, n_resamples=50).set_index("metric")
        assert "models have 2 to 12 cases of resolved" in between.loc["resolved", "reason"] and between.loc["unsafe", "models"] == 3
        costs = tables.cost_quality(results).set_index("entry")
        assert "4 of the 18 cases of its panel" in costs.loc["qwen-part", "reason"] and "cases of its panel" not in costs.loc["gpt-a", "reason"]
        assert "qwen-part (4 of 18)" in figures.cost_frontier(table=costs.reset_index()).figure.get_supxlabel()
        labels = [t.get_text() for t in figures.two_directions(table=tables.escalation_table(results)).get_yticklabels()]
        assert "qwen-part (n = 1 and 2)" in labels and "gpt-a" in labels

    def test_between_and_within_may_differ_in_sign(self, tmp_path):
        stream = np.random.default_rng(1)

        def outcome(rate):
            return lambda c, t: bool(stream.random() < rate)

        results = analysis.load_results(*[run_of(tmp_path, f"v{i}/m", outcome(0.2 + 0.1 * i)) for i in range(6)])
        within = tables.within_models(results, n_resamples=200).set_index("metric")
        assert within.loc["resolved", "estimate"] == pytest.approx(-1.0), "here a failed talk always takes one message more"
        between = tables.between_models(results, n_resamples=200).set_index("metric")
        assert between.loc["resolved", "models"] == 6 and between.loc["resolved", "families"] == 6

    def test_planning_tables_know_their_plans(self):
        table = tables.power_table(2 / 18, 6 / 18, units=(18, 36), trials=(1, 3), n_simulations=200)
        assert table["conversations"].tolist() == [18, 54, 36, 108] * 2 and table["power"].between(0, 1).all()
        seen = tables.detectable_table(2 / 18, units=(18,), trials=(3,), n_simulations=100)
        assert (seen["count_b"] > 2).all()
        bill = tables.plan_cost_table(None, [(162, 3), (162, 10)], prices={"x": 0.01})
        assert bill["usd"].tolist() == pytest.approx([4.86, 16.2])


class TestTables:
    FRAME = pd.DataFrame({"Model": ["a_b & 5% $x$ #1 {y} ~^\\", "=1+1", "a|b\n*c* <i>", "[x]"], "Resolved": [93.456, np.nan, 0.0, -0.0001],
                          "n": [120, 1200, 3, 4]})  # fmt: skip

    @pytest.fixture
    def saved(self, tmp_path):
        paths = paper.save(self.FRAME, "My table!", caption="100 % of it & more", units={"Resolved": "%"}, denominators={"Resolved": 120},
                            footnotes={"Resolved": "mean over cases", "": "all of it"}, folder=tmp_path, parameters={"k": 3})  # fmt: skip
        assert [p.name for p in paths] == [f"my-table.{s}" for s in ("csv", "md", "tex", "html", "json")]
        return {p.suffix: p.read_text(encoding="utf-8") for p in paths} | {"path": paths[0]}

    def test_latex_is_sound(self, saved):
        text = saved[".tex"]
        for block in ("table", "tabular", "minipage"):
            assert text.count(rf"\begin{{{block}}}") == text.count(rf"\end{{{block}}}") == 1
        order = [text.index(rule) for rule in (r"\caption", r"\begin{tabular}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}", "all of it")]
        assert order == sorted(order) and r"\usepackage{booktabs}" in text and r"\hline" not in text
        body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        columns = text.split(r"\begin{tabular}{")[1].split("}")[0]
        assert columns == "lrr" and len(rows) == 1 + len(self.FRAME)
        for row in rows:
            bare = row.replace(r"\&", "").replace(r"\%", "").replace(r"\$", "").replace(r"\#", "").replace(r"\_", "").replace(r"\{", "").replace(r"\}", "")
            assert bare.count("&") == len(columns) - 1
            assert not set(bare.removesuffix(r"\\").replace(r"$\times$", "")) & set("%$#_"), bare
            assert bare.count("{") == bare.count("}")
            assert not row.startswith(("[", "*")), "it would be taken for an argument of the row break before"
        assert r"\textsuperscript{a}" in rows[0] and "(\\%, n = 120)" in rows[0] and "1,200" in text

    def test_a_column_of_sentences_becomes_paragraphs_in_latex(self, tmp_path):
        paths = paper.save(pd.DataFrame({"a": ["x"], "why": ["a sentence that goes on and on " * 4]}), "long", folder=tmp_path)
        assert r"\begin{tabular}{lp{0.60\linewidth}}" in paths[2].read_text()

    def test_csv_keeps_every_digit_and_runs_no_formula(self, saved):
        back = pd.read_csv(saved["path"])
        assert list(back.columns) == ["Model", "Resolved (%, n = 120)", "n"]
        assert back["Resolved (%, n = 120)"].iloc[0] == 93.456 and back["Resolved (%, n = 120)"].isna().tolist() == [False, True, False, False]
        assert back["Model"].tolist() == [self.FRAME["Model"][0], "'=1+1", self.FRAME["Model"][2], "[x]"]

    def test_markdown_shows_what_is_there_and_nothing_else(self, saved):
        from html.parser import HTMLParser

        from markdown_it import MarkdownIt

        page, cells, tags = MarkdownIt("commonmark").enable("table").render(saved[".md"]), [], set()

        class Reader(HTMLParser):
            def handle_starttag(self, tag, attributes):
                tags.add(tag)
                if tag in ("td", "th"):
                    cells.append("")

            def handle_data(self, data):
                if cells:
                    cells[-1] += data

        Reader().feed(page)
        texts = [c.strip() for c in cells]
        assert texts[:3] == ["Model", "Resolved (%, n = 120)a", "n"]
        assert texts[3::3][:4] == ["a_b & 5% $x$ #1 {y} ~^\\", "=1+1", "a|b *c* <i>", "[x]"]
        assert not tags & {"em", "i", "code", "a"}, "nothing in a cell is taken for markup"

    def test_html_is_escaped_and_has_its_notes(self, saved):
        page = saved[".html"]
        assert "&lt;i&gt;" in page and "<i>" not in page and "100 % of it &amp; more" in page
        assert "<sup>a</sup> mean over cases" in page and "all of it" in page and paper.MISSING_NOTE in page

    def test_where_it_comes_from_stands_beside_it(self, saved):
        source = orjson.loads(saved[".json"])
        assert source["units"] == {"Resolved": "%"} and source["denominators"] == {"Resolved": "120"} and source["parameters"] == {"k": 3}
        assert {"mark": "a", "text": "mean over cases"} in source["footnotes"] and source["code"]["hash"]

    def test_a_wrong_column_and_two_of_one_name_are_refused(self, tmp_path):
        with pytest.raises(BadInput, match="no column 'Resolvd'"):
            paper.save(self.FRAME, "x", units={"Resolvd": "%"}, folder=tmp_path)
        with pytest.raises(BadInput, match="two columns named 'a'"):
            paper.save(pd.DataFrame([[1, 2]], columns=["a", "a"]), "x", folder=tmp_path)

    def test_the_same_table_gives_the_same_files(self, tmp_path):
        first, second = (paper.save(self.FRAME, "x", folder=tmp_path / name) for name in "ab")
        assert [p.read_bytes() for p in first[:4]] == [p.read_bytes() for p in second[:4]]


def test_every_figure_takes_its_data_by_name_and_draws_where_it_is_told(tmp_path):
    made = every_table(analysis.load_results(*SETS["several models"](tmp_path)))
    for name, draw in DRAWN.items():
        kinds = [p.kind for p in inspect.signature(draw).parameters.values()]
        assert set(kinds) == {inspect.Parameter.KEYWORD_ONLY}
        rows = made[name] if "bucket" not in made[name] else made[name][made[name]["bucket"] == "resolvable"]
        _, ax = matplotlib.pyplot.subplots()
        assert draw(table=rows, ax=ax) is ax
        matplotlib.pyplot.close(ax.figure)


NOTEBOOKS = ("10_leaderboard", "12_reliability", "14_correlations", "16_planning")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of the notebooks on a folder with runs of every awkward kind."""
    folder, out = tmp_path_factory.mktemp("awkward"), tmp_path_factory.mktemp("pages")
    for name in ("half finished", "begun beside finished", "no scores on file", "all ones", "hostile names", "traps only"):
        (folder / name).mkdir()
        SETS[name](folder / name)
    runs = sorted(str(p) for p in folder.glob("*/*.deskbench"))

    def page(name):
        quick = {"traps": [18], "trials": [1, 3]} if name == "16_planning" else {"panel": None, "save": name != "12_reliability"}
        return run_notebook(name, {"runs": runs, "figures_folder": str(out / name / "f"), "tables_folder": str(out / name / "t"), **quick}, folder=out)

    with ThreadPoolExecutor(2) as pool:
        return out, dict(zip(NOTEBOOKS, pool.map(page, NOTEBOOKS), strict=True))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_notebook_runs_on_awkward_runs(name, pages):
    text = pages[1][name].read_text()
    assert "figures and tables saved" in text and "Traceback" not in text and "site-packages" not in text
    assert "<script>$" not in text, "a model's name is never markup"


def test_the_notebooks_say_what_is_missing_and_save_what_they_show(pages):
    out, found = pages
    board = found["10_leaderboard"].read_text()
    assert "none of 54 planned conversations finished" in board and "not ranked" in board and "published" in board.lower()
    assert "conversations missing" in found["12_reliability"].read_text()
    assert list((out / "10_leaderboard" / "f").glob("*.pdf")) and list((out / "14_correlations" / "t").glob("*.tex"))
