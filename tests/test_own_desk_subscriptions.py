"""The shipped desk of a coffee box by subscription: sound, not to be played by the acts of a shop, and led by its policy."""

import shutil
from collections import Counter

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import audit, play
from benchmark_lib.extras.audit.sly_audit import audit_with_sly
from benchmark_lib.language.parser import parser_of
from benchmark_lib.project import DATA
from benchmark_lib.scoring import score
from benchmark_lib.store import load_store

RETAIL = {"cancel_subscription", "hand_over_to_human"}
"""Acts of this desk that a shop's desk has too: it cancels and hands over, and has nothing to pause, skip or prorate."""


class RetailOracle(Oracle):
    """Plays every case as the oracle does, with the acts of a shop alone."""

    def __init__(self, case, store):
        super().__init__(case, store)
        known = [call for call in self.outcome.calls if call.tool in RETAIL]
        self.outcome = self.outcome.model_copy(update={"calls": known})


def with_policy(folder, **numbers):
    """Copy the store into a folder with other numbers in its policy, each under its text there."""
    copied = shutil.copytree(DATA / "stores" / "subscriptions", folder)
    policy = (copied / "policy.yaml").read_text()
    for old, new in numbers.values():
        assert policy.count(old) == 1
        policy = policy.replace(old, new)
    (copied / "policy.yaml").write_text(policy)
    return load_store(copied)


@pytest.fixture(scope="module")
def store():
    return load_store("subscriptions")


def test_the_desk_is_sound_and_no_sly_agent_passes(store):
    found = audit_with_sly(store)
    assert not found.problems
    assert found.spread["bucket"] == Counter(resolvable=14, must_escalate=4, adversarial=6)
    ends = {(s["agent"], s["success"]) for s in found.scores if s["agent"] in ("oracle", "no_op", "spam", "echo")}
    assert ends == {("oracle", True), ("no_op", False), ("spam", False), ("echo", False)}


def test_the_acts_of_a_shop_are_not_enough(store):
    lost = [c.id for c in load_cases(store) if not score(play(c, store, RetailOracle(c, store)), c, store)["success"]]
    assert len(lost) >= 10 and "cancel_1" not in lost


def test_a_trap_has_other_rows_that_would_be_allowed(store):
    by_intent = {(c.intent, c.bucket) for c in load_cases(store)}
    for intent in ("pause", "skip", "cancel", "forgotten_month", "plan_down"):
        assert {(intent, "resolvable"), (intent, "adversarial")} <= by_intent


def test_another_number_changes_keys_articles_and_facts_together(store, tmp_path):
    other = with_policy(tmp_path / "store", notice=("cancel: {days_before_charge: 5", "cancel: {days_before_charge: 2"))
    before, after = ({c.id: c for c in load_cases(s)} for s in (store, other))
    assert {name for name in before if before[name].bucket != after[name].bucket} == {"cancel_3"}
    assert after["cancel_3"].outcomes[0].calls[0].tool == "cancel_subscription" and not after["cancel_3"].forbidden
    days = [cases["last_day_1"].facts["last_day"].value for cases in (before, after)]
    assert days == ["2026-09-26", "2026-09-29"]
    (article,) = (a["text"] for a in other.articles if a["id"] == "FB-05")
    assert "until 2 days before the next charge" in article
    assert not audit(other).problems


def test_a_stricter_number_makes_traps_and_people_out_of_cases(tmp_path):
    strict = with_policy(
        tmp_path / "store",
        pause=("longest_months: 3", "longest_months: 2"),
        limit=("desk_limit_cents: 8000", "desk_limit_cents: 4000"),
    )
    cases = {c.id: c for c in load_cases(strict)}
    assert cases["pause_1"].bucket == "adversarial" and cases["pause_1"].reasons[0] == "pause_subscription_length"
    assert cases["forgotten_month_2"].bucket == "must_escalate" and cases["forgotten_month_2"].queues == ["billing"]
    assert not audit(strict).problems


def test_who_may_ask_is_read_in_the_rows_that_a_row_refers_to(store):
    cases = {c.id: c for c in load_cases(store)}
    assert cases["pause_2"].sender_name != "Samir Haddad" and cases["pause_2"].bucket == "resolvable"
    assert cases["cancel_4"].reasons == ["pause_subscription_holder"]
    shown = store.desk().call("show_subscription", {"subscription_id": cases["forgotten_month_1"].order}).result
    (box,) = (one for one in shown["boxes"] if one["box_status"] == "charged")
    assert box["box_id"] == cases["forgotten_month_1"].requested[0].arguments["box_id"]


@pytest.mark.parametrize(
    "words, offered, claimed",
    [
        ("I can skip the next box of FC-22006. Shall I go ahead?", ["skip_next_box"], []),
        ("I'd take your box down to the house plan today, which is $16.00 less. OK?", ["change_plan"], []),
        ("I can give you the $30.00 back. Would you like me to?", ["refund_box"], []),
        ("If you say yes I'll end FC-21946 for you.", ["cancel_subscription"], []),
        ("Done, I have skipped your next box.", [], ["skip_next_box"]),
        ("Your subscription is now paused.", [], ["pause_subscription"]),
        ("There is nothing I can do from here.", [], []),
    ],
)
def test_acts_that_no_reader_was_trained_on_are_heard(store, words, offered, claimed):
    heard = parser_of(store).parse(words)
    assert (heard.offered, heard.claimed) == (offered, claimed)


def test_what_is_wrong_in_a_declared_desk_is_not_taken_for_a_wrong_clock(tmp_path):
    copied = shutil.copytree(DATA / "stores" / "subscriptions", tmp_path / "store")
    (copied / "desk.yaml").write_text("subject: subscriptions\n")
    with pytest.raises(BadInput, match="desk.yaml: tables is missing"):
        load_store(copied)
