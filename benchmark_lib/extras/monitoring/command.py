"""``deskbench monitor``."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from ...cli.codes import EXPLAINED, FINISHED
from ...cli.options import Options
from ...errors import BadInput

FORMAT_PAGE = "docs/monitoring.md"
EPILOG = f"For the log format, the acts of tools, the measures and the rule for alarms, see {FORMAT_PAGE}. {EXPLAINED}"
ARGUMENTS: Options = {
    "LOG+": "files of logged conversations (.gz too), one JSON object per line: {id, at, messages: [{role, "
    "content}], tool_calls: [{name, arguments, result}]}; "
    f"for every field, the time zone and a sample, see {FORMAT_PAGE}",
    "--baseline FROM..TO": "the days with which later weeks are compared, such as 2026-01-05..2026-03-29 "
    "(default: the first 13 weeks, or half of a short log)",
    "--out FOLDER": "also write pages and tables to this folder",
    "--store NAME": "the desk that the log comes from, by name or folder: its articles say what may be disclosed",
    "--tool-acts FILE": "a YAML file that says which act each tool in the log performs, one per line: "
    f"'issueRefund: refund' (acts: see {FORMAT_PAGE})",
    "--tool ACT=TOOL": (
        "the same for one tool, such as hand_over_to_human=escalate, or read=getFaq for a tool that changes nothing",
        [],
    ),
    "--format NAME": "jsonl, tau2 or inspect (default: jsonl, or as the file name implies)",
    "--false-alarms P": (
        "chance of any false alarm in a year of weekly looks, across all measures (default: 0.05)",
        0.05,
    ),
    "--leave-out-bad": "skip lines that cannot be read, and say how many",
    "--link URL": "address of a conversation in your own system, containing {id}, for the pages",
    "--transcripts N": (
        "also copy up to N conversations behind each alarm into the pages, with their full text (default: none)",
        0,
    ),
}


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
