"""Cost of one model call on the client's side, and throughput with many in flight.

``python benchmarks/endpoint.py`` starts a fixed-latency server in a process of its own and prints two tables: CPU time
of this process per call, through `Endpoint` and through the ``openai`` package's own ``create``, and the throughput
reached relative to the ideal (calls in flight divided by the latency), the best of five runs. Nothing is asserted here:
the tables show the goals with the figures, and the machine's load below them. Each process needs a core of its own.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmark_lib.endpoint import Endpoint, start_delay_s  # noqa: E402

LATENCY_S = 0.5
CALLS, WARM_UP, AT_ONCE = 600, 60, 8
CPU_GOAL_MS = 1.0
THROUGHPUT_GOALS = {200: 0.97, 400: 0.93}
ROUNDS, REPEATS = 8, 5
SENTENCE = (
    "The parcel was scanned in the regional hub on Friday evening and should be with you within two business days. "
)


@contextlib.contextmanager
def server(latency_s: float):
    """Run the scripted server in its own process; yield the base URL."""
    command = [sys.executable, str(ROOT / "tests" / "servers.py"), "--latency", str(latency_s)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split()[1]
    finally:
        process.stdin.close()
        process.wait(10)


def tools(count: int = 10) -> list[dict]:
    """Return tool declarations of about 600 bytes each."""
    text = {"type": "string", "description": "An identifier as it stands in the customer's email, without quotes."}
    parameters = {
        "type": "object",
        "properties": {"order_id": text, "line_id": text, "reason": text},
        "required": ["order_id"],
        "additionalProperties": False,
    }
    return [
        {"type": "function", "function": {"name": f"tool_{n}", "description": SENTENCE, "parameters": parameters}}
        for n in range(count)
    ]


def conversation(bytes_wanted: int, offered: list[dict]) -> list[dict]:
    """Return a conversation with a request body of about this size: emails, tool calls and their results."""
    endpoint = Endpoint("benchmark", "http://127.0.0.1:9/v1")
    messages: list[dict] = [{"role": "system", "content": SENTENCE * 15}]
    while len(endpoint.request_body(messages, offered)) < bytes_wanted:
        number = f"call_{len(messages)}"
        call = {
            "id": number,
            "type": "function",
            "function": {"name": "tool_1", "arguments": '{"order_id":"NL-48213"}'},
        }
        messages += [
            {"role": "user", "content": SENTENCE * 5},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": number, "content": SENTENCE * 10},
            {"role": "assistant", "content": SENTENCE * 5},
        ]
    return messages


async def cpu_ms(call, calls: int) -> float:
    """Return CPU milliseconds of this process per call, with a few calls in flight."""

    async def worker(number: int) -> None:
        for _ in range(number):
            await call()

    await worker(WARM_UP)
    before = time.process_time()
    await asyncio.gather(*(worker(calls // AT_ONCE) for _ in range(AT_ONCE)))
    return (time.process_time() - before) / (calls // AT_ONCE * AT_ONCE) * 1000


async def measure_cpu(base_url: str) -> list[tuple[str, int, float, float]]:
    """Measure both ways of calling at both body sizes: (body, messages, ours, create)."""
    from openai import AsyncOpenAI

    rows = []
    offered = tools()
    async with Endpoint("benchmark", base_url) as endpoint, AsyncOpenAI(api_key="local", base_url=base_url) as plain:
        for size in (17_000, 46_000):
            messages = conversation(size, offered)
            ours = await cpu_ms(lambda: endpoint.complete(messages, offered), CALLS)
            create = plain.chat.completions.create
            theirs = await cpu_ms(lambda: create(model="benchmark", messages=messages, tools=offered), CALLS // 3)
            body = len(endpoint.request_body(messages, offered))
            rows.append((f"{body / 1000:.0f} KB", len(messages), ours, theirs))
    return rows


async def measure_throughput(base_url: str, in_flight: int) -> float:
    """Return the throughput with this many conversations in flight, as a share of the ideal; stagger their starts."""
    offered = tools()
    messages = conversation(17_000, offered)
    shares = []

    async with Endpoint("benchmark", base_url, concurrency=in_flight) as endpoint:

        async def worker(index: int) -> None:
            await asyncio.sleep(start_delay_s(index, in_flight, LATENCY_S))
            await endpoint.complete(messages, offered)  # opens the connection
            started = time.perf_counter()
            for _ in range(ROUNDS):
                await endpoint.complete(messages, offered)
            shares.append(ROUNDS * LATENCY_S / (time.perf_counter() - started))

        await asyncio.gather(*(worker(index) for index in range(in_flight)))
    return sum(shares) / len(shares)


def main() -> None:
    """Measure and print both tables."""
    with server(0.0) as base_url:
        rows = asyncio.run(measure_cpu(base_url))
    print("| request body | messages | ours, CPU ms a call | openai create | ratio | goal |\n|---|---|---|---|---|---|")
    for body, messages, ours, theirs in rows:
        print(f"| {body} | {messages} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.1f} | <= {CPU_GOAL_MS} |")
    print("\n| in flight, 500 ms | share of the ideal throughput | goal |\n|---|---|---|")
    with server(LATENCY_S) as base_url:
        for in_flight, goal in THROUGHPUT_GOALS.items():
            share = max(asyncio.run(measure_throughput(base_url, in_flight)) for _ in range(REPEATS))
            print(f"| {in_flight} | {share:.3f} | >= {goal} |")
    print(f"\n{os.cpu_count()} cores, load over the last minute {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
