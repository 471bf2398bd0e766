"""Nothing that a file or a command line says can falsify a run or end in a traceback.

Damaged run files and wrong arguments, made from seeds.
"""

import random

import pytest

from benchmarks.attack import arguments
from benchmarks.attack.damage import Original, make_files

DAMAGES, LISTED, MANIFESTS, MADE = 25, 15, 4, 20


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """An undamaged run file."""
    return Original(*make_files(tmp_path_factory.mktemp("files"), None))


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    """A folder with the files that the command lines name."""
    folder = tmp_path_factory.mktemp("arguments")
    arguments.lay_out(folder)
    return folder


@pytest.fixture
def folder(laid_out, monkeypatch):
    """The same, as the current folder, and no key about."""
    monkeypatch.chdir(laid_out)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return laid_out


@pytest.mark.parametrize("first", range(0, 4 * DAMAGES, DAMAGES))
def test_a_damaged_file_loads_as_it_was_or_names_what_it_lacks_or_is_refused(original, tmp_path, first):
    found = {
        seed: [*original.attack(tmp_path, random.Random(f"damage {seed}"))] for seed in range(first, first + DAMAGES)
    }
    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("part", range(4))
def test_a_wrong_command_line_is_one_sentence_and_exit_2(folder, part):
    lines = random.Random("listed").sample(arguments.table(), 4 * LISTED)[part * LISTED :][:LISTED]
    assert {str(line): wrong for line, wrong in arguments.faults(iter(lines), folder)} == {}


@pytest.mark.parametrize("line", arguments.with_manifest(), ids=str)
def test_a_manifest_with_a_missing_or_mistyped_part_is_one_sentence(folder, line):
    rng, wrong = random.Random(str(line)), {}
    for _ in range(MANIFESTS):
        part = arguments.odd_manifest(folder, rng)
        fault = arguments.fault_of(line, folder, must_refuse=False)
        if fault:
            wrong[part] = fault
    assert wrong == {}


@pytest.mark.parametrize("seed", range(3))
def test_made_command_lines_of_every_command_never_end_in_a_traceback(folder, seed):
    rng = random.Random(f"made {seed}")
    lines = [arguments.family(rng) for _ in range(MADE)]
    assert {ascii(str(line)): wrong for line, wrong in arguments.faults(iter(lines), folder, must_refuse=False)} == {}
