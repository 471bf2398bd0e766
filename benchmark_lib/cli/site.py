"""``deskbench site``."""

import argparse
import sys

from .codes import FINISHED, note
from .options import Options

ARGUMENTS: Options = {
    "RUN*": "run files, or folders of run files (default: data/runs)",
    "--out FOLDER": ("folder for the site (default: reports/site)", "reports/site"),
    "--store FOLDER": ("a store used by the runs but kept elsewhere; may be repeated", []),
    "--stakes FILE": "a YAML file with what a resolved conversation is worth and what a wrong ending, a handover and "
    "an approval cost you, in US dollars (default: stakes.yaml in the store's folder, or else data/stakes.yaml)",
    "--published": {
        "help": "also show another benchmark's published figures on the board, in a block of their own",
        "action": argparse.BooleanOptionalAction,
        "default": False,
    },
}


def execute(options: argparse.Namespace) -> int:
    """Build the site, or one for each of the user's own desks, and print where it is."""
    from ..analysis.frames import load_results
    from ..analysis.tables.answers import read_stakes
    from ..cases.load import own_store
    from ..experiment.summary import outdated
    from ..project import slug
    from ..reports.site import build_site
    from ..store import load_store

    watched = sys.stderr.isatty()
    if watched:
        print("reading the runs ...", file=sys.stderr, flush=True)
    stores = tuple(load_store(store).path for store in options.store)
    given = {"published": options.published, "stakes": options.stakes and read_stakes(options.stakes)}
    results = load_results(*options.runs)
    parts = results.parted(lambda run: own_store(run.manifest, (*stores, run.path.parent))) or {"": results}
    for said in outdated(results.runs, stores):
        note(said)
    for name, results in sorted(parts.items()):
        out = f"{options.out}-{slug(name)}" if name and len(parts) > 1 else options.out
        built = build_site(results, out, stores=stores, progress=watched, **given)
        print(f"site: {sum(built.pages.values())} files ({built.transcripts} transcripts), {built.bytes / 1e6:.1f} MB")
        print(f"open: {built.index.resolve()}" + f" ({name})" * bool(name))
    return FINISHED
