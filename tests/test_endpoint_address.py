"""A base URL is written down in many places, so it holds no secret.

What has to be kept out of sight has places of its own.
"""

import asyncio
import base64
import contextlib
import os
import socket
import sqlite3
from pathlib import Path

import pytest
from servers import ScriptedServer, completion

from benchmark_lib.cli import main
from benchmark_lib.endpoint import Endpoint, EndpointError
from benchmark_lib.endpoint.http import check_base_url, is_loopback, proxy_of, shown
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment import Experiment
from benchmark_lib.reports import run_notebook

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
CANARY = "c4n4ry-81f3"
SECRET_URLS = [
    f"http://anna:{CANARY}@127.0.0.1:9/v1",
    f"http://{CANARY}@127.0.0.1:9/v1",
    f"http://127.0.0.1:9/v1?code={CANARY}",
    f"http://127.0.0.1:9/v1#{CANARY}",
    f"http://anna:{CANARY}/x@127.0.0.1:9/v1",
    f"anna:{CANARY}@127.0.0.1:9/v1",
    f"http://anna:a?{CANARY}@127.0.0.1:9/v1",
    f"http://127.0.0.1:9/v1/sk-{CANARY}",
]
HELLO = [{"role": "user", "content": "Hello."}]


def everything_in(*folders):
    """All that stands in the files of some folders, the pages of SQLite files among them."""
    return b"".join(path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file())


def ask(server, **settings):
    """Make one call with these settings and return its headers."""

    async def once():
        async with Endpoint("some-model", server.base_url, settings=settings) as endpoint:
            assert CANARY not in repr(vars(endpoint))
            await endpoint.complete(HELLO)

    asyncio.run(once())
    return server.headers[0]


class TestWhatABaseUrlMayHold:
    @pytest.mark.parametrize("url", SECRET_URLS)
    def test_a_secret_is_refused_in_one_sentence_that_does_not_repeat_it(self, url, monkeypatch):
        for given, variable in ((url, ""), (None, url)):
            monkeypatch.setenv("OPENAI_BASE_URL", variable)
            with pytest.raises(BadInput) as refused:
                check_base_url(given)
            said = str(refused.value)
            assert CANARY not in said and "\n" not in said and ("OPENAI_BASE_URL" in said) == (given is None)
            assert refused.value.__context__ is None

    @pytest.mark.parametrize(
        "url",
        [
            "nonsense",
            "ftp://host/v1",
            "http://",
            "http://host:port/v1",
            "http://[::1/v1",
            "http://a b/v1",
            "http://a..b/v1",
            "http://host\r\nX: y/v1",
            f"http://{'x' * 80}.example/v1",
            "http://h/\x00",
            "http:\\\\h",
        ],
    )
    def test_what_is_no_address_is_refused(self, url):
        with pytest.raises(BadInput, match="is not an address"):
            check_base_url(url)

    @pytest.mark.parametrize(
        "host, here",
        [
            ("localhost", True),
            ("127.0.0.1", True),
            ("127.8.8.8", True),
            ("[::1]", True),
            ("127.0.0.1.example", False),
            ("localhost.example", False),
            ("10.0.0.1", False),
        ],
    )
    def test_what_is_on_this_machine(self, host, here):
        assert is_loopback(f"http://{host}:8000/v1") == here

    def test_what_is_no_text_is_refused(self):
        with pytest.raises(BadInput, match="is not a string"):
            check_base_url(5)

    @pytest.mark.parametrize("end", ["", "/", "/chat/completions", "/chat/completions/", "\r"])
    def test_the_path_of_a_completion_may_stand_in_the_base_url(self, end):
        assert check_base_url(f"http://models.example/v1{end}") == "http://models.example/v1"

    def test_a_key_with_the_quotes_of_its_file_is_refused(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", '"sk-of-a-dotenv-file"')
        with pytest.raises(BadInput, match="OPENAI_API_KEY contains characters") as refused:
            Endpoint("m", "https://models.example/v1")
        assert "dotenv" not in str(refused.value)

    def test_an_address_is_shown_without_its_secrets(self):
        assert shown(f"https://anna:{CANARY}@host:1/v1?key={CANARY}") == "https://host:1/v1"
        assert CANARY not in "".join(map(shown, SECRET_URLS[:-1]))

    @pytest.mark.parametrize(
        "proxy", ["socks5://127.0.0.1:1080", f"http://anna:{CANARY}@proxy:port", "proxy.example:3128"]
    )
    def test_a_proxy_that_cannot_work_is_refused_before_anything_is_sent(self, monkeypatch, proxy):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with pytest.raises(BadInput, match="HTTPS_PROXY") as refused:
            Endpoint("some-model", "https://models.example/v1", api_key="a-key-for-elsewhere")
        assert CANARY not in str(refused.value) and proxy_of("http://127.0.0.1:9/v1") is None


class TestWhereASecretGoesInstead:
    def test_parameters_of_the_query_come_from_the_settings_and_their_secrets_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("GATE", f"{CANARY} &x")
        lines = []
        with ScriptedServer("Hello.") as server:
            answer, server.answer = (
                server.answer,
                lambda head, body: (lines.append(head.split(b"\r\n")[0]), answer(head, body))[1],
            )
            ask(server, query={"api-version": "2024-10-21"}, query_env={"code": "GATE"})
        assert lines == [f"POST /v1/chat/completions?api-version=2024-10-21&code={CANARY}+%26x HTTP/1.1".encode()]

    def test_a_user_and_password_go_into_a_header_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("BASIC", "Basic " + base64.b64encode(f"anna:{CANARY}".encode()).decode())
        with ScriptedServer("Hello.") as server:
            headers = ask(server, headers_env={"Authorization": "BASIC"})
        assert headers["authorization"] == os.environ["BASIC"]

    @pytest.mark.parametrize("field", ["query", "headers"])
    def test_one_that_is_written_out_is_refused(self, field):
        with pytest.raises(BadInput, match=f"name that under {field}_env"):
            Endpoint("some-model", "http://127.0.0.1:9/v1", settings={field: {"subscription-key": CANARY}})

    def test_a_key_in_the_body_is_refused_because_the_run_file_keeps_the_body(self):
        with pytest.raises(BadInput, match="body contains a key") as refused:
            Endpoint("some-model", "http://127.0.0.1:9/v1", settings={"body": {"user": [f"sk-{CANARY}"]}})
        assert CANARY not in str(refused.value)


class TestNothingIsWritten:
    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-the-canary-123")
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data" / "stores").mkdir(parents=True)

    @pytest.mark.parametrize("url", SECRET_URLS)
    @pytest.mark.parametrize(
        "command",
        [
            ["run", "some-model", "--cases", "slice", "--base-url"],
            ["run", "scripted:oracle", "--cases", "slice", "--base-url"],
            ["run", "scripted:oracle", "--customer", "some-model", "--cases", "slice", "--customer-base-url"],
            ["run", "some-model", "--replay", "--base-url"],
            ["doctor", "some-model", "--base-url"],
            ["judge", "--probe", "--judge", "some-model", "--base-url"],
            ["demo", "--model", "some-model", "--cases", "slice", "--base-url"],
        ],
        ids=lambda words: f"{words[0]} {words[1]}",
    )
    def test_every_command_refuses_the_url_and_leaves_no_trace_of_it(self, command, url, tmp_path, capsys):
        assert main([*command, url]) == 2
        shown_here = capsys.readouterr()
        assert CANARY not in shown_here.out + shown_here.err and CANARY.encode() not in everything_in(tmp_path)
        assert shown_here.err.count("\n") == 1

    @pytest.mark.parametrize(
        "parameters",
        [
            {"base_url": f"http://anna:{CANARY}@127.0.0.1:9/v1"},
            {"customer_base_url": f"anna:{CANARY}@127.0.0.1:9/v1"},
            {"cases": f"https://anna:{CANARY}@host/"},
            {"out": f"sk-{CANARY}"},
            {"cases": [f"https://host/?x={CANARY}"]},
        ],
    )
    def test_a_notebook_is_refused_such_a_parameter_before_it_is_copied(self, parameters, tmp_path):
        with pytest.raises(BadInput) as refused:
            run_notebook(str(NOTEBOOKS / "01_run_model.ipynb"), parameters, folder=tmp_path / "reports")
        assert CANARY not in str(refused.value) and not (tmp_path / "reports").exists()

    def test_no_experiment_is_made_whose_picture_would_show_it(self):
        with pytest.raises(BadInput, match="customer_base_url"):
            Experiment("scripted:oracle", customer_base_url=SECRET_URLS[0])

    def test_a_run_a_notebook_and_the_site_hold_no_secret_of_the_settings(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("GATE", CANARY)
        monkeypatch.setenv("BASIC", f"Basic {CANARY}-basic")
        (tmp_path / "settings.yaml").write_text(
            "agent: {query_env: {code: GATE}, headers_env: {Authorization: BASIC}}\n"
        )
        reply = completion(f"We will look into it. {CANARY}-basic")
        with ScriptedServer(reply) as server:
            options = [
                "--cases",
                "slice",
                "--trials",
                "1",
                "--messages",
                "2",
                "--settings",
                "settings.yaml",
                "--out",
                "run.deskbench",
            ]
            assert main(["run", "some-model", "--base-url", server.base_url, *options]) == 0
            assert server.headers[0]["authorization"] == os.environ["BASIC"]
        assert main(["site", "run.deskbench", "--out", "site"]) == 0
        run_notebook(
            str(NOTEBOOKS / "02_leaderboard.ipynb"),
            {"runs": [str(tmp_path / "run.deskbench")]},
            folder=tmp_path / "reports",
        )
        with sqlite3.connect("run.deskbench") as file:
            rows = "".join(
                str(row)
                for (table,) in file.execute("select name from sqlite_master where type = 'table'").fetchall()
                for row in file.execute(f"select * from {table}")
            )
        said = "".join(capsys.readouterr())
        assert CANARY not in said and CANARY not in rows and CANARY.encode() not in everything_in(tmp_path)


class TestWhetherAnythingIsThere:
    def test_a_proxy_where_nothing_listens_is_named_as_one(self, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        endpoint = Endpoint("m", "http://models.example/v1", api_key="a-key-for-it")
        with pytest.raises(EndpointError, match="the proxy: "):
            asyncio.run(endpoint.complete([{"role": "user", "content": "Hi"}]))

    def test_an_address_where_nothing_listens_is_told_of_at_the_first_attempt(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            endpoint = Endpoint("some-model", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
            for call in (endpoint.greet(), endpoint.complete([{"role": "user", "content": "Hi"}])):
                with pytest.raises(EndpointError, match="cannot be reached") as refused:
                    asyncio.run(call)
                assert refused.value.kind == "connection" and "onnect" in str(refused.value)
        assert len(refused.value.attempts) == 1

    def test_an_address_that_never_answers_is_told_of_at_the_first_attempt(self, monkeypatch):
        monkeypatch.setattr("benchmark_lib.endpoint.http.CONNECT_TIMEOUT_S", 0.1)
        with socket.socket() as silent, contextlib.ExitStack() as others:
            silent.bind(("127.0.0.1", 0))
            silent.listen(0)
            for _ in range(3):  # as many as the queue holds
                other = others.enter_context(socket.socket())
                other.setblocking(False)
                other.connect_ex(silent.getsockname())
            endpoint = Endpoint("some-model", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
            with pytest.raises(EndpointError, match="onnection timeout") as refused:
                asyncio.run(endpoint.complete([{"role": "user", "content": "Hi"}]))
        assert (refused.value.kind, len(refused.value.attempts)) == ("connection", 1)
