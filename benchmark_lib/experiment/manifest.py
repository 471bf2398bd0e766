"""The manifest: inputs of a run with content hashes, and what may change between sessions."""

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson

from ..commands import command
from ..errors import BadInput
from ..project import code_version, slug
from ..records import content_hash
from ..runfile import SUFFIX

SHOWN_DIFFERENCES = 6


def hashed(value: Any) -> str:
    """Return the content hash of plain data."""
    return content_hash(orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))


def part(shown: Any, content: Any = None) -> dict[str, Any]:
    """Return one input of the manifest: its displayed name and the hash of its content."""
    return {"value": shown, "hash": hashed(shown if content is None else content)}


def default_name(model: str, options: Any) -> str:
    """Return the file name of a run: the model's slug and a hash of the identifying options."""
    return f"{slug(model)}-{hashed([model, options])[:8]}{SUFFIX}"


def public_url(url: str | None) -> str | None:
    """Return an address as it may be stored: without user, password or query."""
    if not url:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def session(**recorded: Any) -> dict[str, Any]:
    """Return the record of one session: what may differ each time a run starts or resumes."""
    return {"started": now(), "code": code_version(), **recorded}


def now() -> str:
    """Return the current time in the form in which it is recorded."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_manifest(
    model: str,
    source: str,
    inputs: dict[str, Any],
    cases: dict[str, str],
    trials: int,
) -> dict[str, Any]:
    """Return the manifest of a new run.

    `inputs` are the parts (see `part`) that must stay the same, and `cases` the content hash of each case.
    """
    begun = {"run_id": f"{slug(model)}-{secrets.token_hex(4)}", "model": model, "source": source, "created": now()}
    planned = dict.fromkeys(cases, trials)
    return {**begun, "inputs": inputs, "cases": cases, "trials": trials, "planned": planned, "sessions": []}


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return what prevents a run from being resumed: each difference in a few words."""
    lines = []
    for name in sorted(old["inputs"].keys() | new["inputs"].keys()):
        there, here = old["inputs"].get(name, part(None)), new["inputs"].get(name, part(None))
        if there["hash"] == here["hash"]:
            continue
        if there["value"] == here["value"]:
            contents = f"{there['hash'][:8]} there, {here['hash'][:8]} here"
            lines.append(f"{name} {brief(here['value'])} has different content ({contents})")
        else:
            lines.append(f"{name} is {brief(there['value'])} there and {brief(here['value'])} here")
    changed = [case for case, digest in new["cases"].items() if old["cases"].get(case, digest) != digest]
    return lines + [f"case {case} has changed" for case in changed]


def merged(old: dict[str, Any], new: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the manifest of a resumed run, which may have more cases and trials than before.

    Raise `BadInput` if an input differs; the message names each difference and the remedy.
    """
    if lines := differences(old, new):
        more = len(lines) - SHOWN_DIFFERENCES
        listed = "; ".join(lines[:SHOWN_DIFFERENCES]) + (f"; and {more} more" if more > 0 else "")
        mend = f"start over after `{command('runs', 'fresh', path.stem)}`, or choose another --out"
        raise BadInput(f"{path} was begun with different inputs: {listed}: {mend}")
    planned = {case_id: max(old["planned"].get(case_id, 0), trials) for case_id, trials in new["planned"].items()}
    return {
        **old,
        **{name: new[name] for name in ("points", "rules") if name in new},
        "cases": {**old["cases"], **new["cases"]},
        "trials": max(old["trials"], new["trials"]),
        "planned": {**old["planned"], **planned},
    }


def brief(value: Any) -> str:
    """Return plain data as a short text for a message."""
    text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    return text if len(text) <= 60 else text[:57] + "..."
