"""Costs that were unknown when a run was played, computed from its recorded tokens once the price is in the price file."""

import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from ..endpoint.prices import PRICES, Price, PriceFile, load_prices
from ..errors import BadInput
from ..records import Usage
from ..runfile import RunFile, connect_to_write, upsert
from ..runfile.seals import COLUMNS
from .manifest import addresses, now

PRICED = "priced_afterwards"
"""The part of a manifest that says which costs were computed after the run, when, and by which price file."""
_VALUES = ",".join("?1" if name == "cost_usd" else name for name in COLUMNS["calls"])
UPDATE = (
    f"UPDATE calls SET cost_usd=?1, seal=seal('calls',{_VALUES}) WHERE case_id=?2 AND trial=?3 AND side=?4 AND n=?5"
)


@dataclass(frozen=True)
class Repriced:
    """What came of the calls without a cost on a run file.

    Attributes
    ----------
    priced, untold : int
        Calls that have a cost now, and calls that reported no tokens, whose cost stays unknown.
    unpriced : tuple of str
        Models without a price, or with different ones at the endpoints of the run.
    prices : PriceFile
        What was looked up.
    """

    priced: int
    untold: int
    unpriced: tuple[str, ...]
    prices: PriceFile


def price_again(path: str | Path) -> Repriced:
    """Compute the costs that are unknown on a run file from the recorded tokens and the project's price file.

    A cost that is known stays as it is, also one that was estimated for a budget, and so does what the sessions record
    of budgets and prices. The manifest keeps when this was done and by which price file. `BadInput` if the file is
    damaged or a run writes it.
    """
    from .writer import CannotSave, RunLock

    run, listed = RunFile(path), load_prices()
    with RunLock(run.path):
        if run.check()["calls"]:  # a row is sealed anew below, so it has to be sound before
            raise BadInput(
                f"{path} is damaged, some of its calls are not what was written: give the command of its run again first"
            )
        manifest, costs, prices, untold = run.manifest, [], dict[tuple[str, str], Price | None](), 0
        for call in run.calls():
            if call["cost_usd"] is not None:
                continue
            if call["prompt_tokens"] is None:
                untold += 1
                continue
            who = call["side"], call["model"]
            if who not in prices:
                prices[who] = _price(listed, manifest, *who)
            price = prices[who]
            if price is not None:
                used = Usage(call["prompt_tokens"], call["completion_tokens"], cached_tokens=call["cached_tokens"] or 0)
                costs.append((price.cost_usd(used), call["case_id"], call["trial"], call["side"], call["n"]))
        try:
            if costs:
                _write(run.path, costs, [*manifest.get(PRICED, ()), _entry(listed, prices, len(costs))])
        except sqlite3.Error as error:
            raise CannotSave(f"{path} cannot be written ({error})") from None
    unpriced = tuple(dict.fromkeys(model for (_, model), price in prices.items() if price is None))
    return Repriced(len(costs), untold, unpriced, listed)


def _price(listed: PriceFile, manifest: dict[str, Any], side: str, model: str) -> Price | None:
    """The price of a model at the endpoints of a run; None where there is none, or not the same at each."""
    found = {listed.price(model, url) for url in addresses(manifest).get(side, [None])}
    return found.pop() if len(found) == 1 else None


def _entry(listed: PriceFile, prices: dict[tuple[str, str], Price | None], calls: int) -> dict[str, Any]:
    known = {model: asdict(price) for (_, model), price in prices.items() if price is not None}
    file = {"name": PRICES.name, "dated": listed.dated, "hash": listed.hash}
    return {"at": now(), "price_file": file, "calls": calls, "prices": known}


def _write(path: Path, costs: list[tuple[Any, ...]], entries: list[dict[str, Any]]) -> None:
    with closing(connect_to_write(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(UPDATE, costs)
        db.execute(upsert("manifest"), (PRICED, orjson.dumps(entries).decode()))
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=DELETE")


def priced_in_words(manifest: dict[str, Any]) -> list[str]:
    """Which costs of a run were computed afterwards, in a few words for each time."""
    return [
        f"{one['calls']:,} priced afterwards on {one['at'][:10]}, by {one['price_file']['name']} of "
        f"{one['price_file']['dated']} ({one['price_file']['hash'][:8]})"
        for one in manifest.get(PRICED, ())
    ]
