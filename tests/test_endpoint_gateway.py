"""A real LiteLLM proxy between an endpoint and made-up providers: thoughts survive it, and errors are what they are."""

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest
from servers import Answer, ScriptedServer, completion

from benchmark_lib import Experiment
from benchmark_lib.endpoint import Endpoint, EndpointError
from benchmark_lib.runfile import RunFile

pytestmark = pytest.mark.slow

VERSION = "1.108.7"
START_S = 240
CASE = "tracking_1"
THINKING = {"body": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048}}
SIGNED = {"type": "thinking", "thinking": "Look it up.", "signature": "c2lnbmVk"}


@pytest.fixture(scope="module")
def litellm_python():
    """The interpreter of an environment that has the proxy, made once for this machine."""
    folder = Path(tempfile.gettempdir()) / f"deskbench-litellm-{VERSION}"
    python, whole = folder / "bin" / "python", folder / "installed"
    if not whole.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        wanted = [str(python), "-m", "pip", "install", "-q", f"litellm[proxy]=={VERSION}"]
        done = subprocess.run(wanted, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"litellm[proxy] cannot be installed here: {done.stderr.strip().splitlines()[-1][:200]}")
        whole.touch()
    return str(python)


class Gateway:
    """The proxy, the provider behind it and the key it takes."""

    def __init__(self):
        self.reply = "Hello."
        self.provider = ScriptedServer(lambda request, n: self.reply(request, n) if request else Answer({}, 404))
        self.base_url, self.key = "", f"sk-{secrets.token_hex(16)}"

    def says(self, reply):
        """Have the provider answer so, from now on, with no request seen yet."""
        self.reply = reply
        self.provider.requests.clear()

    def ask(self, model):
        """The outcome of one call."""

        async def once():
            async with Endpoint(model, self.base_url, self.key, attempts=1) as endpoint:
                return await endpoint.complete([{"role": "user", "content": "Where is my order?"}])

        return asyncio.run(once())

    def play(self, model, folder, **settings):
        """The record of a conversation of a run, which has to be answered by the provider to its end."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_KEY", self.key)
            path = folder / "run.deskbench"
            given = {"cases": CASE, "trials": 1, "messages": 2, "out": path, "progress": False}
            asyncio.run(Experiment(model, base_url=self.base_url, settings={"agent": settings}, **given).run())
        return RunFile(path).record(CASE, 1)


@pytest.fixture(scope="module")
def gateway(litellm_python, tmp_path_factory):
    """A proxy that runs, with a provider behind it under the names of three kinds."""
    folder, gate = tmp_path_factory.mktemp("gateway"), Gateway()
    with gate.provider as provider:
        bare = provider.base_url.removesuffix("/v1")
        kinds = {"plain": ("openai/x", provider.base_url), "vllm": ("hosted_vllm/x", provider.base_url)}
        kinds |= {"deepseek": ("deepseek/deepseek-reasoner", provider.base_url)}
        kinds |= {"claude": ("anthropic/claude-sonnet-4-5", bare), "groq": ("groq/x", provider.base_url)}
        models = [
            {"model_name": name, "litellm_params": {"model": model, "api_base": base, "api_key": "sk-behind-it"}}
            for name, (model, base) in kinds.items()
        ]
        config = {"model_list": models, "general_settings": {"master_key": gate.key}}
        config |= {
            "litellm_settings": {"num_retries": 0},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        }
        (folder / "config.yaml").write_text(json.dumps(config))
        with ScriptedServer() as free:
            port = free.port
        code = ["-c", "from litellm import run_server; run_server()"]
        line = [
            litellm_python,
            *code,
            "--config",
            str(folder / "config.yaml"),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
        with open(folder / "log", "w") as log:
            proxy = subprocess.Popen(line, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            wait_for(f"http://127.0.0.1:{port}/health/liveliness", proxy, folder / "log")
            gate.base_url = f"http://127.0.0.1:{port}/v1"
            yield gate
        finally:
            proxy.terminate()
            proxy.wait(60)


def wait_for(url, proxy, log):
    """Wait until the proxy answers."""
    opener, until = urllib.request.build_opener(urllib.request.ProxyHandler({})), time.monotonic() + START_S
    while time.monotonic() < until and proxy.poll() is None:
        try:
            with opener.open(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"the proxy did not start: {log.read_text()[-500:]}")


def as_anthropic(*content, stop="end_turn"):
    usage = {"input_tokens": 20, "output_tokens": 5}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": list(content),
        "stop_reason": stop,
        "usage": usage,
    }


def test_claude_with_thinking_gets_its_signed_thoughts_back(gateway, tmp_path):
    def anthropic(request, number):
        for message in request["messages"]:
            kinds = [part["type"] for part in message["content"]] if message["role"] == "assistant" else []
            if "tool_use" in kinds and (kinds[0] != "thinking" or message["content"][0] != SIGNED):
                why = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
                return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": why}}, 400)
        if any(part["type"] == "tool_result" for part in request["messages"][-1]["content"]):
            return as_anthropic({"type": "text", "text": "It is on its way."})
        wanted = {"type": "tool_use", "id": f"toolu_{number}", "name": "get_order", "input": {"order_id": "NL-1"}}
        return as_anthropic(SIGNED, wanted, stop="tool_use")

    gateway.says(anthropic)
    record = gateway.play("claude", tmp_path, **THINKING)
    assert [m.text for m in record.replies()] == ["It is on its way."] * 2 and len(record.tool_calls) == 2
    assert {thought.text for thought in record.reasoning} == {"Look it up."}


@pytest.mark.parametrize(
    "model, field", [("vllm", "reasoning"), ("plain", "reasoning_content"), ("deepseek", "reasoning_content")]
)
def test_thoughts_go_back_under_the_name_that_the_provider_gave_them(gateway, tmp_path, model, field):
    def provider(request, number):
        if request["messages"][-1]["role"] == "tool":
            return completion("It is on its way.", (), request, **{field: "Well."})
        return completion(None, [("get_order", {"order_id": "NL-1"})], request, **{field: "Look it up."})

    gateway.says(provider)
    record = gateway.play(model, tmp_path)
    sent = [m for r in gateway.provider.requests for m in r["messages"] if m.get("tool_calls")]
    assert len(record.replies()) == 2 and sent and all(m[field] == "Look it up." for m in sent)


OPENAI = {"type": "invalid_request_error", "param": None, "code": None}


@pytest.mark.parametrize(
    "model, error, status, kind",
    [
        ("plain", {**OPENAI, "message": "Output blocked by content filtering policy"}, 400, "content_filter"),
        ("claude", {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}, 400, "content_filter"),
        ("plain", {**OPENAI, "message": "Invalid prompt: flagged", "code": "invalid_prompt"}, 400, "content_filter"),
        ("groq", {**OPENAI, "message": "Failed to call a function.", "code": "tool_use_failed"}, 400, "malformed_call"),
        ("plain", {**OPENAI, "message": "This model's maximum context length is 8192 tokens."}, 400, "context_overflow"),
        ("claude", {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens"}, 400, "context_overflow"),
        ("plain", {**OPENAI, "message": "You exceeded your current quota", "code": "insufficient_quota"}, 429, "quota"),
        ("claude", {"type": "overloaded_error", "message": "Overloaded"}, 529, "server"),
        ("plain", {**OPENAI, "message": "Invalid value", "param": "messages[1].content"}, 400, "bad_request"),
        ("unheard_of", {}, 200, "not_found"),
    ],
)  # fmt: skip
def test_errors_of_providers_are_what_they_are(gateway, model, error, status, kind):
    gateway.says(lambda request, number: Answer({"type": "error", "error": error}, status))
    if kind in ("content_filter", "malformed_call"):
        assert gateway.ask(model).finish_reason == kind
    else:
        with pytest.raises(EndpointError) as caught:
            gateway.ask(model)
        assert caught.value.kind == kind and str(error.get("param") or "") in str(caught.value)


def test_the_wait_that_a_provider_asks_for_comes_through(gateway):
    gateway.says(
        lambda request, number: Answer({"error": {**OPENAI, "message": "slow down"}}, 429, {"retry-after": "7"})
    )
    with pytest.raises(EndpointError) as caught:
        gateway.ask("plain")
    assert (caught.value.kind, caught.value.retry_after_s) == ("rate_limit", 7.0)


@pytest.mark.parametrize("word, kind", [("insufficient_system_resource", "server"), ("sensitive", "content_filter")])
def test_an_end_that_the_proxy_calls_plain_is_known_by_the_providers_word(gateway, word, kind):
    gateway.says(lambda request, number: completion("Your parcel", finish_reason=word))
    try:
        assert gateway.ask("plain").finish_reason == kind
    except EndpointError as error:
        assert error.kind == kind
