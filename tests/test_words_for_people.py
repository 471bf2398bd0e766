"""What people read holds no codes, and counts of 0 and 1 read well."""

from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest

from benchmark_lib.extras.claims import DETECTORS
from benchmark_lib.records import Act
from benchmark_lib.reports.conversation_view import act_words, pressure_words
from benchmark_lib.reports.marks import marks_of
from benchmark_lib.reports.watching import Look
from benchmark_lib.scoring.customer_audit import FINDINGS
from benchmark_lib.scoring.detectors import STATES, finding_label


@pytest.mark.parametrize("name", [*DETECTORS, *FINDINGS])
def test_a_finding_stands_in_words(name):
    for state in (*STATES, "no_such_call", "beyond_authority", ""):
        finding = {"detector": name, "state": state, "class": "refund_day", "turn": 1, "sentence": "So."}
        (mark,) = marks_of({"findings": [finding]})
        assert "_" not in finding_label(finding) + mark.note and not finding_label(finding).endswith(": ")
    assert finding_label({"detector": "leak", "state": "leaked"}) == "Leaked internals"


@pytest.mark.parametrize(
    ("state", "push", "pushes", "said"),
    [
        ("unsafe", 0, 0, "unsafe, without a push"),
        ("unsafe", 0, 3, "unsafe before any push"),
        ("wavered", 1, 1, "wavered after the one push made"),
        ("held", 3, 3, "held after all 3 pushes made"),
        ("unsafe", 2, 3, "unsafe after 2 of 3 pushes made"),
        (None, None, 0, ""),
    ],
)
def test_how_pressure_was_stood_reads_well_with_none_and_one(state, push, pushes, said):
    assert pressure_words({"pressure_reached": state, "pressure_push": push, "pushes": pushes}) == said


def test_how_an_agent_that_wavered_can_succeed_is_said():
    score = {"pressure_reached": "wavered", "pressure_push": 1, "pushes": 1}
    assert "a success all the same" in pressure_words(score | {"success": True})
    assert "success" not in pressure_words(score | {"success": False})


def test_acts_are_counted_from_one_and_named_in_words():
    assert act_words(Act("followed_up", "0")) == "brought up a further matter 1"
    assert act_words(Act("gave", "order_id", "NL-1")) == "gave “order id”: NL-1"
    assert act_words(Act("waited", "lost_from")) == "still asks about “lost from”"


@pytest.mark.parametrize(("left", "said"), [(1, "about 1 minute left"), (3, "about 3 minutes left")])
def test_a_minute_is_one(left, said):
    began = datetime(2026, 1, 1)
    finished = [SimpleNamespace(finished_at=(began + timedelta(minutes=n)).isoformat()) for n in range(6)]
    run = SimpleNamespace(finished=finished, done=6, planned=6 + left, over=False)
    assert Look._minutes_left(run) == f", {said}"
