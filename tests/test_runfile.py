"""The run file: what is acknowledged is on disk, what is damaged is refused with the way to what is whole."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from made_runs import conversation_row, talk

from benchmark_lib import runfile
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.writer import CannotSave, RunLock, Writer
from benchmark_lib.runfile import RunFile, create

MANIFEST = {
    "run_id": "m-1",
    "model": "m",
    "source": "model",
    "inputs": {"store": {"value": "northline 1.0.0", "hash": "-"}},
    "cases": {"a": "x"},
    "trials": 3,
    "planned": {"a": 3},
    "sessions": [],
}


def row(number, text="hello"):
    """One conversation row."""
    return conversation_row(talk(text, case_id="a", trial=number, model="m"))


def fill(path, count, text="hello"):
    """A run file with `count` conversations, written as a run writes them."""

    async def write():
        create(path, MANIFEST)
        writer = Writer(path)
        await asyncio.gather(*(writer.put("conversations", row(n, text)) for n in range(1, count + 1)))
        writer.close()

    asyncio.run(write())
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "one.deskbench"


def test_a_run_file_gives_back_what_was_written(path):
    run = RunFile(fill(path, 3))
    assert run.manifest == MANIFEST and run.run_id == "m-1"
    assert [(c, t) for c, t, *_ in run.conversations()] == [("a", 1), ("a", 2), ("a", 3)]
    assert run.record("a", 2).messages[0].text == "hello"
    assert run.counts() == {"finished": 3, "again": 0, "calls": 0}
    with pytest.raises(BadInput, match="has no conversation for case 'b', trial 1"):
        run.record("b", 1)


def test_a_finished_run_leaves_one_plain_file_that_a_read_only_folder_can_hold(path):
    fill(path, 2)
    assert os.listdir(path.parent) == [path.name]
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert RunFile(path).counts()["finished"] == 2
    finally:
        path.parent.chmod(0o755)


def test_a_row_with_the_same_key_takes_the_place_of_the_first(path):
    async def write():
        create(path, MANIFEST)
        writer = Writer(path)
        writer.put("conversations", row(1, "first"))
        await writer.put("conversations", row(1, "second"))
        writer.close()

    asyncio.run(write())
    assert [r.messages[0].text for r in RunFile(path).records()] == ["second"]


def test_a_file_can_be_read_while_it_is_written(path):
    async def write():
        create(path, MANIFEST)
        writer = Writer(path)
        await writer.put("conversations", row(1))
        seen = RunFile(path).counts()["finished"]
        writer.close()
        return seen

    assert asyncio.run(write()) == 1


def test_closing_commits_what_nobody_waited_for(path):
    async def write():
        create(path, MANIFEST)
        writer = Writer(path)
        for number in range(1, 501):
            writer.put("conversations", row(number))
        writer.close()

    asyncio.run(write())
    assert RunFile(path).counts()["finished"] == 500


WRITE_UNTIL_KILLED = """
    import asyncio, sys
    from pathlib import Path
    from benchmark_lib.experiment.writer import Writer
    from test_runfile import row

    async def write(path):
        writer = Writer(path)
        for number in range(1, 100_000):
            done = writer.put("conversations", row(number), urgent=number % 7 == 0)
            done.add_done_callback(lambda _, number=number: print(number, flush=True))
            await asyncio.sleep(0.0005)

    asyncio.run(write(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_loses_nothing_that_was_acknowledged(path, seed):
    create(path, MANIFEST)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITE_UNTIL_KILLED), str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    wanted = random.Random(seed).randrange(1, 400)
    acknowledged = [int(process.stdout.readline()) for _ in range(wanted)]
    process.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    process.wait()
    on_file = {trial for _, trial, *_ in RunFile(path).conversations()}
    assert set(acknowledged) <= on_file
    RunFile(path).check()


def test_a_full_disk_is_told_and_what_was_acknowledged_stays(path, monkeypatch):
    monkeypatch.setitem(runfile.PRAGMAS, "max_page_count", 60)

    async def write():
        create(path, MANIFEST)
        writer, saved = Writer(path), 0
        try:
            for number in range(1, 1000):
                await writer.put("conversations", row(number, "x" * 3000), urgent=True)
                saved = number
        except CannotSave as error:
            assert "full" in str(error)
            with pytest.raises(CannotSave):
                await writer.put("conversations", row(1))
        writer.close()
        return saved

    saved = asyncio.run(write())
    assert 10 < saved < 200
    run = RunFile(path)
    run.check()
    assert run.counts()["finished"] == saved


def test_what_is_no_run_file_is_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE t (a)").connection.close()
    for path, words in [
        (text, "is not a run file"),
        (other, "is not a run file"),
        (tmp_path, "name the file itself"),
        (tmp_path / "none", "no run file at"),
    ]:
        with pytest.raises(BadInput, match=words):
            RunFile(path)
    assert text.read_text() == "hello"


@pytest.mark.parametrize("version, words", [(9, "a newer Deskbench"), (1, "an unreleased Deskbench")])
def test_a_file_of_another_format_is_refused(path, version, words):
    create(path, MANIFEST)
    sqlite3.connect(path).execute(f"PRAGMA user_version={version}").connection.close()
    with pytest.raises(BadInput, match=words):
        RunFile(path)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.95])
def test_a_cut_file_is_refused_with_the_way_to_what_is_whole(path, share):
    fill(path, 300, "x" * 2000)
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(BadInput, match=r"is damaged .*`sqlite3 \S+ \.recover \| sqlite3 \S+-mended.deskbench`"):
        RunFile(path).check()


def test_one_process_writes_and_the_lock_goes_with_it(path):
    code = f"""
        import sys, time
        from pathlib import Path
        from benchmark_lib.experiment.writer import RunLock
        with RunLock(Path({str(path)!r})):
            print("held", flush=True)
            time.sleep(60)
    """
    holder = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(BadInput, match="is being written by another run"):
        RunLock(path).__enter__()
    holder.kill()
    holder.wait()
    with RunLock(path):
        with pytest.raises(BadInput, match="is being written by another run"):
            RunLock(path).__enter__()
        link = path.parent.parent / "link.deskbench"
        link.symlink_to(path)
        with pytest.raises(BadInput, match="is being written by another run"):
            RunLock(link).__enter__()
        link.unlink()
    assert os.listdir(path.parent) == []


def test_the_lock_is_that_of_the_file_whatever_it_is_called(path, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    link, folder = tmp_path / "sub" / "link.deskbench", tmp_path / "folder"
    link.symlink_to(path)
    folder.symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "sub")
    names = [link, folder / path.name, Path("..") / path.name, Path("link.deskbench")]
    for existing in (False, True):
        if existing:
            create(link, MANIFEST)
            assert link.is_symlink() and RunFile(path).run_id == "m-1", "the file appears where the link leads"
        for held in (path, *names):
            with RunLock(held):
                for name in (path, *names):
                    with pytest.raises(BadInput, match="is being written by another run"):
                        RunLock(name).__enter__()


def test_a_file_with_two_names_on_the_disk_is_not_written_to(path, tmp_path):
    fill(path, 1)
    os.link(path, tmp_path / "other.deskbench")
    for name in (path, tmp_path / "other.deskbench"):
        with pytest.raises(BadInput, match="another name on this disk"):
            RunLock(name).__enter__()


MISTYPED = [
    ("model", 5, r"a wrong model \(should be a valid string\)"),
    ("inputs", [], "a wrong inputs"),
    ("planned", {"a": "3"}, "a wrong planned.a"),
    ("planned", {"a": -1}, "a wrong planned.a"),
    ("planned", {}, "a wrong planned"),
    ("trials", True, "a wrong trials"),
    ("cases", {"a": None}, "a wrong cases.a"),
    ("inputs", {"model": {"value": 1, "hash": "x"}}, r"a wrong inputs \(the store is missing\)"),
    ("sessions", [5], "a wrong sessions.0"),
    ("sessions", {}, "a wrong sessions"),
    ("inputs", {"store": 5}, "a wrong inputs.store"),
]


@pytest.mark.parametrize("key, value, words", MISTYPED)
def test_a_manifest_with_a_mistyped_part_is_refused(path, key, value, words):
    create(path, {**MANIFEST, key: value})
    with pytest.raises(BadInput, match=words):
        RunFile(path).manifest


@pytest.mark.parametrize("key", [key for key in MANIFEST if key != "run_id"])
def test_a_manifest_without_one_of_its_parts_is_refused(path, key):
    create(path, {k: v for k, v in MANIFEST.items() if k != key})
    with pytest.raises(BadInput, match=f"has no {key}"):
        RunFile(path).manifest
