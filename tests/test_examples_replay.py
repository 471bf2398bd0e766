"""The customers of the example runs still answer each recorded reply word for word, whatever Python's hash seed is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.project import DATA
from benchmark_lib.runfile import RunFile
from benchmark_lib.store import load_store

EXAMPLES = {"blind-play": "northline", "blind-play-hard": "northline:hard"}


class Again:
    """An agent that calls and says what a record holds."""

    def __init__(self, record):
        self.record = record

    def reply(self, talk):
        for call in self.record.tool_calls:
            if call.side == "agent" and call.turn == talk.turn:
                talk.call(call.name, call.arguments)
        return next((message.text for message in self.record.replies() if message.turn == talk.turn), "")


def differing(name):
    """The cases of an example whose customer says something else today, or that end in another way."""
    store = load_store(EXAMPLES[name])
    cases, run = {case.id: case for case in load_cases(store, "*")}, RunFile(DATA / "examples" / f"{name}.deskbench")
    found, records = [], list(run.records())
    assert len(records) >= 14
    for record in records:
        again = play(cases[record.case_id], store, Again(record), record.model)
        told = [[(m.turn, m.side, m.text) for m in talk.messages] for talk in (record, again)]
        if told[0] != told[1] or record.ended_by != again.ended_by:
            found.append(record.case_id)
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_replayed_word_for_word(name):
    assert differing(name) == []


def test_it_is_replayed_with_another_hash_seed():
    code = "import test_examples_replay as here; print(here.differing('blind-play'))"
    seed = {"PYTHONHASHSEED": "7" if os.environ.get("PYTHONHASHSEED") != "7" else "8"}
    line = [sys.executable, "-c", code]
    said = subprocess.run(line, cwd=Path(__file__).parent, env=os.environ | seed, capture_output=True, text=True)
    assert said.stdout == "[]\n", said.stderr
