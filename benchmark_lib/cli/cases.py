"""``deskbench cases``."""

import argparse

from .codes import FINISHED
from .options import STORE, TOOLS

ARGUMENTS = {
    "PATTERN?": (
        (
            "list each case that it selects; hard lists the names in the hard set (default: list the names in "
            "the core set)"
        ),
        "all",
    ),
    **STORE,
    **TOOLS,
}


def execute(options: argparse.Namespace) -> int:
    """Print the names that --cases accepts, with case counts, or the cases of one name."""
    from ..analysis.estimators.estimate import counted
    from ..cases.load import HARD, case_set, load_cases, names_with_counts
    from ..reports.terminal import columns, screen_width
    from ..store import load_store

    name, pattern = case_set(options.store, options.pattern)
    store = load_store(name, options.tools)
    cases = load_cases(store, pattern)
    print(f"{store.name} {store.version}: {counted(len(cases), 'case')}")
    if pattern != "all":
        rows = [("id", "bucket", "intent", "title"), *((c.id, c.bucket, c.intent, c.title) for c in cases)]
        print(*columns(rows, width=screen_width(), gives=3), sep="\n")
        return FINISHED
    prefix = f"{HARD}:" if options.pattern.startswith(HARD) else ""
    named = ((n.kind, f"{prefix}{n.name}", str(n.cases), n.meaning) for n in names_with_counts(store, cases))
    rows = [("kind", "name for --cases", "cases", "what it is"), *named]
    print(*columns(rows, right=(2,), width=screen_width(), gives=3), sep="\n")
    print(
        "Separate several names with commas; * and ? are wildcards. `deskbench cases NAME` lists the "
        "cases that a name selects."
    )
    return FINISHED
