"""``deskbench generate``."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...cases.variants import WORDINGS
from ...cli.codes import FINISHED
from ...commands import command
from ...errors import BadInput

ADVICE = """\
Publish this hash today and the set later: whoever gets the set can then check that it is today's set.
The seed reproduces the whole set, so choose a large one, and keep it secret as long as the set is private."""
ARGUMENTS = {
    "--seed N": {"help": "a whole number; the same number produces the same files", "type": int, "required": True},
    "--out DIR": {"help": "a new or empty folder to write to", "required": True},
    "--sets N": (
        (
            "write this many sets, each into its own numbered folder, with seeds counted up from --seed "
            "(default: one set, into --out itself)"
        ),
        1,
    ),
    "--store DIR": ("the store to start from (default: northline)", "northline"),
}


def execute(options: argparse.Namespace) -> int:
    """Write each set and print its hash."""
    from ...store import load_store
    from .generate import generate

    if options.sets < 1:
        raise BadInput(f"--sets {options.sets}: write at least 1 set")
    store, many = load_store(options.store), options.sets > 1
    for number in range(options.sets):
        out = Path(options.out) / str(number + 1) if many else options.out
        made = generate(store, options.seed + number, out)
        rows = ", ".join(f"{count} {table}" for table, count in made.rows.items())
        print(f"sha256 {made.sha256}\n{ADVICE}\n\n{made.name} in {made.path}: {made.cases} cases, {rows}")
        if made.wordings:
            run = command("run", "MODEL", "--store", made.path, "--cases", WORDINGS)
            print(f"{made.wordings} retold cases, re-keyed with the others: {run}")
        else:
            print("It contains no retold cases, because its source store has none of its own.")
        print(f"Check it with: {command('audit', '--store', made.path)}")
    return FINISHED
