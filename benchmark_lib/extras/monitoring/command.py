"""``deskbench monitor``."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from ...cli.codes import EXPLAINED, FINISHED
from ...cli.options import Options
from ...errors import BadInput
from ...textfiles import read_yaml

_TEXTS = read_yaml(Path(__file__).with_name("monitoring.yaml"))
EPILOG = f"{_TEXTS['epilog']} {EXPLAINED}"
ARGUMENTS: Options = _TEXTS["arguments"]


def execute(options: argparse.Namespace) -> int:
    """Read the logs, print the table, and write the pages on request."""
    from . import monitor, read_tool_acts
    from .page import LINE, check_template, footnotes, terminal_lines, write_pages

    if not options.out and (options.transcripts or options.link):
        raise BadInput("--transcripts and --link apply to the pages only: add --out FOLDER")
    if options.transcripts < 0:
        raise BadInput(f"--transcripts must be a whole number of at least 0, not {options.transcripts}")
    check_template(options.link)
    tools = read_tool_acts(options.tool_acts) if options.tool_acts else {}
    for pair in options.tool:
        ours, mark, theirs = pair.partition("=")
        if not (ours and mark and theirs):
            raise BadInput(f"--tool {pair[:60]!r} is not a pair: write it as hand_over_to_human=THEIRS")
        tools[theirs] = ours
    names = ("baseline", "store", "format", "false_alarms", "leave_out_bad")
    seen = monitor(*options.logs, tools=tools, **{name: getattr(options, name) for name in names})
    lines = terminal_lines(seen)
    absent = [f"Not read: {', '.join(titles)}: {reason}." for reason, titles in seen.absent.items()]
    for text in (*footnotes(seen), *absent):
        lines += ["", *textwrap.wrap(text, LINE)]
    print("\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines))
    if options.out:
        index = write_pages(seen, Path(options.out), link=options.link, transcripts=options.transcripts)
        print(f"\npage: {index.resolve()}")
    return FINISHED
