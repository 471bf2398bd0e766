"""Tables of decisions in real chats: agreement with both truths, and where those differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.cell import ITEM, framed, interval
from ...analysis.estimators.agreement import ONE_SIDED
from ...analysis.estimators.estimate import TAILS, Estimate, generator
from ...analysis.estimators.intervals import clustered_rate
from ...analysis.facets import scores_of
from ...cases.load import store_name
from .decisions import AS_WRITTEN

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results

PARTS = "chat acts human human_acts human_values procedure handover human_follows parting weak not_on_record"
HUMANS = "the human agents"
"""Name of the row for the people whose chats were imported."""
SHARES = ("human_acts", "human_values", "procedure", "handover")
RESAMPLES = 2_000
SHOWN = 5
"""Maximum number of cases that a row names."""


def chat_decisions(results: Results) -> pd.DataFrame:
    """Return one row per decision that an entry made.

    Returns
    -------
    DataFrame
        For runs on stores of real chats: run_id, case_id, trial, entry, store, intent (the topic), and the parts of the
        score: chat, acts and human (labels of what each did), human_acts, human_values, procedure, handover,
        human_follows (True, False or None), parting, weak, not_on_record. Trials without a score are left out.
    """
    made, rows = results.conversations, list[Any]()
    stores = {run.run_id: store_name(run.manifest) for run in results.runs}
    for c, score in zip(made.itertuples(index=False), scores_of(made, results.runs), strict=True):
        if score.get("scored") and (parts := score.get("decision")):
            head = (c.run_id, c.case_id, c.trial, c.entry, stores[c.run_id], c.intent)
            rows.append((*head, *(parts[name] for name in PARTS.split())))
    return framed(rows, f"{' '.join(ITEM)} entry store intent {PARTS}")


def chat_agreement(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return how far each entry agrees with the human agents and with the written procedure.

    `results` may also be rows of `chat_decisions`, as in the other tables.

    Returns
    -------
    DataFrame
        One row per store and entry, the human agents first: chats, decisions, weak (decisions of chats without acts);
        for each of human_acts, human_values (of acts that both made), procedure (where it names a next act) and
        handover (handed over or not), the share with its ends (``_low``, ``_high``, see `clustered_rate`; chats are the
        clusters) and the number of decisions (``_n``); kappa with its ends, see `beyond_chance`; not_on_record (lookups
        per decision that the human did not make); reason.
    """
    rows = list[dict[str, Any]]()
    for store, every in _made(results).groupby("store", sort=False):
        humans = every.drop_duplicates("case_id").assign(procedure=lambda found: found["human_follows"])
        for entry, own in [(HUMANS, humans), *every.groupby("entry", sort=False)]:
            once = own.drop_duplicates("case_id")
            row = {"store": store, "entry": entry, "chats": once["chat"].nunique(), "decisions": len(once)}
            row["weak"] = int(once["weak"].sum())
            for name in ("procedure",) if own is humans else SHARES:
                known = own.dropna(subset=[name]).astype({name: float})
                by_case = known.groupby("case_id").agg({name: "mean", "chat": "first"})
                share = clustered_rate(by_case[name], by_case["chat"])
                row |= interval(share, name, f"{name}_") | {f"{name}_n": len(by_case)}
            if own is not humans:
                known = own[~own["weak"].astype(bool)]
                kappa = beyond_chance(known["acts"], known["human"], known["chat"])
                row |= interval(kappa, "kappa", "kappa_") | {"reason": kappa.reason}
                row["not_on_record"] = own["not_on_record"].mean()
            rows.append(row)
    ends = " ".join(f"{name} {name}_low {name}_high {name}_n" for name in SHARES)
    counts, kappas = "store entry chats decisions weak", "kappa kappa_low kappa_high"
    return framed(rows, f"{counts} {ends} {kappas} not_on_record reason")


def partings(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return where human agents depart from the written procedure, by kind.

    Returns
    -------
    DataFrame
        One row per store, kind (``allowed branch``, ``human error``, ``unclear``) and human act: topic, decisions,
        share (of the store's decisions with a procedure), chats, cases (the first few).
    """
    made = _made(results).drop_duplicates(["store", "case_id"]).dropna(subset=["parting"])
    made = made.assign(whole=made.groupby("store")["store"].transform("size"))
    apart = made[made["parting"] != AS_WRITTEN].rename(columns={"parting": "kind"})
    topic = ("intent", lambda intents: ", ".join(sorted(set(intents))))
    share = ("whole", lambda whole: len(whole) / whole.max())
    return _counted(apart, "store kind human", "decisions", topic=topic, decisions=("chat", "size"), share=share)


def chat_differences(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return what entries did when they did not act as the human did.

    Returns
    -------
    DataFrame
        One row per entry and pair of acts: human, acts (the entry's), trials, procedure (share of these trials that
        follow it), chats, cases (the first few).
    """
    made = _made(results)
    differ = made[made["human_acts"].eq(False) & ~made["weak"].astype(bool)]
    follows = ("procedure", lambda follows: follows.dropna().astype(float).mean())
    return _counted(differ, "store entry human acts", "trials", trials=("chat", "size"), procedure=follows)


def beyond_chance(first: Iterable[Any], second: Iterable[Any], clusters: Iterable[Any]) -> Estimate:
    """Estimate Cohen's kappa between two series of acts, resampling whole chats.

    `clusters` has the chat of each decision. The interval consists of percentiles of 2,000 resamples; kappa is NaN if
    both made the same act every time.
    """
    import pandas as pd

    words: dict[str, Any] = dict(method="bootstrap over chats")
    words["estimand"] = "agreement beyond chance in chats like these"
    one, two = np.array([*first]), np.array([*second])
    chat = pd.factorize(np.asarray([*clusters], dtype=object))[0]
    if not one.size:
        return Estimate(estimate=np.nan, reason="no decision has acts", **words)
    kinds, words["n"] = np.union1d(one, two), one.size
    counts = [pd.crosstab(chat, side).reindex(columns=kinds, fill_value=0) for side in (one, two)]
    rows, columns = (count.to_numpy(dtype=float) for count in counts)
    alike = np.bincount(chat, weights=one == two)

    def kappa(weights: np.ndarray) -> np.ndarray:
        n = weights @ rows.sum(axis=1)
        chance = ((weights @ rows) * (weights @ columns)).sum(axis=-1) / n**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((weights @ alike / n - chance) / (1 - chance))

    point, chats = float(kappa(np.ones(alike.size))), alike.size
    why = "one chat shows no spread between chats" if chats < 2 else ""
    why = "both made the same act every time" if np.isnan(point) else why
    why = ONE_SIDED if point == 0 and 1 in {len({*one}), len({*two})} else why
    if why:
        return Estimate(estimate=point, reason=why, **words)
    drawn = kappa(generator(None).multinomial(chats, np.full(chats, 1 / chats), RESAMPLES).astype(float))
    low, high = np.nanquantile(drawn, TAILS)
    return Estimate(estimate=point, low=float(low), high=float(high), **words)


def _made(results: Any) -> pd.DataFrame:
    return chat_decisions(results) if hasattr(results, "runs") else results


def _counted(made: pd.DataFrame, by: str, count: str, **more: Any) -> pd.DataFrame:
    """Return a row for each group, sorted by `count`: `more` columns, chats and first cases."""

    def first(cases: pd.Series) -> str:
        ids = cases.unique()
        others = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
        return ", ".join(ids[:SHOWN]) + others

    more |= {"chats": ("chat", "nunique"), "cases": ("case_id", first)}
    table = made.groupby(by.split(), as_index=False).agg(**more)
    order = [*by.split()[:2], count]
    return table.sort_values(order, ascending=[True, True, False], kind="stable", ignore_index=True)
