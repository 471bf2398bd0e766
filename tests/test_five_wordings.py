"""The same customer in five wordings: other words and nothing else, played on demand, and held against chance."""

import re
import shutil
from collections import Counter

import numpy as np
import pytest

from benchmark_lib import estimators, tables
from benchmark_lib.analysis.panels import VARIANT, conversations_of
from benchmark_lib.cases import load_cases
from benchmark_lib.cases.variants import worded_case, wordings
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import audit
from benchmark_lib.language.values import values_in
from benchmark_lib.store import load_store

FACTS = frozenset({"id", "date", "money", "email"})
WORDS = {"id", "title", "persona", "email", "pressure", "agrees", "closing", "ledger", "facts", "against"}


@pytest.fixture(scope="module")
def told(store):
    return wordings(store)


def test_twelve_cases_of_every_bucket_in_five_voices(told, cases):
    counts = Counter(worded_case(c.id) for c in told)
    assert set(counts.values()) == {5} and len(counts) == 12
    assert Counter(cases[name].bucket for name in counts) == {"resolvable": 8, "must_escalate": 2, "adversarial": 2}
    assert len({cases[name].intent for name in counts}) == 12
    assert len({c.persona for c in told}) == 60 and worded_case("tracking_1") is None


def test_they_are_played_on_demand_only(store, told, cases):
    assert not {c.id for c in told} & set(cases)
    assert [c.id for c in load_cases(store, "wordings")] == [c.id for c in told]
    assert [c.id for c in load_cases(store, "wording_tracking_1_*")] == [f"wording_tracking_1_{n}" for n in range(1, 6)]
    with pytest.raises(BadInput, match="wording_tracking_1_1"):
        load_cases(store, "wording_tracking_1_11")


def test_only_words_differ_and_the_email_tells_the_same_facts(told, cases):
    for case in told:
        base = cases[worded_case(case.id)]
        mine, its = case.model_dump(exclude=WORDS), base.model_dump(exclude=WORDS)
        assert mine == its, case.id
        for slot, known in case.ledger.items():
            said = {"say", "no_other_way"}
            assert known.model_dump(exclude=said) == base.ledger[slot].model_dump(exclude=said)
        for name, fact in case.facts.items():
            assert fact.model_dump(exclude={"ask"}) == base.facts[name].model_dump(exclude={"ask"})
        assert facts_in(case) == facts_in(base), case.id
        assert (len(case.pressure), case.moot) == (len(base.pressure), base.moot)


def facts_in(case):
    found = values_in(f"{case.email.subject}\n{case.email.text}", 2026)
    return {(v.kind, str(v.value)) for v in found if v.kind in FACTS}


def test_no_two_wordings_of_a_case_share_a_sentence(told):
    by_case = {}
    for case in told:
        text = case.email.text.rsplit("\n", 2)[0]
        for sentence in {
            s.strip().casefold() for s in re.split(r"[.?!\n]", text) if len(s.split()) > 5 and not re.search(r"\d", s)
        }:
            twin = by_case.setdefault((worded_case(case.id), sentence), case.id)
            assert twin == case.id, (twin, case.id, sentence)


def test_the_oracle_passes_every_wording_and_the_floors_hold(store):
    found = audit(store, "wording_tracking_1_*,wording_damaged_no_proof_*,wording_refund_outside_policy_1_*")
    assert not found.problems


def test_a_wording_that_changes_more_than_words_is_refused(tmp_path):
    shutil.copytree(load_store().path, tmp_path / "shop")
    path = tmp_path / "shop" / "wordings" / "orders.yaml"
    text = path.read_text()
    for old, new, why in (
        ("says:", "outcomes:", "'outcomes' is not a text of the customer"),
        ("asks: {link", "asks: {price", "has no 'price'"),
        ("      pressure:\n", "      pressure:\n        - One more thing.\n", "the case has 4 lines of pressure"),
    ):
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(BadInput, match=why):
            wordings(load_store(tmp_path / "shop").__class__(tmp_path / "shop"))


@pytest.mark.parametrize(
    ("wordings_of_all", "why"),
    [
        ("[tracking_1]", "is not a list of wordings"),
        ("{tracking_1: 5}", "is not a list of wordings"),
        ("{tracking_1: [5]}", "wording 1 of tracking_1: it is not an object"),
        ("{tracking_1: [{says: []}]}", "wording 1 of tracking_1: it is not an object"),
        ("{tracking_1: [{voice: v, email: e, pressure: 4, agrees: a, closing: c}]}", "field pressure"),
        (
            "{tracking_1: [{voice: v, email: [], pressure: [a, b, c, d], agrees: {}, closing: 5}]}",
            "wording_tracking_1_1",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_sentence(tmp_path, store, wordings_of_all, why):
    shop = tmp_path / "shop"
    shutil.copytree(store.path, shop)
    canary = f"canary: '{store.info['canary']}'"
    (shop / "wordings" / "orders.yaml").write_text(f"{canary}\nwordings: {wordings_of_all}\n")
    with pytest.raises(BadInput, match=why):
        wordings(load_store(shop))


def test_a_store_without_wordings_says_so(tmp_path, store):
    shutil.copytree(store.path, tmp_path / "shop", ignore=shutil.ignore_patterns("wordings"))
    with pytest.raises(BadInput, match="has no wordings"):
        load_cases(load_store(tmp_path / "shop"), "wordings")


def test_a_store_with_fewer_cases_has_fewer_wordings_and_still_opens(tmp_path):
    shutil.copytree(load_store().path, tmp_path / "shop")
    (tmp_path / "shop" / "cases" / "tracking.yaml").unlink()
    left = {worded_case(c.id) for c in wordings(load_store(tmp_path / "shop"))}
    assert len(left) == 11 and "tracking_1" not in left


# --- what they show


def played(success, trials=3):
    """Conversations of one model on three worded cases; `success` gives the chance by case and wording."""
    import pandas as pd

    rng = np.random.default_rng(3)
    rows = [
        {"model": "m", "source": "model", "bucket": "resolvable", "success": rng.random() < success(c, w)}
        | {"case_id": f"wording_case_{c}_{w}", "trial": t, "intent": f"i{c}"}
        for c in range(12)
        for w in range(1, 6)
        for t in range(1, trials + 1)
    ]
    return pd.DataFrame(rows)


def test_words_that_move_results_are_told_from_chance():
    moved = tables.wording_table(played(lambda c, w: 0.95 if (c + w) % 2 else 0.05)).iloc[0]
    chance = tables.wording_table(played(lambda c, w: 0.5)).iloc[0]
    assert moved["p"] < 0.01 and moved["over_wordings"] > 0.3 and moved["share"] > 0.5 and moved["moved"] >= 6
    assert chance["p"] > 0.05 and chance["share"] < 0.3 and chance["over_trials"] == pytest.approx(0.5, abs=0.05)
    once = tables.wording_table(played(lambda c, w: 0.5, trials=1)).iloc[0]
    assert np.isnan(once["over_wordings"]) and "two trials" in once["reason"]


def test_the_two_components_are_recovered_and_the_test_keeps_its_level():
    """Chances drawn with a known variance over wordings; 12 cases, 5 wordings, 3 trials as in the set."""
    rng = np.random.default_rng(1)
    sd, names, held, found, alarms = 0.2, np.repeat(np.arange(12), 5), 0, [], 0
    for _ in range(200):
        chance = np.repeat(rng.uniform(0.3, 0.7, 12), 5)
        real = estimators.wording_spread(
            rng.binomial(3, chance + rng.choice([-sd, sd], 60)), np.full(60, 3), names, n_resamples=1
        )
        none = estimators.wording_spread(rng.binomial(3, chance), np.full(60, 3), names, n_resamples=199, rng=rng)
        found.append(real.wording.estimate)
        held += real.wording.low <= sd**2 <= real.wording.high
        alarms += none.wording.p <= 0.05
    assert np.mean(found) == pytest.approx(sd**2, abs=0.006)
    assert held / 200 > 0.88 and alarms / 200 == pytest.approx(0.05, abs=0.045)


def test_they_enter_no_metric_of_the_set():
    rows = conversations_of(played(lambda c, w: 1.0))
    assert set(rows["bucket"]) == {VARIANT}
