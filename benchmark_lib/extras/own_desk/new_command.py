"""``deskbench desk new``."""

import argparse
import json
import re
import shutil
from pathlib import Path

from ...cli.codes import FINISHED
from ...commands import command
from ...project import DATA, writing
from ...textfiles import read_text, read_yaml
from .check_command import DESKS, folder_of
from .desk_file import BASE, DECLARED, STORE, refusal, says

ARGUMENTS = {
    "NAME": "the name of the desk, such as puzzles, or the path of its new folder, which ends with the name",
    "--from FOLDER": "copy this declared desk instead of the starter desk",
    "--title TEXT": "the company's name for the agent and the reports (default: the desk's name)",
    "--out FOLDER": "where to write it (default: desks/NAME)",
}


def execute(options: argparse.Namespace) -> int:
    """Copy the starter or another declared desk under a new name, and print the next steps."""
    name, source = Path(options.name).name, vars(options)["from"]
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,47}", name):
        raise refusal("desk_name", name=name)
    folder = Path(options.out or (options.name if "/" in options.name else DESKS / name))
    base = folder_of(source) if source else DATA / "desks" / "starter"
    info = read_yaml(base / STORE)
    if not isinstance(info, dict) or info.get("kind") != DECLARED:
        raise refusal("not_declared", base=base)
    if folder.exists():
        raise refusal("desk_exists", folder=folder)
    prompt, readme, store = (folder / name for name in ("prompts/agent.md", "README.md", STORE))
    with writing(folder, "--out", shutil.Error):
        shutil.copytree(base, folder, ignore=shutil.ignore_patterns(".*", "*.deskbench*", "__pycache__", "runs"))
        prompt.parent.mkdir(exist_ok=True)
        if not prompt.is_file():
            shutil.copyfile(BASE / "agent.md", prompt)
        own = [line for line in read_text(store).split("\n") if not re.match("(name|title):", line)]
        title = json.dumps(options.title or name.replace("-", " ").title())
        store.write_text("\n".join([f"name: {name}", f"title: {title}", *own]), encoding="utf-8")
        if readme.is_file():
            readme.write_text(read_text(readme).replace("FOLDER", str(folder)), encoding="utf-8")
    print(says("made", folder=folder))
    for words in (("desk", "check"), ("desk", "add-case"), ("run", "scripted:oracle", "--store")):
        print(f"  {command(*words, folder)}")
    return FINISHED
