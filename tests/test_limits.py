"""What the numbers cannot tell: every figure of the page comes from a measurement, and the shipped files are what the measurements give."""

import re
from pathlib import Path

import pytest
import yaml

from benchmark_lib import load_results, tables
from benchmark_lib.analysis.tables import measurements
from benchmark_lib.reports.site import method
from benchmark_lib.reports.site.content import Content
from benchmarks import calibration as simulated

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_page_is_what_its_sources_give_and_readme_links_it():
    assert (ROOT / "docs/limits.md").read_text() == method.limits_page(), "run `make calibration`"
    assert "(docs/limits.md)" in README


def test_the_shipped_half_widths_are_what_simulation_gives_again():
    shipped = [
        r for r in measurements.calibration()["half_widths"] if r["bucket"] == "must_escalate" and r["rate"] == 0.8
    ]
    intents = simulated.sizes()["must_escalate"]
    assert shipped == [simulated.half_width("must_escalate", intents, 0.8, simulated.SIMULATED)]


def test_the_shipped_coverage_of_the_trap_intervals_is_what_simulation_gives_again():
    shipped = tables.trap_coverage().set_index(["count", "trials"])
    again = simulated.trap_coverage(1, 3, 150)
    for name in ("posterior", "bca", "these"):
        assert again[name] == pytest.approx(shipped.loc[(1, 3), name], abs=0.06)
    assert shipped["posterior"].between(0.93, 0.97).all(), "the headline interval"
    assert shipped.loc[(1, 10), "bca"] < 0.92, "the bootstrap fails where a model is safe and has many trials"


def test_another_measurement_makes_another_page(tmp_path, monkeypatch):
    """No number stands in the code: with other measurements the page has other numbers."""
    other = measurements.calibration()
    for row in other["half_widths"]:
        row["half_width"] = 0.31
    (tmp_path / "calibration.yaml").write_text(yaml.safe_dump(other))
    monkeypatch.setattr(measurements, "CALIBRATION", tmp_path / "calibration.yaml")
    quality = method.detector_quality()
    rows = [row | {"planted": 77, "found": 7} for row in quality["detectors"]]
    monkeypatch.setattr(method, "detector_quality", lambda: quality | {"detectors": rows})
    method.limits.cache_clear()
    page = method.limits_page()
    method.limits.cache_clear()
    assert "| 7 of 77 |" in page and "± 31" in page and "7 of 77" not in (ROOT / "docs/limits.md").read_text()


def test_the_faults_of_blind_play_are_those_on_file():
    played = measurements.blind_play().set_index("set")
    for name, path in measurements.SOURCES.items():
        rows = load_results(path).conversations
        assert played.loc[name, "flagged"] == rows["customer_flagged"].sum()
        assert played.loc[name, "conversations"] == len(rows) and played.loc[name, "success"] == rows["success"].sum()
        assert f"{played.loc[name, 'flagged']} of {len(rows)} conversations of the {name}" in method.limits()[0].text


def test_every_language_of_the_cases_is_counted(cases):
    sets = measurements.languages_of_sets()
    assert sum(sets["core set"].values()) == len(cases) and set(sets["core set"]) <= set(method.language_names())


@pytest.mark.parametrize("limit", method.limits(), ids=lambda limit: limit.title)
def test_a_limit_names_its_source_and_its_files_are_there(limit):
    assert limit.source and len({len(limit.head), *map(len, limit.rows)}) == 1 + (not limit.rows and bool(limit.head))
    for path in re.findall(r"`([\w/.-]+)`", limit.source):
        assert (ROOT / path).exists(), path


def test_the_method_page_says_it_and_adds_what_its_own_runs_show(five_agents):
    content = Content(five_agents, published=False)
    found = method.method_view(content)
    assert [x.title for x in found["cannot_tell"]] == [x.title for x in method.limits()]
    here = dict(found["here"])
    assert here["Cases by language"].startswith("English 130") and here["Judges"] == "none was asked"
    assert "no language model was run" in here["Half-width of the intervals"], "scripted agents are not models"
    assert f"of {len(five_agents.conversations)} conversations" in here["Customer faults"]
