"""Bad files beside good ones, text that would steer a terminal, stores that nobody finished: each named, none obeyed."""

import asyncio
import base64
import codecs
import io
import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from urllib.parse import quote

import pytest
import yaml
from made_runs import change_rows, made_run, play_agents
from run_server import copy_store
from servers import Answer, ScriptedServer

from benchmark_lib import BadInput, Experiment, load_results
from benchmark_lib.cli import main, play
from benchmark_lib.cli.codes import CRASHED, FINISHED, REFUSED
from benchmark_lib.reports.explorer import import_labels, read_labels
from benchmark_lib.reports.explorer.labels import COLUMNS
from benchmark_lib.runfile import RunFile
from benchmark_lib.textfiles import read_yaml

EVIL = "gpt\x1b[2J\x1b]0;own\x07 \u202eevil\u2066 名前–"


@pytest.fixture
def folder(project, oracle_run):
    runs = project / "data" / "runs"
    runs.mkdir(parents=True)
    shutil.copy(oracle_run, runs / "sound.deskbench")
    play_agents(project, ["scripted:no_op"], cases="tracking_1", trials=1)
    bad = shutil.move(project / "0.deskbench", runs / "spoilt.deskbench")
    change_rows(bad, "UPDATE conversations SET record = replace(record, 'customer', 'costumer') WHERE id = 1")
    (runs / "folder.deskbench").mkdir()
    (runs / "nowhere.deskbench").symlink_to(runs / "gone")
    (runs / "text.deskbench").write_text("no run file")
    os.mkfifo(runs / "pipe.deskbench")
    return runs


def test_bad_files_in_a_folder_are_named_and_left_out(folder, capsys):
    with pytest.warns(UserWarning, match="left out"):
        assert set(load_results(folder).conversations["model"]) == {"scripted:oracle"}
    assert main(["site", "--out", str(folder.parent / "site")]) == FINISHED
    said = capsys.readouterr().err
    assert all(name in said for name in ("spoilt", "folder", "nowhere", "text", "pipe")) and "Traceback" not in said


def test_a_bad_file_that_was_named_is_refused(folder, capsys):
    for path in folder.glob("*.deskbench"):
        if not path.name.startswith("sound"):
            assert main(["compare", str(path), str(folder / "sound.deskbench")]) == REFUSED, path
    assert "Traceback" not in capsys.readouterr().err


def test_a_finished_run_shows_its_board_beside_a_bad_file(folder, capsys):
    line = ["run", "scripted:oracle", "--cases", "tracking_1", "--trials", "1", "--out", str(folder / "new.deskbench")]
    assert main(line) == FINISHED
    said = capsys.readouterr()
    assert "The board" in said.out and "spoilt" in said.err


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_names_of_a_file_steer_no_terminal_and_fit_any_encoding(tmp_path, oracle_run, encoding, monkeypatch):
    copy = tmp_path / "a.deskbench"
    run = RunFile(oracle_run)
    rows = [(replace(record, model=EVIL), None, []) for record in run.records()]
    made_run(copy, rows, manifest={**run.manifest, "model": EVIL, "run_id": "evil-1"})
    for words in (["runs", "show", copy], ["compare", copy, oracle_run], ["score", copy]):
        streams = {"stdout": "strict", "stderr": "backslashreplace"}  # as a process has them
        for name, errors in streams.items():
            monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors))
        code = main([*map(str, words)])
        said = "".join(getattr(sys, name).detach().getvalue().decode(encoding) for name in streams)
        assert "\x1b" not in said and "\u202e" not in said and "\u2066" not in said and "Traceback" not in said
        assert code != CRASHED and "gpt" in said, said


def test_a_crash_has_a_code_of_its_own(monkeypatch, capsys):
    monkeypatch.setattr("benchmark_lib.cli.cases.execute", lambda options: 1 / 0)
    assert main(["cases"]) == CRASHED and "fault of Deskbench" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, said",
    [
        ("[" * 5000 + "]" * 5000, "levels deep"),
        (
            "a: &a [x, x]\n"
            + "".join(f"{c}: &{c} [*{p}, *{p}, *{p}, *{p}]\n" for p, c in zip("abcdefghijklm", "bcdefghijklmn")),
            "aliases",
        ),
        ("- " * 5000 + "x", "levels deep"),
    ],
)
def test_yaml_that_would_fill_memory_or_stack_is_refused(tmp_path, text, said):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ValueError, match=said):
        read_yaml(tmp_path / "x.yaml")


@pytest.mark.parametrize("option", ["--settings", "--stakes", "--rules"])
def test_merge_keys_that_would_take_for_ever_are_refused(tmp_path, oracle_run, capsys, option):
    bomb = "a: &a {k: 1}\n" + "".join(
        f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}' if n else '*a'] * 5)}], z{n}: 1}}\n" for n in range(14)
    )
    (tmp_path / "bomb.yaml").write_text(bomb)
    line = (
        ["site", str(oracle_run)] if option == "--stakes" else ["run", "gpt-5.5", "--cases", "tracking_1", "--dry-run"]
    )
    assert main([*line, option, str(tmp_path / "bomb.yaml")]) == REFUSED
    assert "aliases expand to more" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["store.yaml", "policy.yaml"])
@pytest.mark.parametrize("value", ["gone", [], "x"])
def test_a_store_that_nobody_finished_is_refused_in_one_sentence(tmp_path, name, value, capsys):
    store = copy_store(tmp_path, files=1)
    whole = yaml.safe_load((store / name).read_text())
    for field in whole:
        if field in ("version", "title", "goods"):
            continue
        content = {k: v for k, v in whole.items() if k != field} | ({} if value == "gone" else {field: value})
        (store / name).write_text(yaml.safe_dump(content, allow_unicode=True))
        code = main(["cases", "--store", str(store)])
        said = capsys.readouterr().err
        assert code in (FINISHED, REFUSED) and "Traceback" not in said, (field, said)


@pytest.mark.parametrize(
    "file, text",
    [
        *(("store.yaml", f"{{}}\n{line}\n") for line in ("extends: 5", "extends: [a]", "extends: {a: 1}")),
        *(("store.yaml", f"{{}}\n{line}\n") for line in ("more_tools: 5", "more_tools: [[1]]", "more_tools: {a: {}}")),
        *(("phrases/en.yaml", text) for text in ("a: 5", "language: [1]", "slots: 5", "{}\nslots: {own: 5}")),
        *(("phrases/xx.yaml", text) for text in ("a: 5", "language: xx\nslots: {}", "language: en\nslots: []")),
        ("store.yaml", "{}\nintents: {tracking: 5}\n"),
    ],
)
def test_a_part_of_a_store_that_has_another_form_is_refused_in_one_sentence(tmp_path, capsys, file, text):
    store = copy_store(tmp_path, files=1)
    path = store / file
    whole = yaml.safe_load(path.read_text()) if path.is_file() else {}
    added = yaml.safe_load(text.removeprefix("{}\n"))
    path.write_text(yaml.safe_dump({**whole, **added} if text.startswith("{}") else added, allow_unicode=True))
    assert main(["cases", "--store", str(store)]) == REFUSED
    said = capsys.readouterr().err
    assert "Traceback" not in said and said.count("\n") == 1 and path.parent.name in said, said


def test_a_byte_order_mark_goes_to_no_model_and_a_pipe_is_not_waited_for(tmp_path, capsys):
    prompt = tmp_path / "prompt.md"
    prompt.write_bytes(b"\xef\xbb\xbf---\nversion: mine-1\n---\nBe kind.\n")
    out = tmp_path / "run.deskbench"
    line = ["run", "scripted:oracle", "--cases", "tracking_1", "--trials", "1", "--out", str(out)]
    assert main([*line, "--prompt", str(prompt)]) == FINISHED
    assert "mine-1" in str(load_results(out).runs[0].manifest["inputs"]["prompt"])
    os.mkfifo(tmp_path / "pipe.yaml")
    assert main([*line, "--settings", str(tmp_path / "pipe.yaml"), "--dry-run"]) == REFUSED


KEY = "qz-proj/AbCd+Ef12345678zz"
WRITTEN = {
    "plain": KEY,
    "JSON": "".join(f"\\u{ord(one):04X}" for one in KEY),
    "slashes": KEY.replace("/", "\\/").replace("+", "\\u002b"),
    "JSON in JSON": json.dumps(json.dumps("".join(f"\\u{ord(one):04x}" for one in KEY)))[1:-1],
    "address": quote(KEY, safe=""),
    "address in an address": quote(quote(KEY, safe="")),
    "every letter of an address": "".join(f"%{ord(one):02x}" for one in KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "HTML": "".join(f"&#x{ord(one):X};" for one in KEY),
    "hidden marks": "\u200b".join(KEY),
}


@pytest.mark.parametrize("status, ways", [(200, [*WRITTEN][:-1]), (400, ["JSON", "address", "hidden marks"])])
def test_a_key_that_an_answer_spells_in_another_way_reaches_no_file_and_no_terminal(
    tmp_path, monkeypatch, capsys, status, ways
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    text = ", ".join(WRITTEN[way] for way in ways)
    body = '{"error": {"message": "%s"}}' if status == 400 else '{"choices": [{"message": {"content": "%s"}}]}'
    out = tmp_path / "run.deskbench"
    with ScriptedServer(lambda request, number: Answer((body % text).encode(), status)) as server:
        line = ["run", "some-model", "--base-url", server.base_url, "--cases", "tracking_1", "--trials", "1"]
        main([*line, "--messages", "1", "--out", str(out)])
    kept = "".join(capsys.readouterr())
    if out.exists():
        kept += str([[*rows] for rows in (RunFile(out).records(), RunFile(out).faults())])
        kept += str([*RunFile(out).calls(responses=True)])
    assert "[key]" in kept and not [way for way in WRITTEN if WRITTEN[way] in kept]


@pytest.mark.parametrize("act", ["raise RuntimeError(key)", "raise SystemExit(key)", "return key"])
def test_an_agent_of_ones_own_that_names_a_key_puts_it_nowhere(tmp_path, monkeypatch, capsys, act):
    act = f"talk.think(key); talk.call('find_orders', email=key); {act}"
    (tmp_path / "naming.py").write_text(
        f"import os\nclass Agent:\n    def reply(self, talk):\n        key = 'It is ' + os.environ['OPENAI_API_KEY']\n        {act}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "naming", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    out = tmp_path / "run.deskbench"
    main(["run", "mine", "--agent", "naming:Agent", "--cases", "tracking_1", "--trials", "1", "--out", str(out)])
    kept = "".join(capsys.readouterr()) + (str([*RunFile(out).records()]) if out.exists() else "")
    assert "[key]" in kept and KEY not in kept


ROW = "r,m,c,{trial},tone,{label},,{note},2026-01-01T00:00:00,{labeller}\n"
LABELS = {
    "Latin-1": (ROW.format(trial=1, label=50, note="", labeller="Jérôme").encode("latin-1"), "not UTF-8"),
    "NUL": (b"a\0b" + b"," * 9, "not a whole number"),
    "quote": (b'"r', "row 2 does not have"),
    "return": (b"a\rb,c", "row 2 does not have 10 fields"),
} | {
    f"{name} {given[:9]}": (
        ROW.format(**{**dict(trial=1, label=50, note="", labeller="a"), name: given}).encode(),
        said,
    )
    for said, name, values in [
        (
            "is not a whole number",
            "trial",
            ["5_0", "٥", "²", "abc", "", "-1", "1.5", "9" * 5000, " 1", "1e3"],
        ),
        ("is not True, False or a number", "label", ["5_0", "٥", "nan", "inf", "abc", "0x10", "9" * 5000, "-1"]),
        ("characters: use at most", "note", ["x" * 100_000]),
        ("field larger than field limit", "note", ["x" * 200_000]),
    ]
    for given in values
}


@pytest.mark.parametrize("kind", LABELS)
def test_a_row_of_labels_that_cannot_be_read_is_named_by_the_command_and_by_an_import(
    tmp_path, oracle_run, capsys, kind
):
    raw, said = LABELS[kind]
    path, own = tmp_path / "labels.csv", tmp_path / "own.csv"
    path.write_bytes(",".join(COLUMNS).encode() + b"\n" + raw)
    line = ["export", str(oracle_run), "--format", "jsonl", "--labels", str(path), "--out", str(tmp_path / "e")]
    assert main(line) == REFUSED
    shown = capsys.readouterr().err
    assert said in shown and len(shown) < 400 and str(path) in shown
    with pytest.raises(BadInput, match=said):
        import_labels(own, path)
    assert not own.exists()


def test_a_file_that_goes_while_the_board_is_made_ends_no_run(project, oracle_run, capsys, monkeypatch):
    other = shutil.copy(oracle_run, project / "other.deskbench")
    readable = play._readable

    def and_then_gone(paths):
        found = readable(paths)
        other.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(play, "_readable", and_then_gone)
    line = ["run", "scripted:echo", "--cases", "tracking_1", "--trials", "1", "--out", str(project / "mine.deskbench")]
    assert main(line) == FINISHED and not other.exists()
    shown = capsys.readouterr().out
    assert shown.count(">  scripted:echo") == 1 and "next:" in shown and "scripted:oracle" not in shown
    run = RunFile(project / "mine.deskbench")
    run.path.unlink()
    with pytest.raises(BadInput, match="no run file at"):
        _ = run.manifest


@pytest.mark.parametrize("encoding, separator", [("utf-16", ","), ("utf-32", ","), ("utf-8-sig", ";"), ("utf-8", ",")])
def test_labels_are_read_as_a_spreadsheet_writes_them(tmp_path, encoding, separator):
    row = ROW.format(trial=2, label=75.5, note="so", labeller="Jérôme")
    text = (",".join(COLUMNS) + "\n" + row).replace(",", separator)
    text = text.replace("75.5", "75,5") if separator == ";" else text
    (tmp_path / "labels.csv").write_bytes(text.encode(encoding))
    (read,) = read_labels(tmp_path / "labels.csv").to_dict("records")
    assert (read["trial"], read["label"], read["note"], read["labeller"]) == (2, 75.5, "so", "Jérôme")


@pytest.mark.parametrize(
    "word, answer",
    [("WAHR", 1), ("falsch", 0), ("VERDADERO", 1), ("Non", 0), ("0", 0), ("ИСТИНА", 1), ("✓", 1), ("HAYIR", 0)],
)
def test_a_yes_or_a_no_in_a_file_of_labels_may_be_in_another_language(tmp_path, word, answer):
    row = ROW.format(trial=2, label=word, note="so", labeller="a").replace(",tone,", ",success,")
    (tmp_path / "labels.csv").write_text(",".join(COLUMNS) + "\n" + row, encoding="utf-8")
    assert read_labels(tmp_path / "labels.csv")["label"].tolist() == [answer]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-32-le"])
def test_a_prompt_in_any_unicode_encoding_goes_out_as_its_words(tmp_path, encoding):
    mark = codecs.BOM_UTF32_LE if encoding == "utf-32-le" else b""
    (tmp_path / "my prompt.md").write_bytes(mark + "Sei höflich.\r\n".encode(encoding))
    options = {"cases": "tracking_1", "trials": 1, "messages": 1, "out": tmp_path / "r.deskbench", "progress": False}
    with ScriptedServer() as server:
        asyncio.run(Experiment("m", base_url=server.base_url, prompt=tmp_path / "my prompt.md", **options).run())
    assert server.requests[0]["messages"][0]["content"].strip() == "Sei höflich."


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT {} FROM c"
FOREIGN = {
    "scores": "x AS id, 'a' AS record_hash, 'b' AS version, x'00' AS seal, x'00' AS scores",
    "conversations": "x AS id, 'a' AS case_id, x AS trial, 'b' AS ended_by, 'c' AS record_hash, 'd' AS finished_at, x'00' AS seal, x'00' AS record",
    "manifest": "'a' AS key, '1' AS value, x'00' AS seal",
    "calls": "x AS id",
}


@pytest.mark.parametrize("table", [*FOREIGN, "trigger"])
def test_a_run_file_with_something_endless_in_place_of_a_table_is_refused(tmp_path, oracle_run, capsys, table):
    path, other = shutil.copy(oracle_run, tmp_path / "run.deskbench"), str(oracle_run)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if table == "trigger":
            add = f"INSERT INTO faults (case_id) {ENDLESS.format('x')}"
            db.execute(f"CREATE TRIGGER manifest_added_too AFTER INSERT ON scores BEGIN {add}; END")
        else:
            db.execute(f"ALTER TABLE {table} RENAME TO old")
            db.execute(f"CREATE VIEW {table} AS {ENDLESS.format(FOREIGN[table])}")
    out = ["--out", str(tmp_path / "e")]
    for line in (
        ["runs", "show", path],
        ["watch", path],
        ["compare", path, other],
        ["score", path],
        ["export", path, "--format", "jsonl", *out],
    ):
        assert main([str(word) for word in line]) == REFUSED
        assert "which no run file has" in capsys.readouterr().err, line


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028", "\x85", "\v"])
def test_a_name_that_ends_a_line_makes_no_line_of_its_own(tmp_path, capsys, end):
    forged = f"good{end}other: success 9/9"
    record = {"case_id": forged, "trial": 1, "messages": [], "model": forged, "bucket": forged, "success": True}
    (tmp_path / "r.jsonl").write_text(json.dumps(record))
    out = str(tmp_path / "r.deskbench")
    assert main(["import", str(tmp_path / "r.jsonl"), "--format", "jsonl", "--out", out]) == FINISHED
    run = RunFile(out)
    made_run(
        tmp_path / "m.deskbench",
        [(run.record(*key), None, []) for key in run.endings()],
        manifest={**run.manifest, "model": forged},
    )
    for line in (["runs", "show", out], ["runs", "show", str(tmp_path / "m.deskbench")]):
        assert main(line) == FINISHED
    said = capsys.readouterr().out
    assert "good" in said and not [line for line in said.splitlines() if line.strip().startswith("other: success")]
