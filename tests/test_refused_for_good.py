"""A conversation that an endpoint refuses for good: the same command ends in order, and says why in the provider's words."""

import re

import pytest
from run_server import RunServer, some_cases
from servers import Answer, error_body

from benchmark_lib import load_cases, load_results, load_store, tables
from benchmark_lib.cli import main
from benchmark_lib.runfile import RunFile

NO = Answer(
    {"error": {"message": "Invalid prompt: try another", "type": "invalid", "param": "messages[1]", "code": "x17"}}, 400
)


BROKEN = Answer(error_body("the worker crashed on this input", code="e9"), 500, {"Retry-After": "0"})


class Choosy(RunServer):
    """Gives one answer to every request whose text holds one of these sentences."""

    def __init__(self, *sentences, no=NO):
        super().__init__()
        self.sentences, self.no, self.refused = [sentence.encode() for sentence in sentences], no, 0

    def answer(self, head, body):
        """Refuse a conversation that says one of them."""
        if any(sentence in body for sentence in self.sentences):
            self.refused += 1
            return self.no
        return super().answer(head, body)


def run(server, out, store, cases, capsys, *more):
    line = ["run", "some-model", "--base-url", server.base_url, "--out", str(out), "--store", str(store), "--yes"]
    code = main([*line, "--cases", cases, "--trials", "1", "--messages", "2", *more])
    return code, "".join(capsys.readouterr())


def words_of(store, case_id):
    return re.findall(r"[A-Za-z ]{20,}", load_cases(load_store(store), case_id)[0].email.text)[0]


@pytest.mark.parametrize(
    "no, sessions, reason",
    [
        (NO, 2, "Invalid prompt: try another [code x17, param messages[1]]"),
        pytest.param(BROKEN, 3, "the worker crashed on this input", marks=pytest.mark.slow),
    ],
)
def test_the_same_command_finishes_a_run_of_which_one_conversation_always_fails(
    tmp_path, own_store, capsys, no, sessions, reason
):
    cases, out = some_cases(own_store, 3), tmp_path / "run.deskbench"
    given = out, own_store, ",".join(cases), capsys
    with Choosy(words_of(own_store, cases[0]), no=no) as server:
        for _ in range(sessions - 1):
            code, said = run(server, *given)
            assert code == 3 and reason in said
            assert RunFile(out).counts() | {"calls": 0} == {"finished": 2, "again": 1, "calls": 0}
        main(["watch", str(out), "--once"])
        seen = capsys.readouterr().out
        assert "2 of 3 conversations finished" in seen and reason in seen
        code, said = run(server, *given)
        assert code == 0 and f"given up after failing in several sessions: 1 conversation, first {cases[0]}" in said
        asked = server.refused
        assert run(server, *given)[0] == 0 and server.refused == asked, "it is not asked for again"
        assert [*tables.leaderboard(load_results(out))["partial"]] == [""]
        for line in (
            ["runs", "show", str(out)],
            ["watch", str(out), "--once"],
            ["score", str(out), "--store", str(own_store)],
        ):
            main(line)
            seen = capsys.readouterr().out
            assert reason in seen and "partial" not in seen and "rerun the same command to resume" not in seen
        server.sentences = []
        code, said = run(server, *given, "--retry-faults")
        assert code == 0 and "given up" not in said and RunFile(out).counts()["finished"] == 3


def test_an_endpoint_that_refuses_every_case_refuses_the_run(tmp_path, own_store, capsys):
    cases = some_cases(own_store, 6)
    with Choosy("the") as server:
        code, said = run(server, tmp_path / "run.deskbench", own_store, ",".join(cases), capsys)
    assert code == 2 and "change the model settings it names" in said and server.count == 0
