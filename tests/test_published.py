"""What others have published, loaded from the files that ship and labelled as published."""

import pandas as pd
import pytest

from benchmark_lib import tables


def test_every_published_row_is_labelled_as_such():
    for table in (
        tables.published_board(),
        tables.published_pass_hat_k(),
    ):
        assert set(table["source"]) == {"published"}


def test_the_published_pass_hat_k_lies_above_its_own_p_to_the_k():
    table = tables.published_pass_hat_k()
    first = table[table["k"] == 1].set_index(["model", "domain"])["pass_hat_k"]
    bound = [first[m, d] ** k for m, d, k in zip(table["model"], table["domain"], table["k"], strict=True)]
    assert (table["pass_hat_k"] >= pd.Series(bound) - 1e-9).all()
    assert not table.loc[(table["trials"] == 4) & (table["k"] > 2), "usable"].any()


def test_the_board_has_its_bands_and_its_mean():
    board = tables.published_board()
    assert board["band"].value_counts().to_dict() == {"middling": 15, "safe": 5, "reckless": 4}
    assert board["escalation_accuracy_pct"].mean() == pytest.approx(90.6, abs=0.05)
    assert len(tables.published_escalation_cells()) == 24
