"""Import chats between people from the command line."""

import argparse
import sys
from collections import Counter
from typing import Any

from ...cli.codes import FINISHED, note
from ...commands import command
from ...project import as_cell
from ..personal_data.scrub import Left
from .formats import FORMATS
from .importing import AUDIT, LEFT_OUT, import_chats

ARGUMENTS: dict[str, Any] = {
    "FILE+": "files of chats between people, or folders with such files",
    "--format": {
        "help": "star, abcd, jsonl, csv or log (as for `deskbench monitor`); see docs/real-chats.md",
        "choices": list(FORMATS),
        "required": True,
    },
    "--out FOLDER": {"help": "the folder of the store to write", "required": True},
    "--title NAME": ("the company's name for the agent's prompt (default: the folder's name)", ""),
    "--acts FILE": "the vocabulary of acts (default: the one in FOLDER, or the one shipped for the format)",
    "--procedures PLACE": "the written procedures: a YAML file, ABCD's folder or a folder of STAR's tasks",
    "--keep WORD": ("a word that is not personal data, such as a brand; repeat it for several", []),
    "--only ID": ("import only this chat; repeat it for several", []),
    "--review": "ask about each remaining item of possible personal data, instead of leaving its chat out",
}


def execute(options: argparse.Namespace) -> int:
    """Import the chats and report what became of them."""
    given = {name: getattr(options, name) for name in ["format", "out", "title", "acts", "procedures", "keep", "only"]}
    done = import_chats(options.files, **given, ask=_asked if options.review else None)
    print(f"{done.chats} chats written, {done.decisions} decisions; {len(done.left_out)} chats left out")
    for why, count in Counter(done.left_out.values()).most_common():
        print(f"  {count}: {why}")
    replaced = ", ".join(f"{kind} {count}" for kind, count in done.counts.most_common()) or "none"
    print(f"personal data replaced: {replaced}")
    print(f"recogniser: {done.net}; table: {done.out / AUDIT}; chats left out: {done.out / LEFT_OUT}")
    if done.net == "plain":
        note("names that are in no record may be missed: `make extras` installs the recogniser presidio")
    if done.drafted:
        note(f"{done.drafted} new acts await approval: set accepted: true in {done.out}/acts.yaml, then rerun this")
    if done.review:
        note(f"{len(done.review)} chats await review: rerun the command with --review")
    if done.chats:
        print(f"next:\n  play it: {command('run', 'MODEL', '--store', str(done.out))}")
    return FINISHED


def _asked(place: str, left: Left) -> bool | None:
    shown = "".join(c if c.isprintable() else "?" for c in as_cell(left.context))
    print(f"\n{place}, {left.where}: {left.kind} {left.text!r}\n  {shown[:300]}", file=sys.stderr)
    print("personal data? [y]es, [n]o, [s]kip this chat: ", end="", file=sys.stderr, flush=True)
    return {"y": True, "n": False}.get(sys.stdin.readline().strip().lower()[:1])
