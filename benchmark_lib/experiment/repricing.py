"""Costs computed after a run from its tokens: the unknown ones, or all at today's prices."""

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
"""The part of a manifest that records which costs were computed after the run, when, and by which price file."""
_VALUES = ",".join("?1" if name == "cost_usd" else name for name in COLUMNS["calls"])
UPDATE = (
    f"UPDATE calls SET cost_usd=?1, seal=seal('calls',{_VALUES}) WHERE case_id=?2 AND trial=?3 AND side=?4 AND n=?5"
)


@dataclass(frozen=True)
class Repriced:
    """Result of pricing the calls on a run file.

    Attributes
    ----------
    priced, untold, kept : int
        Calls with a newly computed cost, calls without reported tokens (their cost stays unknown), and unchanged calls.
    before, after : float
        Known cost of all calls on file, in US dollars.
    days : tuple of str
        Days on which the kept costs were recorded.
    unpriced : tuple of str
        Models without a price, or with different prices at the endpoints of the run.
    prices : PriceFile
        The price file that was used.
    """

    priced: int
    untold: int
    kept: int
    before: float
    after: float
    days: tuple[str, ...]
    unpriced: tuple[str, ...]
    prices: PriceFile


def price_again(path: str | Path, every: bool = False) -> Repriced:
    """Compute the unknown costs of a run file, or `every` cost, from tokens and price file.

    Keep costs that were estimated for a budget, and what the sessions record of budgets and prices. The manifest
    records the time and the price file. Raise `BadInput` if the file is damaged or a run is writing it.
    """
    from .writer import CannotSave, RunLock

    run, listed = RunFile(path), load_prices()
    with RunLock(run.path):
        if run.check()["calls"]:  # rows get a new seal below, so they must be intact before
            raise BadInput(
                f"{path} is damaged (some calls differ from what was written): first rerun the command of its run"
            )
        manifest, costs, prices, untold, kept = run.manifest, [], dict[tuple[str, str], Price | None](), 0, 0
        before, later = run.cost()[0], [one["at"] for one in manifest.get(PRICED, ())]
        played = [
            one["started"]
            for one in manifest["sessions"]
            if any(at["price"] for at in one.get("endpoints", {}).values())
        ]
        for call in run.calls():
            known, reported = call["cost_usd"] is not None, call["prompt_tokens"] is not None
            if not reported or (known and not every):
                untold, kept = untold + (not known), kept + (known and reported)
                continue
            who = call["side"], call["model"]
            if who not in prices:
                prices[who] = _price(listed, manifest, *who)
            price = prices[who]
            kept += known and price is None
            if price is not None:
                used = Usage(call["prompt_tokens"], call["completion_tokens"], cached_tokens=call["cached_tokens"] or 0)
                costs.append((price.cost_usd(used), call["case_id"], call["trial"], call["side"], call["n"]))
        try:
            if costs:
                earlier = () if every and not kept else manifest.get(PRICED, ())
                _write(run.path, costs, [*earlier, _entry(listed, prices, len(costs))])
        except sqlite3.Error as error:
            raise CannotSave(f"{path} cannot be written ({error})") from None
    days = tuple(sorted({at[:10] for at in (*played, *later)}))
    unpriced = tuple(dict.fromkeys(model for (_, model), price in prices.items() if price is None))
    return Repriced(len(costs), untold, kept, before, RunFile(path).cost()[0], days, unpriced, listed)


def _price(listed: PriceFile, manifest: dict[str, Any], side: str, model: str) -> Price | None:
    """Return the price of a model at the endpoints of a run; None if unknown or ambiguous."""
    found = {listed.price(model, url) for url in addresses(manifest).get(side, [None])}
    return found.pop() if len(found) == 1 else None


def _entry(listed: PriceFile, prices: dict[tuple[str, str], Price | None], calls: int) -> dict[str, Any]:
    known = {model: asdict(price) for (_, model), price in prices.items() if price is not None}
    file = {"name": PRICES.name, "dated": str(listed.dated), "hash": listed.hash}
    return {"at": now(), "price_file": file, "calls": calls, "prices": known}


def _write(path: Path, costs: list[tuple[Any, ...]], entries: list[dict[str, Any]]) -> None:
    with closing(connect_to_write(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(UPDATE, costs)
        db.execute(upsert("manifest"), (PRICED, orjson.dumps(entries).decode()))
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=DELETE")


def priced_in_words(manifest: dict[str, Any]) -> list[str]:
    """Describe in a few words each time costs were computed after the run."""
    return [
        f"{one['calls']:,} priced afterwards on {one['at'][:10]}, by {one['price_file']['name']} of "
        f"{one['price_file']['dated']} ({one['price_file']['hash'][:8]})"
        for one in manifest.get(PRICED, ())
    ]
