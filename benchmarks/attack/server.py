"""An endpoint with a mood, in its own process: what it says is fixed, and the requests are counted.

``python -m benchmarks.attack.server MOOD`` prints ``READY URL`` and later ``SENT`` when its first hostile answer goes
out, serves until standard input closes, and ends with its counts as JSON.
"""

import argparse
import gzip
import hashlib
import json
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from . import texts
from .figure import ROOT, environment

sys.path.insert(0, str(ROOT / "tests"))

from servers import Answer, ScriptedServer, completion  # noqa: E402

LONG = [
    texts.repeated(texts.KNOWN[name], size)
    for name, size in (
        ("an unfinished phrase over and over", 100_000),
        ("sentences of one letter", 30_000),
        ("a finished phrase over and over", 100_000),
        ("sentences of two words", 30_000),
        ("digits", 50_000),
    )
]
"""Replies of the conversation that tries to hold up all others."""
HOSTILE = 10
"""Position of that conversation among those that arrive; when it begins, others have calls in flight."""
BOMB_BYTES = 50_000_000


class MoodyServer(ScriptedServer):
    """The endpoint.

    Parameters
    ----------
    mood : str
        ``plain``; ``long`` (one conversation of hostile replies); ``bomb`` (a small answer that is large when
        unpacked); ``no_usage``; ``call:TOOL`` (one call of that tool, then a text).
    latency_s : float
        Time before every answer.
    """

    def __init__(self, mood: str, latency_s: float = 0.0):
        super().__init__(latency_s=latency_s)
        self.mood, self.times, self.sent = mood, Counter(), 0
        self.emails: dict[str, int] = {}

    def answer(self, head: bytes, body: bytes) -> Answer:
        """Count a request and answer it in this mood."""
        key = hashlib.sha256(body).hexdigest()
        self.times[key] += 1
        request = orjson.loads(body)
        said = request["messages"]
        if self.mood == "long":
            email = str(next(m["content"] for m in said if m["role"] == "user"))
            if self.emails.setdefault(email, len(self.emails)) == HOSTILE:
                self.sent += 1
                if self.sent == 1:
                    print("SENT", flush=True)
                return Answer(completion(LONG[(self.sent - 1) % len(LONG)], request=request))
        if self.mood == "bomb":
            packed = gzip.compress(orjson.dumps(completion("a" * BOMB_BYTES)))
            return Answer(packed, headers={"Content-Encoding": "gzip"})
        if self.mood.startswith("call:") and said[-1]["role"] == "user":
            return Answer(completion(None, [(self.mood[5:], {})], request))
        answer = completion("We are looking into it and will come back to you.", request=request)
        return Answer(answer | {"usage": None} if self.mood == "no_usage" else answer)


class Served:
    """A running endpoint: its address and, after the block, what it counted."""

    def __init__(self, process: subprocess.Popen[str]):
        self.process = process
        self.base_url = process.stdout.readline().split()[1]
        self.count = self.twice = 0

    def wait_for_hostile_answer(self, seconds: float) -> bool:
        """Wait until the first hostile answer is on its way."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return bool(ready) and self.process.stdout.readline().strip() == "SENT"


@contextmanager
def serving(mood: str, latency_s: float = 0.0) -> Iterator[Served]:
    """Yield an endpoint in a process of its own, so that no client can hold it up."""
    line = [sys.executable, "-m", "benchmarks.attack.server", mood, "--latency", str(latency_s)]
    process = subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()
    )
    served = Served(process)
    try:
        yield served
    finally:
        process.stdin.close()
        counted = json.loads(process.stdout.read().strip().splitlines()[-1])
        process.wait()
        served.count, served.twice = counted["count"], counted["twice"]


def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("mood")
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args()
    with MoodyServer(options.mood, options.latency) as server:
        print(f"READY {server.base_url}", flush=True)
        sys.stdin.read()
    counted: dict[str, Any] = {"count": server.times.total(), "twice": sum(n - 1 for n in server.times.values())}
    print(json.dumps(counted), flush=True)


if __name__ == "__main__":
    main()
