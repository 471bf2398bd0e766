"""One model at several settings: labelled on the board, and compared pair by pair with what each costs."""

import pytest
from made_runs import change_manifest, mixed, run_of

from benchmark_lib import load_results, reports, tables
from benchmark_lib.analysis.entries import entry_meant, settings_in_words, steps
from benchmark_lib.analysis.estimators.comparisons import SURE
from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.manifest import part
from benchmark_lib.runfile import RunFile


def run_at(folder, rate, cost, *, seed=1, customer="scripted", **body):
    """A made run of one model at a setting, with a known rate of success and cost of a conversation."""
    folder.mkdir()
    run = run_of(folder, "acme", mixed(rate, seed), cost=cost)
    inputs = run.manifest["inputs"] | {"settings": part({"agent": body} if body else {}), "customer": part(customer)}
    change_manifest(run.path, inputs=inputs)
    return RunFile(run.path)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Effort that is known to buy much from low to high, and nothing from low to medium."""
    base = tmp_path_factory.mktemp("effort")
    known = (("high", 0.97, 0.04, 3), ("low", 0.2, 0.01, 5), ("medium", 0.2, 0.02, 6))
    return load_results(*(run_at(base / e, rate, cost, seed=s, reasoning_effort=e) for e, rate, cost, s in known))


def test_what_was_planted_is_found_and_nothing_else(planted):
    table = tables.effort_table(planted)
    assert list(dict.fromkeys(zip(table["value_a"], table["value_b"]))) == [("low", "medium"), ("low", "high")]
    of = table.set_index(["value_b", "metric"])
    bought, nothing = of.loc[("high", "resolved")], of.loc[("medium", "resolved")]
    assert bought["word"] == SURE and bought["low"] < 0.77 < bought["high"] and bought["b"] > bought["a"]
    assert nothing["word"] != SURE and bought["cases"] == nothing["cases"] == 12
    assert of.loc[("high", "cost_usd"), "difference"] == pytest.approx(0.03)


def test_each_step_is_a_sentence_with_its_cost_and_the_price_of_one_more_resolved(planted):
    medium, high = tables.effort_in_words(tables.effort_table(planted))
    assert "reasoning effort from low to high: " in high and "resolved " in high and "(12 cases)" in high
    assert "a difference of 30.00 USD" in high and "Each further case resolved costs" in high
    assert "every planned metric is too close to call" in medium and "Each further" not in medium


def test_seven_settings_that_change_nothing_raise_hardly_an_alarm(tmp_path):
    runs = [run_at(tmp_path / f"{n}", 0.6, 0.01, seed=20 + n, temperature=n / 10) for n in range(8)]
    table = tables.effort_table(load_results(*runs))
    assert len(table["entry_b"].unique()) == 7 and (table["word"] == SURE).sum() <= 1


def test_runs_that_differ_in_more_than_one_thing_are_no_step(tmp_path):
    low = run_at(tmp_path / "a", 0.5, 0.01, reasoning_effort="low")
    other = run_at(tmp_path / "b", 0.5, 0.01, customer="gpt-x", reasoning_effort="high")
    both = run_at(tmp_path / "c", 0.5, 0.01, reasoning_effort="high", temperature=1)
    assert steps(run.manifest for run in (low, other, both)) == []
    assert tables.effort_table(load_results(low, both)).empty


def test_the_board_has_one_name_with_labelled_settings(planted):
    board = tables.leaderboard(planted)
    assert sorted(board["entry"]) == [f"acme [reasoning effort {e}]" for e in ("high", "low", "medium")]
    alone = tables.leaderboard(load_results(planted.runs[0]))
    assert alone["entry"].tolist() == ["acme"] and alone["settings"].tolist() == ["reasoning effort high"]
    assert reports.readable_board(alone)["Settings"].tolist() == ["reasoning effort high"]


def test_an_own_prompt_and_rules_are_settings(planted):
    manifest = planted.runs[0].manifest
    more = {"prompt": part("brief.md brief"), "rules": part("formal.yaml"), "store": part("northline 1")}
    words = settings_in_words(manifest | {"inputs": manifest["inputs"] | more})
    assert words == f"reasoning effort high, prompt brief.md ({more['prompt']['hash'][:4]}), rules formal.yaml"


def test_the_name_that_tables_show_is_accepted_wherever_a_run_is_named(tmp_path, monkeypatch, capsys):
    runs = tmp_path / "data" / "runs"
    runs.mkdir(parents=True)
    for n, effort in enumerate(("low", "high")):
        run_at(tmp_path / effort, 0.5 + n / 4, 0.01, reasoning_effort=effort).path.rename(runs / f"{effort}.deskbench")
    monkeypatch.chdir(tmp_path)
    low, high = "acme [reasoning effort low]", "acme [reasoning effort high]"
    results = load_results("data/runs")
    assert set(results.entries.values()) == {low, high}
    for name in (f'"{low}"', "low", "low.deskbench"):
        assert set(results.where(f"entry={name}")["entry"]) == {low}
    assert main(["compare", low, "high"]) == 0 and f"A  {low}" in capsys.readouterr().out
    assert main(["runs", "show", high]) == 0 and "high.deskbench" in capsys.readouterr().out
    assert main(["watch", "--once", low]) == 0 and capsys.readouterr().out
    for asked in (lambda: results.where("entry=acme"), lambda: entry_meant(results, "acme")):
        with pytest.raises(BadInput, match="'acme' has 2 runs: name one, .*effort high.* or .*effort low"):
            asked()
    assert main(["compare", "acme", "high"]) == 2 and "'acme' has 2 runs: name one of" in capsys.readouterr().err
    assert main(["compare", "acme [reasoning effort]", "high"]) == 2 and "there is no run" in capsys.readouterr().err
