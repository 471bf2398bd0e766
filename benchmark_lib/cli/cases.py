"""``deskbench cases``."""

import argparse

from .codes import FINISHED
from .options import STORE, TOOLS

ARGUMENTS = {
    "PATTERN?": (
        "list the cases that it names, one by one; hard for the names of the hard set (default: the names of the core set)",
        "all",
    ),
    **STORE,
    **TOOLS,
}


def execute(options: argparse.Namespace) -> int:
    """Print every name that --cases takes with the number of its cases, or the cases of one name."""
    from ..cases.load import HARD, case_set, load_cases
    from ..cases.names import names_with_counts
    from ..reports.terminal import columns, screen_width
    from ..store import load_store

    name, pattern = case_set(options.store, options.pattern)
    store = load_store(name, options.tools)
    found = load_cases(store, pattern)
    prefix = f"{HARD}:" if options.pattern.startswith(HARD) else ""
    print(f"{store.name} {store.version}: {len(found)} case{'s' * (len(found) != 1)}")
    if pattern == "all":
        named = ((n.kind, f"{prefix}{n.name}", str(n.cases), n.meaning) for n in names_with_counts(store, found))
        rows = [("kind", "name for --cases", "cases", "what it is"), *named]
        print("\n".join(columns(rows, right=(2,), width=screen_width(), gives=3)))
        names = "Several names are separated by commas, * and ? are wildcards."
        print(f"{names} `deskbench cases NAME` lists the cases of a name.")
    else:
        rows = [("id", "bucket", "intent", "title"), *((c.id, c.bucket, c.intent, c.title) for c in found)]
        print("\n".join(columns(rows, width=screen_width(), gives=3)))
    return FINISHED
