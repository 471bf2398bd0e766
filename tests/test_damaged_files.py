"""Damaged run files: whatever happens to their bytes, nothing altered loads, and a run goes on with what is whole."""

import random
import shutil
import sqlite3
import subprocess
import warnings
from contextlib import closing

import pytest
from made_runs import AT, add_rows, call_row, made_run, talk
from run_server import RunServer, copy_store, some_cases

from benchmark_lib import load_results
from benchmark_lib.analysis.tables import leaderboard
from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.scoring import score_faults
from benchmark_lib.runfile import COLUMNS, RunFile

PAGE_SIZE = 4096


def made(path, name):
    """A run file with rows in every table, some of them longer than a page."""
    rows = [
        (
            talk(f"case {case}, trial {trial}, {name}", "x" * case * 700, case_id=f"case_{case}", trial=trial),
            {"bucket": "resolvable", "success": case % 2 == 0, "reward_basis": "y" * 90},
            [("judge", {"tone": {"score": case}})],
        )
        for case in range(6)
        for trial in (1, 2)
    ]
    made_run(path, rows, run_id=f"run-{name}", cases={f"case_{case}": "0" * 16 for case in range(6)})
    calls = [
        call_row(
            f"case_{case}",
            1,
            n,
            request="x" * 16,
            response=b'{"text": "' + b"hello " * 100 * n + b'"}',
            tokens=100 + n,
            cached=None,
            cost=1,
        )
        for case in range(6)
        for n in range(1, 7)
    ]
    faults = [(f"case_{case}", 1, "agent", "timeout", "too slow", "[]", f"{AT}.{case}") for case in range(6)]
    add_rows(path, calls=calls, faults=faults)
    return path


def contents(path):
    """Everything that a run file gives."""
    run = RunFile(path)
    loaded = run.scores(), run.endings(), run.cost(), list(run.calls()), list(run.verdicts()), list(run.faults())
    rows = {table: list(run.rows(table)) for table in COLUMNS if table != "manifest"}
    return {"manifest": sorted(run.manifest.items()), **rows, "loaded": loaded}


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two runs of the same cases."""
    folder = tmp_path_factory.mktemp("two")
    return made(folder / "one.deskbench", "one"), made(folder / "two.deskbench", "two")


@pytest.fixture(scope="module")
def whole(two):
    """What the first of them holds."""
    return contents(two[0])


def damaged(data, other, rng):
    """The bytes after one accident."""
    page, source = (rng.randrange(len(data) // PAGE_SIZE) * PAGE_SIZE for _ in range(2))
    kind = rng.choice(("bit", "zeroes", "cut", "header", "moved page", "foreign page", "noise"))
    if kind == "bit":
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "zeroes":
        data[page : page + PAGE_SIZE] = bytes(PAGE_SIZE)
    elif kind == "cut":
        del data[rng.randrange(len(data) // 4, len(data)) :]
    elif kind == "header":
        length = rng.choice((16, 100, PAGE_SIZE))
        data[:length] = rng.randbytes(length)
    elif kind == "moved page":
        data[page : page + PAGE_SIZE] = data[source : source + PAGE_SIZE]
    elif kind == "foreign page":
        data[page : page + PAGE_SIZE] = other[page : page + PAGE_SIZE]
    else:
        length = rng.randrange(1, 200)
        place = rng.randrange(len(data) - length)
        data[place : place + length] = rng.randbytes(length)
    return bytes(data)


@pytest.mark.parametrize("seed", range(100))
def test_after_any_accident_nothing_altered_loads(two, whole, tmp_path, seed):
    path = tmp_path / "damaged.deskbench"
    path.write_bytes(damaged(bytearray(two[0].read_bytes()), two[1].read_bytes(), random.Random(seed)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = contents(path)
        except BadInput:
            return
    assert found["manifest"] == whole["manifest"]
    for table in COLUMNS.keys() - {"manifest"}:
        kept = set(found[table])
        assert found[table] == [row for row in whole[table] if row in kept], "nothing new, and in the order of old"
        assert kept == set(whole[table]) or f"its {table} left out" in "".join(str(one.message) for one in said)


@pytest.mark.parametrize("table", ["conversations", "scores", "calls", "verdicts", "faults", "manifest"])
def test_a_value_that_others_changed_is_found_in_every_table(two, tmp_path, table):
    path = tmp_path / "changed.deskbench"
    for column in COLUMNS[table]:
        path.write_bytes(two[0].read_bytes())
        with closing(sqlite3.connect(path)) as db:
            db.executescript("DROP TRIGGER manifest_changed")
            db.execute(f"UPDATE {table} SET {column} = '77' WHERE rowid = 2")
            db.commit()
        with pytest.warns(UserWarning, match=f"has 1 of its {table} left out"):
            assert RunFile(path).check()[table] == [2]


def test_a_row_that_the_tree_lost_is_missed(two, tmp_path):
    path = tmp_path / "lost.deskbench"
    data = bytearray(two[0].read_bytes())
    with closing(sqlite3.connect(two[0])) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name='verdicts'").fetchone()
    cells = (root - 1) * PAGE_SIZE + 3
    data[cells : cells + 2] = (int.from_bytes(data[cells : cells + 2], "big") - 1).to_bytes(2, "big")
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"verdicts contains 11 of 12 rows"):
        list(RunFile(path).verdicts())


def test_numbers_are_sealed_as_sqlite_gives_them_back(tmp_path, two):
    path = tmp_path / "numbers.deskbench"
    path.write_bytes(two[0].read_bytes())
    add_rows(path, calls=[call_row("case_0", 2, 1.0, tokens=True, cached=None, latency=1, cost=float("nan"))])
    last = list(RunFile(path).calls())[-1]
    assert (last["n"], last["prompt_tokens"], last["latency_s"], last["cost_usd"]) == (1, 1, 1.0, None)


# --- the way from a damaged file to a board and a run that goes on

SHELL = shutil.which("sqlite3")
HAS_RECOVER = SHELL and subprocess.run([SHELL, ":memory:", ".recover"], capture_output=True).returncode == 0
"""Debian 12 builds the shell without ``.recover``, Debian 13 with it: without it, only the refusal is tested."""


@pytest.fixture(scope="module")
def bought(tmp_path_factory):
    """A finished run of a model: its file, its calls, how to give its command with another file, and its endpoint."""
    folder = tmp_path_factory.mktemp("bought")
    store = copy_store(folder)
    with RunServer() as server:
        line = ["run", "some-model", "--base-url", server.base_url, "--store", str(store), "--messages", "2"]
        line += ["--cases", ",".join(some_cases(store, 2)), "--trials", "2", "--out"]
        assert main([*line, str(folder / "run.deskbench")]) == 0
        run = RunFile(folder / "run.deskbench")
        yield run.path, keys_of(run), line, server


def keys_of(run):
    """The calls on a file by conversation, side and number."""
    return {(call["case_id"], call["trial"], call["side"], call["n"]) for call in run.calls()}


def zeroed(table):
    """A damage: the first page of a table is gone."""

    def damage(data):
        with closing(sqlite3.connect(":memory:")) as db:
            db.deserialize(bytes(data))
            (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name=?", (table,)).fetchone()
        return data[: (root - 1) * PAGE_SIZE] + bytes(PAGE_SIZE) + data[root * PAGE_SIZE :]

    return damage


def flipped(text):
    """A damage: one byte of a value that holds `text` is another."""
    return lambda data: data.replace(text, text[:1] + bytes([text[1] ^ 0x80]) + text[2:], 1)


REFUSED = {
    "first page of the conversations": zeroed("conversations"),
    "first page of the calls": zeroed("calls"),
    "first page of the scores": zeroed("scores"),
    "manifest": zeroed("manifest"),
    "first page of all": lambda data: bytes(PAGE_SIZE) + data[PAGE_SIZE:],
    "header": lambda data: bytes(100) + data[100:],
    "magic": lambda data: b"x" * 16 + data[16:],
    "end cut off": lambda data: data[: len(data) * 3 // 4],
    "last page": lambda data: data[:-PAGE_SIZE] + bytes(PAGE_SIZE),
}
NAMED = {
    "record": flipped(b'"messages":'),
    "reply": flipped(b'"finish_reason":'),
    "text": flipped(b"search_knowledge_base"),
    "run_id in the manifest": flipped(b'"some-model-'),
}


def goes_on(path, bought, capsys):
    """Make a board of a file and go on with its run: everything is there, and no call on the file is bought again."""
    _, whole, line, server = bought
    lost, before = whole - keys_of(RunFile(path)), server.count
    assert len(leaderboard(load_results(path))) == 1
    assert main([*line, str(path)]) == 0
    assert server.count - before <= len(lost)
    run = RunFile(path)
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run.check() == {table: [] for table in COLUMNS} and run.counts()["finished"] == 4
        assert not [*score_faults(run)]


@pytest.mark.parametrize("damage", REFUSED)
def test_a_damaged_file_is_refused_with_the_way_to_a_board_and_a_run_that_goes_on(damage, bought, tmp_path, capsys):
    path = tmp_path / "a run.deskbench"
    path.write_bytes(REFUSED[damage](bought[0].read_bytes()))
    assert main([*bought[2], str(path)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    mend = said.split("`")[-2]
    assert ".recover | sqlite3" in mend
    if HAS_RECOVER:
        subprocess.run(mend, shell=True, check=True)
        goes_on(tmp_path / "a run-mended.deskbench", bought, capsys)


@pytest.mark.parametrize("damage", NAMED)
def test_a_changed_value_is_named_left_out_and_made_again(damage, bought, tmp_path, capsys):
    path, data = tmp_path / "run.deskbench", bought[0].read_bytes()
    path.write_bytes(NAMED[damage](data))
    assert path.read_bytes() != data
    with pytest.warns(UserWarning, match="left out, because their bytes differ from those that were written"):
        RunFile(path).check()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        goes_on(path, bought, capsys)


def test_a_site_is_made_of_a_run_that_lost_a_score(bought, tmp_path, capsys):
    path = tmp_path / "run.deskbench"
    path.write_bytes(flipped(b'"bucket":')(bought[0].read_bytes()))
    assert main(["site", str(path), "--out", str(tmp_path / "site")]) == 0
    assert "1 of its scores left out" in capsys.readouterr().err


def test_what_the_shell_could_not_place_is_put_back(bought, tmp_path):
    path = tmp_path / "run.deskbench"
    path.write_bytes(bought[0].read_bytes())
    with closing(sqlite3.connect(path)) as db:
        columns = ",".join(f"c{place}" for place in range(17))
        db.execute(f"CREATE TABLE lost_and_found (rootpgno, pgno, nfield, id, {columns})")
        for table, width in (("conversations", 8), ("manifest", 3)):
            names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
            some, number = columns.split(",")[:width], "NULL" if names[0] == "id" else names[0]
            values = ",".join([number, *names[1:]])
            db.execute(
                f"INSERT INTO lost_and_found (nfield,id,{','.join(some)}) SELECT {width},rowid,{values} FROM {table}"
            )
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA application_id=0")
        db.commit()
    again = contents(path)
    assert again == contents(bought[0]) and again["conversations"]
    assert b"lost_and_found" not in path.read_bytes()[:PAGE_SIZE]


def test_another_database_is_left_as_it_is(tmp_path):
    path = tmp_path / "other.deskbench"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE lost_and_found (a)")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(BadInput, match="is not a run file"):
        RunFile(path)
    assert path.read_bytes() == before
