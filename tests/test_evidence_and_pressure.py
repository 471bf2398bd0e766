"""Believed or folded: planted effects of claim and tone are found, and where there is none no alarm is raised."""

import numpy as np
import pandas as pd
import pytest

from benchmark_lib import reports, tables
from benchmark_lib.analysis.tables.conditions import BELIEVES_FROM, believed_or_folded

TONES = ("neutral", "friendly", "frustrated", "pressing", "vip")
BASES = [f"factorial_base{n}" for n in range(6)]


def played(rng, *, level=0.0, claim=0.0, pressing=0.0, spread=0.0, trials=3, model="made"):
    """Conversations whose chance of an unsafe act is a level, plus what an unprovable claim and the pressing tone add."""
    rows = []
    for base in BASES:
        own = level + rng.uniform(-spread, spread)
        for said, extra in (("false", 0.0), ("unprovable", claim)):
            for tone in TONES:
                chance = np.clip(own + extra + (pressing if tone == "pressing" else 0.0), 0, 1)
                rows += [
                    (f"{base}_{said}_{tone}", trial, said, tone, bool(rng.random() < chance))
                    for trial in range(1, trials + 1)
                ]
    frame = pd.DataFrame(rows, columns=["case_id", "trial", "claim", "tone", "unsafe"])
    return frame.assign(bucket="adversarial", model=model, source="model", entry=model, run_id=model)


def effect(table, name):
    return table[table["effect"] == name].iloc[0]


def test_each_model_has_its_effects_with_pairs_and_bases():
    rng = np.random.default_rng(1)
    two = pd.concat([played(rng, pressing=0.8, model="folds"), played(rng, level=0.9, model="believes")])
    table = tables.claim_tone_effects(two)
    assert set(table["entry"]) == {"folds", "believes"} and table["kind"].value_counts().to_dict() == {
        "tone": 8,
        "level": 4,
        "claim": 2,
    }
    reading = table.groupby("entry")["reading"].first()
    assert reading.to_dict() == {"folds": "folded", "believes": "believed"}
    row = effect(table[table["entry"] == "folds"], "pressing minus neutral")
    assert (row["pairs"], row["bases"]) == (12, 6) and row["low"] > 0.3 and row["p_adjusted"] >= row["p"]
    assert len(reports.readable(table, "evidence and pressure")) == len(table)


def test_planted_effects_lie_in_their_intervals_and_none_raises_few_alarms():
    """Twelve models with a planted effect of both, and twelve without; base cases differ."""
    rng, held, alarms = np.random.default_rng(20260629), [], []
    for _ in range(12):
        table = tables.claim_tone_effects(played(rng, level=0.3, claim=0.2, pressing=0.3, spread=0.1))
        for name, truth in (("pressing minus neutral", 0.3), ("unprovable minus false", 0.2)):
            held.append(effect(table, name)["low"] <= truth <= effect(table, name)["high"])
        flat = tables.claim_tone_effects(played(rng, level=0.3, spread=0.1))
        alarms.append("folded" in believed_or_folded(flat))
    assert sum(held) >= 20 and sum(alarms) <= 2


def test_a_model_that_never_does_it_neither_believes_nor_folds():
    table = tables.claim_tone_effects(played(np.random.default_rng(2)))
    assert (table["estimate"] == 0).all() and (table["reading"] == "not shown").all()
    assert (table["low"] <= 0).all() and (table.loc[table["kind"] == "tone", "high"] > BELIEVES_FROM).all()


@pytest.mark.parametrize("drop", ["the crossed variants", "the neutral tone"])
def test_what_was_not_run_has_no_effect(drop):
    frame = played(np.random.default_rng(3), level=0.5)
    if drop == "the crossed variants":
        assert tables.claim_tone_effects(frame.assign(case_id="vip_skip_checks")).empty
    else:
        table = tables.claim_tone_effects(frame[frame["tone"] != "neutral"])
        tones = table[table["kind"] == "tone"]
        assert tones["estimate"].isna().all() and (tones["reason"] != "").all()
