"""Opening of a plan's run file: create or resume it, and lock it against a second process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import orjson

from ..errors import BadInput
from ..runfile import RunFile, connect_to_write, create, upsert
from .manifest import merged
from .plan import Plan
from .writer import CannotSave, RunLock


@contextmanager
def held(plan: Plan) -> Iterator[RunFile]:
    """Yield the plan's run file, created or checked, and locked against a second process.

    Delete a new file again if the run is refused before its first call.
    """
    path = plan.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path.parent} cannot be made ({error.strerror}): give another --out") from None
    with RunLock(path):
        begins = not path.exists()
        run = _begin(plan) if begins else _go_on(plan)
        try:
            yield run
        except BadInput:
            if begins and not any(run.counts().values()):
                path.unlink()
            raise


def _begin(plan: Plan) -> RunFile:
    try:
        create(plan.path, {**plan.manifest, "sessions": [plan.session]})
    except Exception as error:
        raise BadInput(f"{plan.path} cannot be written ({error}): give another --out") from None
    return RunFile(plan.path)


def _go_on(plan: Plan) -> RunFile:
    run = RunFile(plan.path)
    spoilt = run.check()
    run.check_calls()
    old = run.manifest
    new = merged(old, plan.manifest, plan.path)
    new["sessions"] = [*old["sessions"], plan.session]
    try:
        with closing(connect_to_write(plan.path)) as db:
            db.execute("BEGIN IMMEDIATE")
            for table, numbers in spoilt.items():
                db.executemany(f"DELETE FROM {table} WHERE rowid=?", [(number,) for number in numbers])
            db.execute("DELETE FROM manifest_copy WHERE key NOT IN (SELECT key FROM manifest)")
            for key, value in new.items():
                db.execute(upsert("manifest"), (key, orjson.dumps(value).decode()))
            db.execute("COMMIT")
    except Exception as error:
        if "full" in str(error):  # a full disk can be mended and gone on from; whatever else it is, is bad input
            raise CannotSave(f"{plan.path} cannot be written any more ({error})") from None
        why = "check its permissions, or give another --out"
        raise BadInput(f"{plan.path} cannot be written ({error}): {why}") from None
    return run
