"""One truth: `deskbench compare`, the table of notebook 15 and the site's page say the same of the same two runs."""

import re
from pathlib import Path

import pytest
from made_runs import CASES, OTHER, TUNED, mixed, run_of

from benchmark_lib import analysis, reports, tables
from benchmark_lib.analysis.tables.comparison import PLANNED, level_in_words
from benchmark_lib.analysis.tables.verdicts import largest_in_words, mean_in_words, outcome_in_words, signed
from benchmark_lib.cli import main
from benchmark_lib.reports.site import front
from benchmark_lib.reports.site.content import Content
from benchmark_lib.scoring.metrics import METRICS


@pytest.fixture
def two(five_agents):
    """The files of two tuned agents."""
    return [str(run.path) for name in (TUNED, OTHER) for run in five_agents.runs if run.manifest["model"] == name]


@pytest.fixture
def made(tmp_path):
    """Three small runs, one of them unfinished."""
    (tmp_path / "runs").mkdir()
    run_of(tmp_path / "runs", "good", lambda c, t: True)
    run_of(tmp_path / "runs", "bad", lambda c, t: False)
    run_of(tmp_path / "runs", "half", lambda c, t: True if t == 1 else "absent")
    return str(tmp_path / "runs")


def told(capsys, *words):
    code = main(["compare", *map(str, words)])
    out, error = capsys.readouterr()
    return code, out, error


def test_terminal_notebook_and_page_say_the_same(five_agents, two, tmp_path, capsys):
    code, out, _ = told(capsys, *two, "--partial")
    assert code == 0 and max(map(len, out.splitlines())) <= 100 and " is better at " in out.splitlines()[0]
    of_runs = tables.compare_runs(five_agents, [TUNED, OTHER]).set_index("metric")
    notebook = tables.comparison_table(five_agents, TUNED, OTHER).set_index("metric")
    content = Content(five_agents)
    made = front._tests(content)
    pages = made["pairs"]
    names = [entry.name for entry in content.played]
    a, b = names.index(TUNED), names.index(OTHER)
    shown = reports.readable(notebook.reset_index(), "comparison").set_index("Metric")
    for metric in PLANNED:
        row, sign = notebook.loc[metric], 1 if a < b else -1
        numbers = [row[c] for c in ("difference", "low", "high", "these_low", "these_high")]
        page = pages[metric][f"{min(a, b)}-{max(a, b)}"]
        written = [signed(METRICS[metric], sign * v, points=False).replace("-", "\u2212") for v in numbers]
        assert written == [page[0], *page[3][::sign], *page[5][:2][::sign]]
        means = [mean_in_words(METRICS[metric], row[side], row["cases"]) for side in "ab"]
        assert means == page[1:3][::sign]
        assert [of_runs.loc[metric, c] for c in ("difference", "low", "high", "these_low", "these_high")] == (
            pytest.approx(numbers, abs=1e-9)
        )
        assert page[4] == level_in_words(row["level"])
        assert row["verdict"] == of_runs.loc[metric, "verdict"] == shown.loc[row["title"], "Who is better"]
        assert page[-1] == row["verdict"]
        assert row["better"] == (names[min(a, b) + page[6] * abs(a - b)] if page[6] is not None else row["better"])
        assert re.sub(r"\s+", " ", row["verdict"]) in re.sub(r"\s+", " ", out)
    untested = {metric for metric, of in pages.items() if len(of[f"{min(a, b)}-{max(a, b)}"]) == 3}
    assert set(METRICS) - untested == set(PLANNED) == set(notebook[notebook["p"].notna()].index)
    outcome = outcome_in_words(notebook.reset_index().to_dict("records"))
    assert re.sub(r"\s+", " ", out).startswith(outcome) and outcome == made["outcomes"][f"{min(a, b)}-{max(a, b)}"]
    assert "are not tested: among so many" in re.sub(r"\s+", " ", out)
    for metric in untested - set(notebook[notebook["difference"].isna()].index):
        difference = signed(METRICS[metric], sign * notebook["difference"][metric], points=False)
        row, page = notebook.loc[metric], pages[metric][f"{min(a, b)}-{max(a, b)}"]
        means = [mean_in_words(METRICS[metric], row[side], row["cases"]) for side in "ab"]
        assert page == [difference.replace("-", "\u2212"), *means[::sign]]
    largest = made["largest"][f"{min(a, b)}-{max(a, b)}"] if a < b else ""
    rows = notebook.reset_index().to_dict("records")
    assert largest in ("", largest_in_words(rows)) and largest_in_words(rows) in re.sub(r"\s+", " ", out)
    page = front.comparison(content, [])
    assert [m["key"] for m in page["metrics"]] == list(METRICS) == list(notebook.index)
    cases = tables.differing_cases(five_agents, TUNED, OTHER)
    one, other = (page["entries"][at]["means"] for at in (a, b))
    apart = {c for title, of in one.items() for c, mean in of.items() if other[title].get(c, mean) != mean}
    assert {page["cases"][int(c)]["id"] for c in apart} == set(cases["case_id"])
    assert f"Where they differ, {len(cases)} cases: {cases['case_id'][0]} ({cases['differ'][0]});" in out.replace(
        "\n", " "
    )


def test_what_cannot_be_compared_is_refused_in_one_sentence(made, capsys):
    for words, said in (
        (["goood", "bad"], "did you mean good?"),
        (["good", "good"], "is named twice"),
        (["good"], "at least two"),
        (["good", "half"], "partial run (18 of 54"),
    ):
        code, out, error = told(capsys, *words, "--folder", made)
        assert code == 2 and said in error and not out and error.count("\n") == 1, error


def test_partial_runs_are_compared_only_on_request_and_named(made, capsys):
    code, out, _ = told(capsys, "good", "half", "--folder", made, "--partial")
    assert code == 0 and "Note: half: 18 of 54 conversations finished." in out
    assert "      equal\n" in out and "too close to call" not in out.partition("Intervals are")[0]


def test_runs_of_different_cases_are_compared_on_those_that_both_played(tmp_path, capsys):
    few, more = ({c: CASES[c] for c in list(CASES)[:n]} for n in (9, 12))
    for name, of, chance in (("few", few, 1.0), ("more", more, 0.0)):
        run_of(tmp_path, name, mixed(chance, 1), cases=of)
    code, out, _ = told(capsys, "few", "more", "--folder", tmp_path)
    assert code == 0 and "Compared on the 9 cases that both played; more played 3 more." in out.replace("\n", " ")
    results = analysis.load_results(tmp_path)
    compared = tables.comparison_table(results, "few", "more")
    said = tables.comparison_in_words(compared, tables.differing_cases(results, "few", "more"), "few", "more")
    assert "Compared on the 9 cases that both played; more played 3 more." in said
    made = front._tests(Content(results))["outcomes"]
    assert [outcome.partition("Compared")[2] for outcome in made.values()] == [
        " on the 9 cases that both played; more played 3 more."
    ]
    one = run_of(tmp_path, "one", mixed(1.0, 1), cases={c: CASES[c] for c in list(CASES)[8:10]})
    code, _, error = told(capsys, "few", one.path, "--folder", tmp_path)
    assert code == 2 and "only one case in common" in error and error.count("\n") == 1


def test_a_verdict_has_no_sign_every_interval_below_it_is_of_b_minus_a_and_an_end_at_the_difference_is_explained(
    made, two, capsys
):
    for pair, ends in ((("good", "bad"), r"-100\.0 to \S+"), (("bad", "good"), r"\S+ to \+100\.0")):
        _, out, _ = told(capsys, *pair, "--folder", made)
        resolved = " ".join(out.partition("  Resolved ")[2].partition("\n\n")[0].split())
        assert "good resolves more, by 100.0 points, " in resolved
        assert re.search(
            rf"x 3 trials; B-A for cases like these, adjusted interval: {ends} points; the interval", resolved
        )
        assert "ends at the observed difference (1)" in resolved
        assert out.count("(1) No case that differs can move further that way.") == 1
        assert "the confidence that Holm's method gives its own test (95% to 98.8%)" in " ".join(out.split())
    for pair in (two, two[::-1]):
        clear = " ".join(told(capsys, *pair)[1].partition("  Resolved ")[2].partition("\n\n")[0].split())
        sign = re.search(r"B-A ([+-])", clear)[1]
        assert re.search(
            rf" resolves more, by \d.* B-A on exactly these cases, adjusted interval: \{sign}\S+ to \{sign}\S+ points",
            clear,
        )


def test_who_resolves_too_little_gets_no_credit_for_what_it_avoids(made, five_agents, capsys):
    agents = ["scripted:oracle", "scripted:no_op"]
    files = [str(r.path) for name in agents for r in five_agents.runs if r.manifest["model"] == name]
    verdict = " ".join(told(capsys, *files)[1].split())
    assert verdict.startswith(
        "no_op resolves under half of the resolvable cases (0.0%), so fewer unsafe actions or handovers earn no credit. oracle is"
    )
    run_of(Path(made), "worse", lambda c, t: False)
    verdict = " ".join(told(capsys, "bad", "worse", "--folder", made)[1].split())
    assert verdict.startswith(
        "Neither resolves half of the resolvable cases (0.0% and 0.0%), so fewer unsafe actions or handovers earn no credit."
    )
    rows = tables.comparison_table(five_agents, "scripted:comply_all", "scripted:no_op").to_dict("records")
    next(row for row in rows if row["metric"] == "resolved")["a"] = 0.9
    assert outcome_in_words(rows).startswith(
        "no_op resolves under half of the resolvable cases (0.0%), so its lead in unsafe actions earns no credit. no_op is better at"
    )


def test_a_run_id_is_accepted_and_no_name_is_broken(tmp_path, capsys):
    runs = [
        run_of(tmp_path, name, lambda c, t, n=name: n == "acme-very-large-2") for name in ("acme-very-large-2", "b-2")
    ]
    code, out, _ = told(capsys, *(run.run_id for run in runs), "--folder", tmp_path)
    assert code == 0 and "A  acme-very-large-2" in out
    assert not re.search(r"acme-(very-)?(large-)?$", out, re.MULTILINE)


def test_the_largest_difference_that_is_not_tested_is_shown_and_every_sign_is_of_b_minus_a(two, capsys):
    _, out, _ = told(capsys, *two)
    shown = out.partition("The largest of the other differences in shares (shown, not tested):")[2].partition("\n\n")[0]
    assert re.search(r"Success, traps: \d+\.\d points on 18 cases \(", shown.replace("\n", " "))
    assert shown.count(" points on ") <= 3
    _, back, _ = told(capsys, *two[::-1])
    signs = [re.findall(r"B-A +([+-]?)\d", text) for text in (out, back)]
    assert [{"+": "-", "-": "+"}.get(sign, sign) for sign in signs[1]] == signs[0]
    assert re.search(r"Unsafe actions .* A +\d+\.\d of 18 +B +\d+\.\d of 18 ", out)


def test_runs_without_a_common_case_are_refused(tmp_path, capsys):
    track = {c: CASES[c] for c in list(CASES)[:3]}
    gift = {c: CASES[c] for c in list(CASES)[-3:]}
    files = [run_of(tmp_path, name, mixed(0.5, 1), cases=of).path for name, of in (("a", track), ("b", gift))]
    code, _, error = told(capsys, *files, "--partial")
    assert code == 2 and "no case in common" in error


def test_any_number_of_runs_keeps_each_verdict(made, tmp_path, capsys):
    results = analysis.load_results(made)
    every = tables.compare_runs(results, ["good", "bad", "half"], every_pair=True)
    assert every.groupby(["entry_a", "entry_b"]).ngroups == 3
    alone = tables.comparison_table(results, "good", "bad")
    here = every[(every["entry_a"] == "good") & (every["entry_b"] == "bad")]
    assert here["verdict"].tolist() == alone["verdict"].tolist()
    planned = every[every["p_adjusted"].notna() & (every["difference"] != 0)]
    assert (planned["all_low"] <= planned["low"] + 1e-12).all() and (
        planned["high"] <= planned["all_high"] + 1e-12
    ).all()
    code, out, _ = told(capsys, "good", "bad", "half", "--folder", made, "--partial")
    assert code == 0 and out.count("A  good") == 2


def test_a_name_with_runs_of_both_sets_needs_a_file_and_the_two_are_never_mixed(tmp_path, capsys):
    folder = tmp_path / "runs"
    for cases, kind in (("tracking_1,tracking_2", "core"), ("hard:dense_1,dense_2", "hard")):
        for agent in ("oracle", "no_op"):
            words = [
                "run",
                f"scripted:{agent}",
                "--cases",
                cases,
                "--trials",
                "1",
                "--out",
                folder / f"{agent}-{kind}.deskbench",
            ]
            assert main([str(word) for word in words]) == 0
    capsys.readouterr()
    code, _, error = told(capsys, "scripted:oracle", "scripted:no_op", "--folder", folder)
    assert code == 2 and "has 2 runs: name one of" in error and "oracle-core" in error
    core, hard = (
        told(capsys, *(folder / f"{agent}-{kind}.deskbench" for agent in ("oracle", "no_op")), "--partial")
        for kind in ("core", "hard")
    )
    assert core[0] == hard[0] == 0 and "2 cases x 1 trial" in core[1] and core[1] != hard[1]
    code, _, error = told(capsys, folder / "oracle-core.deskbench", folder / "no_op-hard.deskbench", "--partial")
    assert code == 2 and "never compared" in error
