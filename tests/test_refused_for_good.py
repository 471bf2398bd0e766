"""A conversation that an endpoint refuses for good: the same command ends in order, and says why in the provider's words."""

import re

from run_server import RunServer, some_cases
from servers import Answer

from benchmark_lib import load_cases, load_store
from benchmark_lib.cli import main
from benchmark_lib.runfile import RunFile

NO = Answer(
    {"error": {"message": "Invalid prompt: try another", "type": "invalid", "param": "messages[1]", "code": "x17"}}, 400
)


class Choosy(RunServer):
    """Refuses every request whose text holds one of these sentences."""

    def __init__(self, *sentences):
        super().__init__()
        self.sentences = [sentence.encode() for sentence in sentences]

    def answer(self, head, body):
        """Refuse a conversation that says one of them."""
        if any(sentence in body for sentence in self.sentences):
            return NO
        return super().answer(head, body)


def run(server, out, store, cases, capsys):
    line = ["run", "some-model", "--base-url", server.base_url, "--out", str(out), "--store", str(store), "--yes"]
    code = main([*line, "--cases", cases, "--trials", "1", "--messages", "2"])
    return code, "".join(capsys.readouterr())


def words_of(store, case_id):
    return re.findall(r"[A-Za-z ]{20,}", load_cases(load_store(store), case_id)[0].email.text)[0]


def test_the_same_command_finishes_a_run_of_which_one_conversation_is_refused(tmp_path, own_store, capsys):
    cases, out = some_cases(own_store, 4), tmp_path / "run.deskbench"
    with Choosy(words_of(own_store, cases[0])) as server:
        code, said = run(server, out, own_store, ",".join(cases), capsys)
        assert code == 3, said
        assert "Invalid prompt: try another [code x17, param messages[1]]" in said
        assert RunFile(out).counts() | {"calls": 0} == {"finished": 3, "again": 1, "calls": 0}
        code, said = run(server, out, own_store, ",".join(cases), capsys)
        assert code == 0 and "refused by the endpoint for good" in said and cases[0] in said
        asked = server.count
        code, said = run(server, out, own_store, ",".join(cases), capsys)
        assert code == 0 and server.count == asked, "it is not asked for again"
    assert main(["runs", "show", str(out)]) == 0
    assert "Invalid prompt" in capsys.readouterr().out


def test_an_endpoint_that_refuses_every_case_refuses_the_run(tmp_path, own_store, capsys):
    cases = some_cases(own_store, 6)
    with Choosy("the") as server:
        code, said = run(server, tmp_path / "run.deskbench", own_store, ",".join(cases), capsys)
    assert code == 2 and "change the model settings it names" in said and server.count == 0
