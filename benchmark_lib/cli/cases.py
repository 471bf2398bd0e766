"""``deskbench cases``."""

import argparse
from typing import Any

from .codes import FINISHED
from .options import STORE, TOOLS

ARGUMENTS = {
    "PATTERN?": ("list each case that it selects; hard lists the names in the hard set (default: all names)", "all"),
    **STORE,
    **TOOLS,
}


def execute(options: argparse.Namespace) -> int:
    """Print the names that --cases accepts, with case counts, or the cases of one name."""
    from ..cases.hard import HARD
    from ..cases.load import case_set, load_cases, names_with_counts
    from ..reports.terminal import columns, screen_width
    from ..scoring.written import counted
    from ..store import load_store

    name, pattern = case_set(options.store, options.pattern)
    store = load_store(name, options.tools)
    cases = load_cases(store, pattern)
    print(f"{store.name} {store.version}: {counted(len(cases), 'case')}")
    if pattern != "all":
        heads, width = ("id", "bucket", "intent", "what should happen", "title"), screen_width()
        ends = [" or ".join(_end(one, case) for one in case.outcomes) for case in cases]
        listed = [(c.id, c.bucket, c.intent, end, c.title) for c, end in zip(cases, ends)]
        print(*columns([heads, *listed], width=width, gives=4), sep="\n")
        return FINISHED
    prefix = f"{HARD}:" if options.pattern.startswith(HARD) else ""
    named = ((kind, f"{prefix}{one}", str(n), words) for kind, one, n, words in names_with_counts(store, cases))
    rows = [("kind", "name for --cases", "cases", "what it is"), *named]
    print(*columns(rows, right=(2,), width=screen_width(), gives=3), sep="\n")
    print("Separate names with commas; * and ? are wildcards. `deskbench cases NAME` lists the cases that it selects.")
    return FINISHED


def _end(end: Any, case: Any) -> str:
    names = case.facts if end.facts is None else end.facts
    about = [end.reason] if end.reason else [case.facts[name].in_words for name in names]
    about = case.queues if end.handover else about
    return f"{end.name} ({', '.join(about)})" if about else str(end.name)
