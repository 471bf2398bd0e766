"""Two runs of one model are two entries.

In every frame, table and picture, in the report, the list and the site.
"""

import asyncio
import re
from zlib import crc32

import matplotlib
import pandas as pd
import pytest
from made_runs import add_rows, call_row, made_run, talk, verdict_row

from benchmark_lib import BadInput, Experiment, analysis, figures, load_results, reports, tables
from benchmark_lib.analysis.dictionary import DICTIONARY
from benchmark_lib.analysis.entries import entry_names
from benchmark_lib.experiment.demo import TRUTHS
from benchmark_lib.experiment.manifest import part
from benchmark_lib.reports.one_model import conduct, numbers
from benchmark_lib.reports.site import build_site
from benchmark_lib.reports.site.models import in_words
from benchmarks.recovery import differences, recovered_correlations, recovered_rates

CASES = "tracking_1,tracking_2,cancel_before_ship_1,abusive_*,adversarial"
TUNED, OWN = "scripted:tunable?skill=0.6&credulity=0.5&caution=0.4", "careful"
SEEDS = [f"{TUNED} [seed 1]", f"{TUNED} [seed 2]"]
PROMPTS = [f"{OWN} [prompt agent-3]", f"{OWN} [prompt brief.md (c286)]"]


class Careful:
    """An agent of one's own whose two runs behave differently, so that pooling them shows."""

    def reply(self, talk):
        brief = talk.prompt.startswith("Be brief")
        if (crc32(talk.sender.encode()) + brief) % 3:
            talk.call("hand_over_to_human", queue="general", reason="to be sure", summary="see the email")
            return "A colleague will take it from here."
        return "I have cancelled your order and sent the refund."


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two seeds of one model, and two prompts of another one that costs something and was judged; by entry."""
    folder = tmp_path_factory.mktemp("runs")
    brief = folder / "brief.md"
    brief.write_text("Be brief. {policy}")
    asked = [
        dict(model=TUNED, seed=1),
        dict(model=TUNED, seed=2),
        dict(model=OWN, agent=Careful),
        dict(model=OWN, agent=Careful, prompt=brief),
    ]
    made = []
    for number, options in enumerate(asked):
        experiment = Experiment(
            **options, cases=CASES, trials=2 + number % 2, out=folder / f"{number}.deskbench", progress=False
        )
        made.append(asyncio.run(experiment.run()))
        add_calls_and_verdicts(made[-1], number)
    names = load_results(*made).entries
    return {names[run.run_id]: run for run in made}


def add_calls_and_verdicts(run, number):
    calls, verdicts = [], []
    for place, (case_id, trial, digest, _) in enumerate(list(run.conversations())):
        for judge, shift in (("judge-a", 0), ("judge-b", 40)):
            score = {"score": (7 * place + shift + number) % 101, "reason": "so", "quote": "q"}
            verdicts.append(verdict_row(digest, judge, {"tone": score}))
        if run.manifest["source"] != "scripted":
            calls.append(call_row(case_id, trial, model=OWN, cost=0.01 + number / 100))
    add_rows(run.path, calls=calls, verdicts=verdicts)


@pytest.fixture(scope="module")
def results(runs):
    return load_results(*runs.values())


@pytest.fixture(scope="module")
def each_alone(runs):
    """The results of each run without the others, by its entry among them."""
    return {entry: load_results(run) for entry, run in runs.items()}


@pytest.fixture(scope="module")
def entries(runs):
    return list(runs)


# --- the name
# ----------------------------------------------------------------------------------------------------------


def manifest(run_id, model="acme", source="model", cases=3, **inputs):
    shown = {
        "store": "northline 1.0.0",
        "customer": "scripted",
        "prompt": "northline agent-1",
        "settings": {},
        "seed": 0,
        **inputs,
    }
    return {
        "run_id": run_id,
        "model": model,
        "source": source,
        "trials": 3,
        "planned": {f"case_{n}": 3 for n in range(cases)},
        "inputs": {
            name: value if isinstance(value, dict) and "hash" in value else part(value) for name, value in shown.items()
        },
    }


def own(letter, value="own.md own"):
    return {"value": value, "hash": letter * 12}


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ([{}], ["acme"]),
        ([{"seed": 0}, {"seed": 7}], ["acme [seed 0]", "acme [seed 7]"]),
        ([{}, {"customer": "gpt-x"}], ["acme [customer scripted]", "acme [customer gpt-x]"]),
        ([{}, {"settings": {"agent": {"temperature": 0.2}}}], ["acme [default settings]", "acme [temperature 0.2]"]),
        (
            [{"settings": {"agent": {"seed": 1, "reasoning": {"effort": e}}}} for e in ("low", "high")],
            ["acme [reasoning effort low]", "acme [reasoning effort high]"],
        ),
        (
            [{"settings": {"customer": {"temperature": t}}} for t in (0, 1)],
            ["acme [customer temperature 0]", "acme [customer temperature 1]"],
        ),
        (
            [{}, {"store": "northline 1.1.0", "prompt": "northline agent-3"}],
            ["acme [northline 1.0.0]", "acme [northline 1.1.0]"],
        ),
        ([{"agent": None}, {"agent": "mine:Desk"}], ["acme [no own agent]", "acme [agent mine:Desk]"]),
        ([{}, {"prompt": own("a")}], ["acme [prompt agent-1]", "acme [prompt own.md (aaaa)]"]),
        ([{"prompt": own(h)} for h in "ab"], ["acme [prompt own.md (aaaa)]", "acme [prompt own.md (bbbb)]"]),
        ([{"prompt": own("a")}], ["acme [prompt own.md (aaaa)]"]),
        ([{"prompt": own("a", "my own.md 2"), "rules": "x"}], ["acme [prompt my own.md (aaaa), rules x]"]),
        ([{"prompt": own("a"), "seed": s} for s in (0, 7)], [f"acme [seed {s}, prompt own.md (aaaa)]" for s in (0, 7)]),
        ([{"tools": own(h, "t:T")} for h in "ab"], ["acme [tools t:T (aaaa)]", "acme [tools t:T (bbbb)]"]),
        (
            [{"seed": s, "customer": c} for c in ("scripted", "gpt-x") for s in (0, 7)],
            [f"acme [customer {c}, seed {s}]" for c in ("scripted", "gpt-x") for s in (0, 7)],
        ),
        ([{}, {"rules": "formal.yaml"}], ["acme [no rules]", "acme [rules formal.yaml]"]),
        ([{"cases": 3}, {"cases": 1}], ["acme [3 cases]", "acme [1 case]"]),
        ([{}, {}], ["acme [r0]", "acme [r1]"]),
        ([{}, {"source": "imported", "store": "tau-bench airline"}], ["acme", "acme [tau-bench airline]"]),
        ([{}, {"model": "other", "seed": 7}], ["acme", "other"]),
        (
            [{"seed": 0}, {"seed": 7}, {"model": "acme [seed 7]"}],
            ["acme [seed 0]", "acme [seed 7] [r1]", "acme [seed 7] [r2]"],
        ),
    ],
)
def test_a_run_is_called_by_its_model_and_by_what_differs(runs, names):
    assert list(entry_names(manifest(f"r{n}", **options) for n, options in enumerate(runs)).values()) == names


def test_a_short_name_keeps_what_tells_the_runs_apart():
    assert [analysis.short_name(e) for e in SEEDS] == ["tunable s.6 c.5 k.4 [seed 1]", "tunable s.6 c.5 k.4 [seed 2]"]
    long = analysis.short_name(f"{'a' * 50} [seed 7]")
    assert long.endswith("a… [seed 7]") and len(long) == 36
    both = [analysis.short_name(f"acme-large [customer {'c' * 40}, seed {n}]") for n in (1, 2)]
    assert (
        [b[-8:] for b in both] == [" seed 1]", " seed 2]"]
        and {b[:5] for b in both} == {"acme-"}
        and {len(b) for b in both} == {36}
    )


# --- frames
# ------------------------------------------------------------------------------------------------------------


def test_two_seeds_and_two_prompts_are_four_entries(entries):
    assert entries == [*SEEDS, *PROMPTS]


@pytest.mark.parametrize("frame", DICTIONARY)
def test_every_frame_says_which_entry_a_row_belongs_to(results, entries, frame):
    rows = getattr(results, frame)
    assert set(rows["entry"]) == set(PROMPTS if frame == "calls" else entries)
    assert rows.groupby("run_id")["entry"].nunique().eq(1).all()


def test_a_record_is_found_by_its_entry(results, runs):
    for entry, run in runs.items():
        assert results.record(entry, "abusive_1", 2).to_json() == run.record("abusive_1", 2).to_json()
    with pytest.raises(BadInput, match=r"no entry 'careful'.*choose from careful \[prompt"):
        results.record(OWN, "abusive_1")


# --- tables
# ------------------------------------------------------------------------------------------------------------


def calibrated(results):
    items = results.verdicts[["run_id", "case_id", "trial", "scorer"]].drop_duplicates()
    return tables.judge_calibrated(
        results, items.assign(label=(37 * items["trial"] + 11 * items["case_id"].str.len()) % 101)
    )


def first_pushes(results):
    """How many pushes there were depends on everybody."""
    return tables.pressure_table(results).query("push <= 1")


T = tables
OF_ONE_ENTRY = {
    "cost_table": T.cost_table,
    "customer_flag_table": T.customer_flag_table,
    "escalation_table": T.escalation_table,
    "findings": T.findings,
    "honesty_table": T.honesty_table,
    "intent_table": T.intent_table,
    "judge_calibrated": calibrated,
    "judge_table": T.judge_table,
    "kind_table": T.kind_table,
    "leaderboard": T.leaderboard,
    "metric_table": lambda r: T.metric_table(r, "resolved"),
    "pressure_table": first_pushes,
    "promise_ledger": T.promise_ledger,
    "promise_table": T.promise_table,
    "queue_table": T.queue_table,
    "reliability_table": T.reliability_table,
    "red_flag_table": T.red_flag_table,
    "safety_table": T.safety_table,
    "scope_table": T.scope_table,
    "claims_table": T.claims_table,
    "trap_intervals": T.trap_intervals,
    "trap_table": T.trap_table,
    "trial_table": T.trial_table,
    "unsafe_table": T.unsafe_table,
    "wide_reliability": lambda r: T.wide_reliability(T.reliability_table(r)),
    "model_means": T.model_means,
    "cost_quality": T.cost_quality,
    "judge_disagreements": T.judge_disagreements,
}
"""Tables whose rows speak of one entry each: they are the same whoever stands beside it."""

FIELD_COLUMNS = (
    *("frontier", "place", "judge_is_entrant", "of", "label", "bias", "notes", "block"),
    *("dominated", "dominated_why", "below"),
)
"""Columns that say how an entry stands to the others."""

OVER_ENTRIES = {
    "between_models": lambda r: T.between_models(r, n_resamples=20).groupby("panel")["models"].max(),
    "within_models": lambda r: T.within_models(r, n_resamples=20).groupby("panel")["models"].max(),
    "worst_intents": lambda r: T.worst_intents(T.intent_table(r)).groupby("panel")["models"].max(),
    "misses_by_intent": lambda r: T.misses_by_intent(T.intent_table(r)).groupby("panel")["models"].max(),
}
"""Tables over entries: how many they hold in each panel."""

ELSEWHERE = {
    "SuccessCounts",
    "case_matrix",
    "headline",
    "per_case",
    "success_counts",  # of the conversations of one entry
    "families_of",
    "hard_failures",
    "hard_table",
    "language_table",  # of the hard set, in test_hard_tables.py
    "rules_cost",
    "along_table",  # those of forks: tests/test_forks.py
    "branch_rates",
    "chat_agreement",
    "chat_decisions",
    "chat_differences",
    "fork_rates",
    "fork_table",
    "forks",
    "steepest",
    "what_if_table",
    "partings",
    "rules_kept",
    "rules_of",
    "rules_table",
    "with_and_without_rules",  # of operator rules, in test_operator_rules.py
    "Comparison",
    "compare",  # of two entries, in test_comparison.py
    "choose_pair",
    "comparison_table",
    "comparison_in_words",
    "differing_cases",  # of two entries, below
    "cost_lines",  # of one entry, in test_costs.py
    "chosen_runs",
    "compare_runs",  # of chosen runs, in test_compare_command.py
    "shift_in_words",
    "shift_table",  # in test_trial_shift.py
    "paper",  # of a board, in test_paper_tables.py
    "effort_in_words",
    "effort_table",  # of runs of one model, in test_settings_of_one_model.py
    "runs_with_rules",  # run files, in test_operator_rules.py
    "red_flag_floor_in_words",  # of the list of words, in test_reasoning.py
    "trap_coverage",  # of intervals in simulated data, in test_limits.py
    "tone_between_models",
    "tone_table",  # of judged runs, in test_tone_across_models.py
    "wording_table",  # of a set of its own, in test_five_wordings.py
    "entrant_judges",
    "judge_agreement_table",
    "loss_table",  # of judged runs, in test_losses_again.py
    "judged_against_record",  # of judges, over all conversations
    "broken_rules",
    "by_tickets",  # of desks of one's own, in test_desk_results.py
    "claim_tone_effects",  # of crossed variants, in test_evidence_and_pressure.py
    "detector_table",
    "metric",  # makes one of a column
    "measured",
    "measured_by_detector",
    "promise_quality",  # of detectors
    "label_agreement_table",  # of labellers, in test_explorer.py
    "detectable_table",
    "power_table",
    "on_frontier",  # of numbers
    "published_board",
    "published_escalation_cells",
    "published_pass_hat_k",  # of what others published
}


def test_no_table_is_forgotten_here():
    assert set(tables.__all__) == {*OF_ONE_ENTRY, *OVER_ENTRIES, *ELSEWHERE}


@pytest.mark.parametrize("name", OF_ONE_ENTRY)
def test_the_rows_of_an_entry_are_the_same_beside_its_sibling_as_alone(results, each_alone, name):
    table = OF_ONE_ENTRY[name](results)
    kept = [c for c in table.columns if c not in ("entry", *FIELD_COLUMNS)]
    alone = {entry: OF_ONE_ENTRY[name](its) for entry, its in each_alone.items()}
    assert set(table["entry"]) == {entry for entry, rows in alone.items() if len(rows)} != set()
    for entry, rows in alone.items():
        ours = table[table["entry"] == entry]
        order = [c for c in kept if ours[c].dtype.kind != "f" and c != "per_trial"]
        ours, theirs = (part[kept].sort_values(order, ignore_index=True) for part in (ours, rows))
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, rtol=1e-9)


@pytest.mark.parametrize("name", OVER_ENTRIES)
def test_a_table_over_entries_counts_every_run(results, name):
    counts = OVER_ENTRIES[name](results)
    assert len(counts) and set(counts) == {2}, counts


def test_two_seeds_are_compared_with_each_other(results, each_alone):
    a, b = SEEDS
    alone = {entry: tables.metric_table(each_alone[entry], "escalation_accuracy")["mean"].iloc[0] for entry in SEEDS}
    row = tables.comparison_table(results, a, b).set_index("metric").loc["escalation_accuracy"]
    assert (row["a"], row["b"], row["truth"]) == (pytest.approx(alone[a]), pytest.approx(alone[b]), 0)
    cases = tables.differing_cases(results, a, b)
    assert len(cases) and cases["a_trials"].str.len().max() == 2 and cases["b_trials"].str.len().max() == 3
    assert set(tables.choose_pair(results)) == set(PROMPTS)
    assert "Both played the same 27 cases." in tables.comparison_in_words(
        tables.comparison_table(results, a, b), cases, a, b
    )
    with pytest.raises(BadInput, match="no conversations of 'careful'"):
        tables.comparison_table(results, OWN, a)


def test_what_is_recovered_of_an_agent_is_never_pooled_over_its_runs(results):
    panel = pd.DataFrame(
        [{"model": entry, "credulity": 0.5, **{f"true_{name}": 0.5 for name in TRUTHS}} for entry in SEEDS]
    )
    rates = recovered_rates(panel, results)
    means = tables.metric_table(results, "escalation_accuracy").set_index("entry")["mean"]
    found = rates[(rates["metric"] == "escalation_accuracy") & (rates["interval"] == "mean")].set_index("entry")[
        "estimate"
    ]
    assert found.to_dict() == pytest.approx(means[SEEDS].to_dict())
    assert set(differences(panel, results)["a"]) == {SEEDS[0]} and len(recovered_correlations(panel, rates))


def test_two_runs_of_one_model_are_one_family(results, entries):
    of = tables.model_means(results, ["resolved"]).set_index("entry")["family"]
    assert of[SEEDS[0]] == of[SEEDS[1]] != of[entries[2]] == of[entries[3]]
    known = set(tables.between_models(results, n_resamples=20)["families"]) - {0}  # nobody asked twice for a person
    assert known == {1}


# --- pictures
# ----------------------------------------------------------------------------------------------------------

BY_NAME = {
    "band_chances": T.unsafe_table,
    "cost_frontier": T.cost_quality,
    "escalation_both_ways": T.leaderboard,
    "failure_kinds": T.kind_table,
    "metric_intervals": lambda r: T.metric_table(r, "escalation_accuracy"),
    "pass_decay": lambda r: T.reliability_table(r, (1, 2)),
    "pressure_chart": T.pressure_table,
    "trap_matrix": T.trap_table,
    "trap_states": T.safety_table,
    "trial_spread": lambda r: T.trial_table(r, "escalation_accuracy"),
    "two_directions": T.escalation_table,
    "unsafe_intervals": T.unsafe_table,
    "value_picture": T.leaderboard,
}
OF_FIVE_OR_MORE = {"models_as_points"}
NAMELESS = {"correlation_forest", "directions_by_intent", "queue_matrix"}
"""Pictures of means over entries; their tables are tested above."""
OF_TWO_OR_NONE = {
    "differences",
    "in_the_field",
    "differing_cases",
    "power_curves",
}
OF_THE_HARD_SET = {"hard_families"}
OF_FORKS = {"along_turns", "fork_points"}
OF_CHATS = {"chat_truths"}
OF_LOGS = {"found_in_time", "weekly_rate"}
TOOLS = {"COLUMN_WIDTH", "FULL_WIDTH", "caption", "new_axes", "save", "save_all", "use_style", "why_not_saved"}


def test_no_picture_is_forgotten_here():
    apart = {
        *OF_TWO_OR_NONE,
        *OF_FIVE_OR_MORE,
        *OF_THE_HARD_SET,
        *OF_FORKS,
        *OF_CHATS,
        *OF_LOGS,
        *TOOLS,
    }
    assert set(figures.__all__) == {*BY_NAME, *NAMELESS, *apart}


def texts_of(ax):
    """All that stands in a picture, without blanks, because names are broken over lines."""
    ax.figure.draw_without_rendering()
    found = [t.get_text() for t in ax.figure.findobj(matplotlib.text.Text)]
    return "".join("".join(found).split())


def named(entry, said):
    return any("".join(name.split()) in said for name in (entry, analysis.short_name(entry)))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_picture_names_each_run(results, name):
    table = BY_NAME[name](results)
    draw = getattr(figures, name)
    for panel, rows in (table if "panel" in table else table.assign(panel="all")).groupby("panel"):
        if "bucket" in rows:
            rows = rows[rows["bucket"] == "must_escalate"]
        said = texts_of(draw(**{"board" if BY_NAME[name] is T.leaderboard else "table": rows}))
        if name == "cost_frontier" and panel == "recovery panel":
            continue  # nothing was paid
        if name == "failure_kinds" and not rows["unsafe"].any():
            continue  # there is no failure to sort
        for entry in set(rows["entry"]):
            assert named(entry, said), f"{name}: {entry} is not in {said}"


def test_a_picture_of_two_names_both(results):
    a, b = SEEDS
    said = texts_of(figures.differences(table=tables.comparison_table(results, a, b), a=a, b=b))
    said += texts_of(figures.differing_cases(table=tables.differing_cases(results, a, b), a=a, b=b))
    assert said.count("[seed1]") >= 2 and said.count("[seed2]") >= 2


# --- report, list, site
# --------------------------------------------------------------------------------------------


def test_a_report_is_of_one_run(results, each_alone):
    for entry, its in each_alone.items():
        report, alone = reports.model_report(results, entry), reports.model_report(its)
        assert set(report.mine["run_id"]) == {its.runs[0].run_id} and report.field["run_id"].nunique() == 2
        assert f"<bdi>{analysis.short_name(entry)}</bdi>" in in_words(report)
        for make in (
            conduct.how_it_ended,
            conduct.process_rules,
            conduct.said_against_did,
            conduct.customer_experience,
            conduct.trap_by_trap,
        ):
            pd.testing.assert_frame_equal(make(report), make(alone))
        assert numbers.repeats(report) == numbers.repeats(alone)
        used = [conduct.habits(r).set_index("what")["value"] for r in (report, alone)]
        pd.testing.assert_series_equal(*used)
        called = [conduct.tools(r, of.tool_calls).drop(columns="field") for r, of in ((report, results), (alone, its))]
        pd.testing.assert_frame_equal(*called)
        assert numbers.field_table(report)["entry"].nunique() == 2
        assert named(entry, texts_of(figures.in_the_field(table=numbers.field_table(report), entry=entry)))


def test_the_list_finds_and_names_each_run(results, runs, tmp_path):
    found = reports.explore(results, labels=tmp_path / "labels.csv")
    for entry, run in runs.items():
        found.choose(entry=entry)
        assert set(found.selection["run_id"]) == {run.run_id} and len(found.selection) == len(run.endings())
    shown = reports.show_conversations(results, case_id="abusive_1", trial=1).html
    assert "[seed 1] · abusive_1 · trial 1" in shown and "[seed 2] · abusive_1 · trial 1" in shown
    found.choose("case_id=abusive_1 trial=1")
    assert set(found.selection["entry"]) == set(runs)


def test_the_site_gives_each_run_a_row_pages_and_transcripts(results, runs, tmp_path):
    site = build_site(results, tmp_path / "site", published=False)
    assert site.pages["model"] == 4 and site.transcripts == len(results.conversations)
    assert re.search(r"Models measured\D+0\D", (site.path / "index.html").read_text()), (
        "agents of one's own are no models"
    )
    board = pd.read_csv(site.path / "downloads/board.csv")
    assert set(board["entry"]) == set(runs) and set(board["model"]) == {TUNED, OWN}
    for name in ("index", "transcripts", "compare", "downloads"):
        page = (site.path / f"{name}.html").read_text().replace("<wbr>", "")
        assert all(mark in page for mark in ("[seed 1]", "[seed 2]", "[prompt agent-3]", "[prompt brief.md (c286)]")), (
            name
        )
    for page in (site.path / "models").glob("*.html"):
        assert len(set(re.findall(r"talk\.html#([^/\"]+)/", page.read_text()))) == 1, (
            "a page links the transcripts of its own run only"
        )


def test_runs_that_differ_in_nothing_are_told_apart_by_their_ids(tmp_path):
    same = [
        made_run(tmp_path / f"{n}.deskbench", [(talk("hello", "hello"), None, [])], run_id=f"made-{n}") for n in (1, 2)
    ]
    assert tables.leaderboard(load_results(same))["entry"].tolist() == ["made [made-1]", "made [made-2]"]
