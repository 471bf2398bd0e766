"""Damaged run files: whatever happens to their bytes, nothing altered loads, and everything intact is recovered."""

import os
import random
import sqlite3
from contextlib import closing, suppress

import pytest
from made_runs import AT, add_rows, call_row, made_run, talk

from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.runfile import FORMAT, RunFile, connect_to_write
from benchmark_lib.runfile.salvage import recover
from benchmark_lib.runfile.seals import COLUMNS, checked_rows
from benchmark_lib.runfile.sqlite_pages import PAGE_SIZE


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
    with closing(sqlite3.connect(path)) as db:
        return (
            {"manifest": sorted(run.manifest.items())}
            | {t: list(checked_rows(db, t)) for t in COLUMNS if t != "manifest"}
            | {
                "loaded": (
                    run.scores(),
                    run.endings(),
                    run.cost(),
                    list(run.calls()),
                    list(run.verdicts()),
                    list(run.faults()),
                )
            }
        )


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
    return kind, data


@pytest.mark.parametrize("seed", range(100))
def test_after_any_accident_nothing_altered_loads_and_what_is_intact_is_recovered(two, whole, tmp_path, seed):
    kind, data = damaged(bytearray(two[0].read_bytes()), two[1].read_bytes(), random.Random(seed))
    path, out = tmp_path / "damaged.deskbench", tmp_path / "new.deskbench"
    path.write_bytes(data)
    with suppress(BadInput, sqlite3.DatabaseError):
        assert contents(path) == whole
    recover(path, out)
    back = contents(out)
    assert back["manifest"] == whole["manifest"], "it is on file twice"
    for table in COLUMNS.keys() - {"manifest"}:
        kept = set(back[table])
        assert back[table] == [row for row in whole[table] if row in kept], "nothing new, and in the order of old"
        assert kind == "cut" or len(whole[table]) - len(kept) <= 40, "what lies on one page or two"
    if kind == "header":
        assert back == whole
    assert sorted(os.listdir(tmp_path)) == ["damaged.deskbench", "new.deskbench"]


def test_a_page_of_another_file_makes_no_file_of_another_run(two, whole, tmp_path):
    one, other = (path.read_bytes() for path in two)
    path = tmp_path / "damaged.deskbench"
    for page in range(0, min(len(one), len(other)) // PAGE_SIZE):
        at, out = page * PAGE_SIZE, tmp_path / f"{page}.deskbench"
        path.write_bytes(one[:at] + other[at : at + PAGE_SIZE] + one[at + PAGE_SIZE :])
        recover(path, out)
        back = contents(out)
        assert back["manifest"] == whole["manifest"] and back["conversations"]


@pytest.mark.parametrize("table", ["conversations", "scores", "calls", "verdicts", "faults", "manifest"])
def test_a_value_that_others_changed_is_found_in_every_table(two, tmp_path, table):
    path = tmp_path / "changed.deskbench"
    for column in COLUMNS[table]:
        path.write_bytes(two[0].read_bytes())
        with closing(sqlite3.connect(path)) as db:
            db.executescript("DROP TRIGGER manifest_changed")
            db.execute(f"UPDATE {table} SET {column} = '77' WHERE rowid = 2")
            db.commit()
        with pytest.raises(BadInput, match="is damaged"):
            RunFile(path).check()


def test_a_row_that_the_tree_lost_is_missed(two, tmp_path):
    path = tmp_path / "lost.deskbench"
    data = bytearray(two[0].read_bytes())
    with closing(sqlite3.connect(two[0])) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name='verdicts'").fetchone()
    cells = (root - 1) * PAGE_SIZE + 3
    data[cells : cells + 2] = (int.from_bytes(data[cells : cells + 2], "big") - 1).to_bytes(2, "big")
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"verdicts holds 11 of 12 rows"):
        list(RunFile(path).verdicts())


OLD = """
CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, n INTEGER NOT NULL,
    request_hash TEXT NOT NULL, model TEXT NOT NULL, response BLOB NOT NULL,
    prompt_tokens INTEGER, completion_tokens INTEGER, reasoning_tokens INTEGER, cached_tokens INTEGER,
    latency_s REAL, attempts TEXT NOT NULL, cost_usd REAL, finished_at TEXT NOT NULL, UNIQUE (case_id, trial, side, n));
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, ended_by TEXT NOT NULL,
    record_hash TEXT NOT NULL, record BLOB NOT NULL, finished_at TEXT NOT NULL, UNIQUE (case_id, trial));
CREATE TABLE scores (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, version TEXT NOT NULL, scores BLOB NOT NULL, UNIQUE (record_hash, version));
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, judge TEXT NOT NULL, version TEXT NOT NULL, verdict BLOB NOT NULL,
    UNIQUE (record_hash, judge, version));
CREATE TABLE faults (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, attempts TEXT NOT NULL, at TEXT NOT NULL);
"""


@pytest.fixture
def old(two, tmp_path):
    """The first run as format 1 kept it, without seals."""
    path = tmp_path / "old.deskbench"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA application_id={0x44534B42}; PRAGMA user_version=1; {OLD}")
        db.execute("ATTACH ? AS new", (str(two[0]),))
        for table, columns in COLUMNS.items():
            names = ",".join(columns)
            db.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new.{table} ORDER BY rowid")
        db.commit()
    return path


def test_a_file_from_before_seals_loads_and_is_recovered(two, old, tmp_path):
    assert contents(old) == contents(two[0])
    assert recover(old, tmp_path / "new.deskbench").rows["calls"] == 36
    assert contents(tmp_path / "new.deskbench") == contents(two[0])


def test_a_file_from_before_seals_is_given_them_when_it_is_written_to(two, old):
    connect_to_write(old).close()
    assert contents(old) == contents(two[0])
    with closing(sqlite3.connect(old)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        db.execute("UPDATE scores SET version = 'another' WHERE id = 3")
        db.commit()
    with pytest.raises(BadInput, match="row 3 of scores is not what was written"):
        RunFile(old).scores()


def test_numbers_are_sealed_as_sqlite_gives_them_back(tmp_path, two):
    path = tmp_path / "numbers.deskbench"
    path.write_bytes(two[0].read_bytes())
    add_rows(path, calls=[call_row("case_0", 2, 1.0, tokens=True, cached=None, latency=1, cost=float("nan"))])
    last = list(RunFile(path).calls())[-1]
    assert (last["n"], last["prompt_tokens"], last["latency_s"], last["cost_usd"]) == (1, 1, 1.0, None)


def test_recovering_says_what_was_copied_and_what_was_left_out(two, tmp_path, capsys):
    path, out = tmp_path / "damaged.deskbench", tmp_path / "new.deskbench"
    data = two[0].read_bytes().replace(b'"score":4', b'"score":9')
    path.write_bytes(data)
    assert main(["recover", str(path), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "12 conversations, with 12 scores and 36 model calls" in said and "left out: at least 2 damaged rows" in said
    assert main(["recover", str(path), "--out", str(out)]) == 2


def test_what_lost_its_whole_manifest_is_refused_and_nothing_is_left_behind(two, tmp_path, capsys):
    path = tmp_path / "damaged.deskbench"
    path.write_bytes(two[0].read_bytes().replace(b'"run-one"', b'"run-x-x"'))
    assert main(["recover", str(path), "--out", str(tmp_path / "sub" / "new.deskbench")]) == 2
    said = capsys.readouterr().err
    assert "nothing of it is intact" in said and said.count("\n") == 1 and os.listdir(tmp_path) == [path.name]
