"""A run with tools of the user's own is scored, judged, compared, exported and shown like any other."""

import asyncio
import shutil
import sys
from pathlib import Path

import orjson
import pytest
import yaml
from run_server import copy_store

from benchmark_lib import BadInput, Experiment, load_results, load_store
from benchmark_lib.analysis.tables.pairs import why_partial
from benchmark_lib.cases.load import cases_played, load_cases, same_cases, store_of, store_played
from benchmark_lib.cli import main
from benchmark_lib.experiment.again import rescore
from benchmark_lib.extras.judges import judging
from benchmark_lib.reports.fetch import DossierStore
from benchmark_lib.reports.site import build_site
from benchmark_lib.runfile import RunFile
from benchmark_lib.store import load_tools
from benchmark_lib.store.tools import source_hashes

EXAMPLE = Path(__file__).parents[1] / "notebooks" / "own_desk"
CASE = "damaged_item_lending"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with a store named ``lendshop``, the module ``lending`` and a finished run on both."""
    folder = tmp_path_factory.mktemp("own")
    store = copy_store(folder, files=1).rename(folder / "lendshop")
    shutil.copy(EXAMPLE / "lending_case.yaml", store / "cases" / "lending.yaml")
    shutil.copy(EXAMPLE / "lending_phrases.yaml", store / "phrases" / "lending.yaml")
    info = yaml.safe_load((store / "store.yaml").read_text())
    (store / "store.yaml").write_text(yaml.safe_dump(info | {"name": "lendshop"}))
    shutil.copy(EXAMPLE / "lending.py", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        options = {"store": "lendshop", "tools": "lending:lend_bag", "prompt": EXAMPLE / "lending_prompt.md"}
        for agent in ("oracle", "no_op"):
            run = Experiment(
                f"scripted:{agent}", cases=CASE, out=f"{agent}.deskbench", trials=2, progress=False, **options
            )
            asyncio.run(run.run())
    yield folder
    sys.modules.pop("lending", None)


@pytest.fixture
def folder(played, tmp_path, monkeypatch):
    """A copy of that folder that is the current one."""
    here = shutil.copytree(played, tmp_path / "here")
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p or ".").resolve() != played])
    return here


def without_declaration(path):
    """The manifest of a run from before the manifest kept the tools."""
    manifest = orjson.loads(orjson.dumps(RunFile(path).manifest))
    del manifest["inputs"]["tools"]["declared"]
    return manifest


def test_the_manifest_keeps_where_each_own_tool_is_and_how_it_was_declared(folder):
    part = RunFile("oracle.deskbench").manifest["inputs"]["tools"]
    (kept,) = part["declared"]
    assert (part["value"], kept["name"], kept["module"], kept["write"]) == (
        "lending:lend_bag",
        "lend_bag",
        "lending",
        True,
    )
    assert kept["schema"]["function"]["parameters"]["required"] == ["order_id", "product_id"]
    assert [kept["source"]] == source_hashes(load_tools("lending:lend_bag"))


def test_scores_are_made_again_with_the_named_tools(folder, capsys):
    before = RunFile("oracle.deskbench").scores()
    assert main(["score", "oracle.deskbench", "--again", "--tools", "lending:lend_bag"]) == 0
    assert "scored 2 of 2" in capsys.readouterr().out
    assert RunFile("oracle.deskbench").scores() == before and all(s["success"] for s in before.values())


def test_days_that_an_accepted_call_names_are_grounded(folder):
    run = RunFile("oracle.deskbench")
    assert "for 14 days" in run.record(CASE, 1).replies()[-1].text
    assert [scores["said_ungrounded"] for scores in run.scores().values()] == [0, 0]


def test_a_run_file_never_says_which_code_runs(folder, capsys):
    Path("lending.py").write_text("raise SystemExit('never run')")
    assert main(["score", "oracle.deskbench", "--again"]) == 2
    said = capsys.readouterr().err
    assert "oracle.deskbench was played with tools of your own: name them with --tools lending:lend_bag" in said
    assert said.count("\n") == 1


def test_the_same_tool_in_another_module_is_named_with_tools_and_another_tool_is_refused(folder, capsys):
    Path("lending.py").rename("moved_lending.py")
    assert main(["score", "oracle.deskbench", "--again", "--tools", "moved_lending:lend_bag"]) == 0
    Path("else_lending.py").write_text(Path("moved_lending.py").read_text().replace("= 14", "= 10"))
    assert main(["score", "oracle.deskbench", "--again", "--tools", "else_lending:lend_bag"]) == 2
    Path("no_lending.py").write_text(
        'from benchmark_lib.store import tool\n@tool()\ndef f(desk) -> dict:\n    """F."""\n'
    )
    assert main(["score", "oracle.deskbench", "--again", "--tools", "no_lending:f"]) == 2
    assert "the tool lend_bag, which no_lending:f lacks" in capsys.readouterr().err


def test_pages_tables_and_exports_need_no_module_and_run_none(folder, monkeypatch):
    Path("lending.py").write_text("raise SystemExit('never run')")
    results = load_results("oracle.deskbench", "no_op.deskbench")
    manifest = RunFile("oracle.deskbench").manifest
    assert cases_played(manifest, store_played(manifest)).keys() == {CASE}
    dossier = DossierStore(results).dossier(manifest["run_id"], CASE, 1)
    assert dossier.case is not None and "lend_bag" in dossier.html()
    built = build_site(results, folder / "site")
    assert built.transcripts == 4 and "Flies tomorrow" in (folder / "site" / "index.html").read_text() + "".join(
        p.read_text() for p in (folder / "site" / "cases").glob("*.html")
    )
    assert main(["compare", "oracle.deskbench", "no_op.deskbench", "--partial"]) == 0
    assert main(["export", "oracle.deskbench", "--format", "openai-chat", "--out", "chats"]) == 0
    (chats,) = Path("chats").glob("*.chats.jsonl")
    declared = [t["function"]["name"] for t in orjson.loads(chats.read_bytes().splitlines()[0])["tools"]]
    assert "lend_bag" in declared
    assert main(["watch", "oracle.deskbench", "--page", "--once"]) == 0
    run = RunFile("oracle.deskbench")
    assert judging.check_run(run, store_of(run.path, run.manifest), False)[CASE].id == CASE


def test_a_run_from_before_still_has_its_pages_and_is_scored_with_tools(folder):
    manifest = without_declaration("oracle.deskbench")
    assert store_played(manifest) is None and cases_played(manifest, store_played(manifest)) == {}
    assert why_partial(RunFile("oracle.deskbench")).endswith("cases played")
    path = Path("oracle.deskbench")
    with pytest.raises(BadInput, match="name them with --tools lending:lend_bag"):
        store_of(path, manifest, carried_out=True)
    store = store_of(path, manifest, tools="lending:lend_bag", carried_out=True)
    assert CASE in same_cases(path, manifest, store, "score it")


def test_a_hostile_declaration_is_passed_over(folder):
    manifest = without_declaration("oracle.deskbench")
    for wrong in ("text", [1], [{"name": 1}], [{"name": "lend_bag", "module": "os", "write": True}], {"name": "x"}):
        manifest["inputs"]["tools"]["declared"] = wrong
        assert store_played(manifest) is None
    named = RunFile("oracle.deskbench").manifest
    for module in ("this", "antigravity", "benchmark_lib.cli", "..", "", "lendshop", "a.b.c"):
        named["inputs"]["tools"]["declared"][0]["module"] = module
        with pytest.raises(BadInput, match="name them with --tools lending:lend_bag"):
            store_of(Path("oracle.deskbench"), named, carried_out=True)
    assert "antigravity" not in sys.modules


def test_a_run_without_own_tools_is_left_as_it_is(folder, store):
    manifest = {"source": "model", "inputs": {"store": {"value": "northline 1.2.0", "hash": ""}}, "cases": {}}
    for tools in ({}, {"tools": {"value": [], "hash": ""}}):
        manifest["inputs"] |= tools
        found = store_of(Path("x"), manifest, tools="lending:lend_bag")
        assert (found.hash, found.tools.keys()) == (store.hash, store.tools.keys())


def test_cases_with_own_tools_are_read_with_them_and_a_missing_tool_says_how_to_name_it(folder, capsys):
    assert (
        main(["audit", "--store", "lendshop", "--cases", CASE, "--tools", "lending:lend_bag", "--show", "oracle"]) == 0
    )
    assert "lent you a bag" in capsys.readouterr().out
    assert main(["audit", "--store", "lendshop", "--cases", CASE]) == 2
    assert "name a tool of your own with --tools module:name" in capsys.readouterr().err
    shop = load_store("lendshop", "lending:lend_bag")
    assert [c.id for c in load_cases(shop, CASE)] == [CASE]


def test_rescoring_takes_the_tools_themselves_in_a_notebook(folder):
    assert rescore("oracle.deskbench", again=True, tools=load_tools("lending:lend_bag")) == (2, 2)


def test_a_key_that_an_own_tool_returns_is_not_recorded(folder, monkeypatch):
    secret = "tk-0123456789abcdef"
    monkeypatch.setenv("SHOP_API_KEY", secret)
    source = (folder / "lending.py").read_text()
    leak = "    return {'debug': 'Bearer ' + os.environ['SHOP_API_KEY'],"
    (folder / "leaking.py").write_text("import os\n" + source.replace("    return {", leak))
    options = {"store": "lendshop", "tools": "leaking:lend_bag", "prompt": EXAMPLE / "lending_prompt.md"}
    run = Experiment("scripted:oracle", cases=CASE, out="leak.deskbench", trials=1, progress=False, **options)
    (record,) = asyncio.run(run.run()).records()
    (result,) = (call.result for call in record.tool_calls if call.name == "lend_bag")
    assert result["debug"] == "Bearer [key]" and secret.encode() not in Path("leak.deskbench").read_bytes()
