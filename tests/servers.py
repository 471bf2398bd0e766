"""Real HTTP servers for tests and benchmarks: an OpenAI-compatible one with scripted replies, and its hostile moods.

In a test::

    with ScriptedServer(lambda request, number: "Hello") as server:
        endpoint = Endpoint("any", base_url=server.base_url)
        ...
        assert server.count == 1 and server.requests[0]["messages"]

The reply function gets the decoded request and its number (from 0) and returns a text, a whole body as a dict, raw
bytes, or an `Answer`. A `FaultPlan` puts faults in front of it. ``python tests/servers.py --latency 0.5`` serves from a
process of its own, so that a benchmark measures the client alone.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass
class Answer:
    """One HTTP answer, or none.

    `reset` drops the connection, `hang` never answers, `cut` promises more bytes than it sends.
    """

    body: dict[str, Any] | bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    reset: bool = False
    hang: bool = False
    cut: bool = False
    latency_s: float = 0.0


Reply = str | dict[str, Any] | bytes | Answer
ReplyFunction = Callable[[dict[str, Any], int], Reply]


def completion(
    text: str | None = "Hello.",
    calls: Sequence[tuple[str, Any]] = (),
    request: dict[str, Any] | None = None,
    finish_reason: str | None = None,
    **message: Any,
) -> dict[str, Any]:
    """Return a chat-completion body with a text, or with tool calls given as (name, arguments) pairs."""
    said: dict[str, Any] = {"role": "assistant", "content": text, **message}
    if calls:
        said["tool_calls"] = [
            {
                "id": f"call_{len((request or {}).get('messages', ()))}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for index, (name, given) in enumerate(calls)
        ]
    prompt = len(orjson.dumps(request.get("messages", ()))) // 4 if request else 12
    output = max(1, len(text or "") // 4)
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [
            {"index": 0, "message": said, "finish_reason": finish_reason or ("tool_calls" if calls else "stop")}
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output},
    }


def error_body(message: str, kind: str = "server_error", code: Any = None) -> dict[str, Any]:
    """Return an error body in OpenAI's form."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


FAULTS: dict[str, Answer] = {
    "429": Answer(error_body("slow down", "rate_limit_error", "rate_limit_exceeded"), 429),
    "429_retry_after": Answer(error_body("slow down", "rate_limit_error"), 429, {"Retry-After": "1"}),
    "500": Answer(error_body("it broke"), 500),
    "502_html": Answer(b"<html><body><h1>502 Bad Gateway</h1></body></html>", 502, {"Content-Type": "text/html"}),
    "html_200": Answer(b"<!doctype html><p>Please sign in", 200, {"Content-Type": "text/html"}),
    "cut_json": Answer(orjson.dumps(completion("This sentence is cut"))[:80]),
    "cut_body": Answer(orjson.dumps(completion("This body is cut")), cut=True),
    "empty_body": Answer(b""),
    "reset": Answer(reset=True),
    "hang": Answer(hang=True),
    "error_in_200": Answer(error_body("upstream is overloaded", code=503)),
    "null_choices": Answer({"id": "x", "object": "chat.completion", "choices": None, "usage": None}),
}
"""Transport faults by name; every one of them is worth another attempt."""


class FaultPlan:
    """A seeded plan of faults: a share of the attempts fails, the same ones for the same seed in whatever order they come.

    Parameters
    ----------
    seed
        Decides which attempts fail and how.
    share
        The share of attempts that fail.
    most_in_row
        The most faults one after another for one call; a call is known by its body.
    kinds
        Names from `FAULTS`.
    """

    def __init__(
        self, seed: int, share: float = 0.3, most_in_row: int = 2, kinds: Sequence[str] = tuple(FAULTS)
    ) -> None:
        self.seed, self.share, self.most_in_row, self.kinds = seed, share, most_in_row, tuple(kinds)
        self.injected: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._in_row: Counter[str] = Counter()

    def draw(self, body: bytes) -> str | None:
        """Return the fault for this attempt, or None."""
        call = hashlib.sha256(body).hexdigest()
        draw = random.Random(f"{self.seed} {call} {self._seen[call]}")
        self._seen[call] += 1
        if draw.random() >= self.share or self._in_row[call] >= self.most_in_row:
            self._in_row[call] = 0
            return None
        self._in_row[call] += 1
        kind = draw.choice(self.kinds)
        self.injected[kind] += 1
        return kind


class ScriptedServer:
    """An OpenAI-compatible server on a free port of 127.0.0.1, in a thread of its own.

    Parameters
    ----------
    reply
        What to answer, or a function of the request and its number.
    latency_s
        Time before every answer, in seconds.
    faults
        Faults to put in front of the replies.
    keep
        False answers without decoding or keeping requests: a benchmark's server should cost next to nothing.
    hold
        Keep the first answers until so many requests are waiting for one: however slow the machine, so many were in
        flight at once.

    Attributes
    ----------
    requests, headers : list
        Decoded bodies and headers of all requests, in order of arrival.
    count, most_in_flight : int
        How many requests came, and how many were being answered at once.
    """

    def __init__(
        self,
        reply: Reply | ReplyFunction = "Hello.",
        latency_s: float = 0.0,
        faults: FaultPlan | None = None,
        keep: bool = True,
        hold: int = 0,
    ) -> None:
        self.hold, self._held = hold, []
        self.reply, self.latency_s, self.faults, self.keep = reply, latency_s, faults, keep
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.in_flight = self.most_in_flight = 0
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.Transport] = set()

    @property
    def base_url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def count(self) -> int:
        """The number of requests so far."""
        return len(self.requests)

    def __enter__(self) -> ScriptedServer:
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            self._loop.create_server(lambda: Exchange(self), "127.0.0.1", self.port, backlog=1024)
        )
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()
        server.close()
        for transport in list(self._open):
            transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def answer(self, head: bytes, body: bytes) -> Answer:
        """Note a request and decide what to answer."""
        if not self.keep:
            return Answer(self.reply)
        request = orjson.loads(body) if body else {}
        self.requests.append(request)
        lines = head.decode("latin-1").split("\r\n")[1:]
        self.headers.append(
            {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        )
        fault = self.faults.draw(body) if self.faults else None
        if fault:
            return FAULTS[fault]
        reply = self.reply(request, self.count - 1) if callable(self.reply) else self.reply
        if isinstance(reply, str):
            reply = completion(reply, request=request)
        return reply if isinstance(reply, Answer) else Answer(reply)


class Exchange(asyncio.Protocol):
    """One connection: reads requests and writes answers, in order."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server, self.received = server, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection, to drop it when the server stops."""
        self.transport = transport
        self.server._open.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        """Forget the connection."""
        self.server._open.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        """Answer once a whole request has come."""
        self.received += data
        head, found, rest = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) < length:
            return
        self.received = rest[length:]
        server = self.server
        server.in_flight += 1
        server.most_in_flight = max(server.most_in_flight, server.in_flight)
        answer = server.answer(head, rest[:length])
        latency = server.latency_s + answer.latency_s
        if server.most_in_flight < server.hold:
            server._held.append((self, answer))
            return
        while server._held:
            waiting, kept = server._held.pop()
            waiting.send(kept)
        if latency:
            server._loop.call_later(latency, self.send, answer)
        else:
            self.send(answer)

    def send(self, answer: Answer) -> None:
        """Write an answer, or what stands for it."""
        self.server.in_flight -= 1
        if answer.hang or self.transport.is_closing():
            return
        if answer.reset:
            self.transport.abort()
            return
        body = answer.body if isinstance(answer.body, bytes) else orjson.dumps(answer.body)
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body) + 64 * answer.cut),
            **answer.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(
            f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Status')}\r\n{lines}\r\n".encode() + body
        )
        if answer.cut:
            self.transport.close()


def main() -> None:
    """Serve fixed replies until standard input closes; prints ``READY URL``."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    fixed = orjson.dumps(
        completion("Thank you for your message. I have looked at your order and it is on its way to you. " * 4)
    )
    server = ScriptedServer(fixed, options.latency, keep=False)
    server.port = options.port
    with server:
        print(f"READY {server.base_url}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
