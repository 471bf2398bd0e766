"""The endpoint for measurements: it answers each call after the same time, and uses as little of the machine as it can.

It answers a customer's message with one call to the knowledge base and the call's result with a text, each with a
serial number, as ``RunServer`` in the tests does. Of a request, it reads only the length and who spoke last. ``python
benchmarks/fixed_latency.py SECONDS`` prints ``READY URL`` and serves until input closes. For each line of input it prints
a JSON line: the most requests that were in flight at once, and when each arrived, in seconds of Unix time.
"""

import asyncio
import itertools
import json
import sys
import time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
BODY = (
    b'{"id":"chatcmpl-test","object":"chat.completion","created":0,"model":"scripted","choices":[{"index":0,"message":'
    b'{"role":"assistant",%b}],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}'
)
TEXT = BODY % b'"content":"We are looking into it, reference %d."},"finish_reason":"stop"'
CALL = BODY % (
    b'"content":null,"tool_calls":[{"id":"call_%d","type":"function","function":'
    b'{"name":"search_knowledge_base","arguments":"{\\"query\\": \\"returns %d\\"}"}}]},"finish_reason":"tool_calls"'
)
ROLE, LENGTH = b'{"role":"', b"content-length:"


class Exchange(asyncio.Protocol):
    """One connection, with one request at a time."""

    numbers = itertools.count(1)
    in_flight = most_in_flight = 0
    arrivals: list[float] = []

    def __init__(self, latency_s: float):
        self._latency_s, self._received = latency_s, b""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.lower().partition(LENGTH)[2].partition(b"\r")[0]):
            return
        self._received, number = b"", next(self.numbers)
        replied = body.startswith(b"tool", body.rfind(ROLE) + len(ROLE))
        answer = TEXT % number if replied else CALL % (number, number)
        self._loop.call_later(self._latency_s, self._answer, HEAD % (len(answer), answer))
        Exchange.in_flight += 1
        Exchange.most_in_flight = max(self.in_flight, self.most_in_flight)
        self.arrivals.append(time.time())

    def _answer(self, answer: bytes) -> None:
        Exchange.in_flight -= 1
        self._transport.write(answer)


def report() -> None:
    """Print what was seen, for each line of standard input until it closes."""
    for _ in sys.stdin:
        print(json.dumps([Exchange.most_in_flight, Exchange.arrivals]), flush=True)


async def serve(latency_s: float) -> None:
    """Serve until standard input closes."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Exchange(latency_s), "127.0.0.1", 0, backlog=1024)
    print(f"READY http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, report)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
