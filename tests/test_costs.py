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
            }
            for case in (1, 2)
            for trial in (1, 2, 3)
        ]
        self.conversations = pd.DataFrame(rows)
        self.calls = pd.DataFrame({"run_id": ["r"] * 6, "side": ["agent"] * 6, "cost_usd": [price] * 6})


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
