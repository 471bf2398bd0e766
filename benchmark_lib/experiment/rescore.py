"""Scoring a finished run file again: the records are read, nothing is asked."""

from __future__ import annotations

from pathlib import Path

import orjson

from ..cases import load_cases
from ..cases.factorial import variants
from ..errors import BadInput
from ..records import Conversation
from ..runfile import RunFile, connect_to_write, upsert
from ..store import load_store


def rescore(path: str | Path, store: str | Path = "northline", again: bool = False) -> tuple[int, int]:
    """Add the scores of the present scoring version to a run file, for the records that lack them.

    Parameters
    ----------
    path : str or Path
        A run file.
    store : str or Path
        The store it was played on.
    again : bool
        Also score the records that have scores of this version.

    Returns
    -------
    tuple of int
        Conversations scored now, and conversations on file.

    Raises
    ------
    BadInput
        If the store or a case is not the one of the run.
    """
    from ..scoring import VERSION, score
    from .writer import RunLock

    run = RunFile(path)
    shop = load_store(store)
    cases = {c.id: c for c in (*load_cases(shop, "all"), *variants(shop))}
    manifest = run.manifest
    if manifest["inputs"]["store"]["hash"] != shop_hash(shop):
        raise BadInput(f"{run.path} was played on another store or another version of it: name its folder with --store")
    changed = [c for c, digest in manifest["cases"].items() if c not in cases or cases[c].hash != digest]
    if changed:
        raise BadInput(f"{run.path} was played with another text of case {changed[0]}: score it with the cases of that time")
    with RunLock(run.path):
        have = set() if again else set(run.scores(str(VERSION)))
        db = connect_to_write(run.path)
        try:
            db.execute("BEGIN IMMEDIATE")
            found = made = 0
            for case_id, _, digest, record in run.conversations():
                found += 1
                if digest not in have:
                    made += 1
                    scores = score(Conversation.from_json(record), cases[case_id], shop)
                    db.execute(upsert("scores"), (digest, str(VERSION), orjson.dumps(scores)))
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode=DELETE")
        finally:
            db.close()
    return made, found


def shop_hash(store: object) -> str:
    """The store's hash as it stands in a manifest."""
    from .manifest import part

    return part("", store.hash)["hash"]
