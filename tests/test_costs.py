"""Costs by conversation, resolved ticket and reliable case; an unknown price is unknown, never 0."""

from math import isnan

import pandas as pd
import pytest

from benchmark_lib import tables


class Frames:
    """Two cases, three trials; the first case always resolved."""

    def __init__(self, price):
        rows = [
            {
                "run_id": "r",
                "model": "m",
                "source": "model",
                "case_id": f"tracking_{case}",
                "intent": "tracking",
                "bucket": "resolvable",
                "trial": trial,
                "cost_usd": price,
                "resolved": case == 1,
                "handed_over": False,
                "ended_by": "resolved_by_customer",
                "planned": 6,
                "completion_tokens": 100.0,
                "reasoning_tokens": 60.0,
            }
            for case in (1, 2)
            for trial in (1, 2, 3)
        ]
        self.conversations = pd.DataFrame(rows)
        self.calls = pd.DataFrame({"run_id": ["r"] * 6, "side": ["agent"] * 6, "cost_usd": [price] * 6})

    def with_calls(self, **cost_of):
        """With further calls by other sides."""
        more = [{"run_id": "r", "side": side, "cost_usd": cost} for side, cost in cost_of.items()]
        self.calls = pd.concat([self.calls, pd.DataFrame(more)], ignore_index=True)
        return self


def test_costs_are_divided_by_what_they_bought():
    row = tables.cost_table(Frames(0.02)).iloc[0]
    assert row["per_conversation_usd"] == pytest.approx(0.02) and row["per_1000_usd"] == pytest.approx(20)
    assert row["per_resolved_usd"] == pytest.approx(0.12 / 3)
    assert row["reliable"] == 1 and row["per_reliable_case_usd"] == pytest.approx(0.04)
    assert row["tier"] == "$$" and row["reason"] == ""


def test_an_unknown_price_is_unknown():
    row = tables.cost_table(Frames(float("nan"))).iloc[0]
    assert isnan(row["per_conversation_usd"]) and row["tier"] == "price unknown"
    assert "price unknown for 6 calls" in row["reason"]


def test_agent_customer_and_judge_stand_apart_and_hidden_reasoning_is_counted():
    row = tables.cost_table(Frames(0.02).with_calls(customer=0.03, judge=0.6)).iloc[0]
    assert row["agent_usd"] == pytest.approx(0.12) and row["per_1000_usd"] == pytest.approx(20)
    assert row["customer_1000_usd"] == pytest.approx(5) and row["judge_1000_usd"] == pytest.approx(100)
    assert (row["completion_tokens"], row["reasoning_tokens"], row["hidden"]) == (100, 60, 0.6)


def test_an_unfinished_run_costs_what_its_finished_conversations_cost():
    """The first case has its three trials, the second only one of them: what a reliable case costs stays the same."""
    whole, half = Frames(0.02), Frames(0.02)
    half.conversations = half.conversations[
        (half.conversations["case_id"] == "tracking_1") | (half.conversations["trial"] == 1)
    ]
    rows = [tables.cost_table(frames).iloc[0] for frames in (whole, half)]
    assert rows[1]["reliable"] == rows[0]["reliable"] == 1
    assert rows[0]["per_reliable_case_usd"] == pytest.approx(0.04), "two cases are paid for one reliable one"
    assert rows[1]["per_reliable_case_usd"] == pytest.approx(0.02), "only the case that can show it is counted"
    assert "4 of 6 conversations finished: only these are counted" in rows[1]["reason"]
    assert "1 of 2 resolvable cases have 3 finished trials" in rows[1]["reason"]
    assert rows[1]["unfinished_usd"] == pytest.approx(0.04)


def test_a_conversation_that_broke_off_is_neither_bought_nor_paid_for():
    frames = Frames(0.02)
    broken = frames.conversations.assign(
        trial=4, ended_by="infrastructure_fault", resolved=None, cost_usd=5.0, planned=12
    )
    frames.conversations = pd.concat([frames.conversations.assign(planned=12), broken], ignore_index=True)
    row = tables.cost_table(frames).iloc[0]
    assert row["conversations"] == 6 and row["per_conversation_usd"] == pytest.approx(0.02)
    assert row["per_reliable_case_usd"] == pytest.approx(0.04) and row["per_resolved_usd"] == pytest.approx(0.04)


def lines_of(frames):
    return tables.cost_lines(tables.cost_table(frames).iloc[0]).set_index("what")


def test_each_line_of_the_report_says_over_what_and_why_not():
    lines = lines_of(Frames(0.02).with_calls(judge=0.6))
    assert lines.loc["judges, 1,000 conversations", "value"] == pytest.approx(100)
    assert lines.loc["agent, a reliable case (pass^3)", "of"] == "2 of 2 resolvable cases with 3 trials"
    assert lines.loc["of these, hidden reasoning", ["value", "reason"]].tolist() == [60, ""]
    unknown = lines_of(Frames(float("nan")))
    assert "price unknown for 6 calls" in unknown.loc["agent, 1,000 conversations", "reason"]
