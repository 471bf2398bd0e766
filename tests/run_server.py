"""A local endpoint with one fixed policy, for tests and measurements of whole runs.

It answers a customer's message with one call of the knowledge base and the call's result with a text, so a conversation
takes two calls a turn. Every answer carries a serial number that later requests of the same conversation carry on: what
was bought twice, or shared by two conversations, can be counted.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import orjson
from servers import Answer, ScriptedServer, completion

from benchmark_lib import load_cases, load_store

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
NO_MODEL = {"error": {"message": "no such model", "code": "model_not_found"}}


class RunServer(ScriptedServer):
    """The endpoint; keeps no requests, so that it can serve for long.

    Attributes
    ----------
    arrivals : list of float
        When each request came, in seconds of the monotonic clock.
    model : str or None
        The one model it knows; None for any.
    broken : Answer or None
        Given to every request from the time it is set.
    """

    def __init__(self, latency_s: float = 0.0, model: str | None = None):
        super().__init__(latency_s=latency_s)
        self.arrivals: list[float] = []
        self.model, self.broken = model, None

    @property
    def count(self) -> int:
        """The number of requests so far."""
        return len(self.arrivals)

    def answer(self, head: bytes, body: bytes) -> Answer:
        """Answer by the fixed policy."""
        request = orjson.loads(body)
        greeting = request.get("max_tokens") == 1  # no call of a run: whether a key is wanted and the model is known
        if not greeting:
            self.arrivals.append(time.monotonic())
        if self.model not in (None, request["model"]):
            return Answer(NO_MODEL, 404)
        if greeting:
            return Answer(self.reply_to(request, 0))
        if self.broken is not None:
            return self.broken
        return Answer(self.reply_to(request, len(self.arrivals)))

    def reply_to(self, request: dict, number: int) -> dict:
        """One call of the knowledge base, then a text."""
        if request["messages"][-1]["role"] == "tool" or not request.get("tools"):
            answer = completion(f"We are looking into it, reference {number}.")
        else:
            answer = completion(None, [("search_knowledge_base", {"query": f"returns {number}"})], request)
        return answer | {"usage": USAGE}


def copy_store(folder: Path, files: int = 3, name: str = "southline") -> Path:
    """A copy of the store with some of its case files, so that it loads fast and a test may change it.

    It has a name of its own: under Northline's, each board would load Northline, too, to compare the content.
    """
    source = load_store("northline").path
    copy = Path(shutil.copytree(source, folder / source.name))
    every = sorted((copy / "cases").glob("*.yaml"))
    for path in {*every} - {every[i * len(every) // files] for i in range(files)}:
        path.unlink()
    about = copy / "store.yaml"
    about.write_text(about.read_text().replace(f"name: {source.name}\n", f"name: {name}\n", 1))
    shutil.rmtree(copy / "wordings", ignore_errors=True)  # they tell again cases that are gone now
    return copy


def some_cases(store: Path, count: int) -> list[str]:
    """Ids of `count` cases, spread over the case set."""
    ids = [c.id for c in load_cases(load_store(store))]
    return [ids[i * len(ids) // count] for i in range(count)]
