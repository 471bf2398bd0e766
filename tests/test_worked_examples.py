"""Sums that articles count out are right, in the store and in every set that is made from it."""

import pytest
from jinja2 import Environment

from benchmark_lib.extras.audit.worked_examples import wrong_sums
from benchmark_lib.extras.fresh_sets.generate import POOLS
from benchmark_lib.store import load_store
from benchmark_lib.textfiles import front_matter, read_yaml


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("two lines of 33.35 and 50.00 USD, together 83.35.", 0),
        ("two lines of 33.35 and 70.00 USD, together 83.35.", 1),
        ("1.00 USD, 2.00 USD and 3.00 USD, together 6.00 USD", 0),
        ("33.35 x 70.85 / 83.35 = 28.348..., so 28.35 USD is paid back", 0),
        ("33.35 x 70.85 / 83.35 = 28.348..., so 39.69 USD is paid back", 1),
        ("33.35 x 70.85 / 83.35 = 28.349..., so 28.34 USD", 2),
        ("50.00 - 2.50 x 4 = 40.00 and 40.00 / 8 = 5.00", 0),
        ("50.00 - 2.50 x 4 = 30.00", 1),
        ("55 x 40 x 20 cm, 10 kg; 1-2 days", 0),
    ],
)
def test_a_sum_with_a_wrong_result_is_found(text, wrong):
    assert len(list(wrong_sums(text))) == wrong


@pytest.mark.parametrize("name", ["northline", "northline:hard"])
def test_every_sum_of_the_articles_is_right(name):
    assert [wrong for a in load_store(name).articles for wrong in wrong_sums(a["text"])] == []


def test_the_share_of_a_code_is_right_whatever_money_is_multiplied_by(store):
    article = Environment().from_string(front_matter(next(store.path.glob("articles/KB-17-*")))[1])
    free_from = store.policy["shipping"]["free_from_cents"]
    for tenths in [10, *read_yaml(store.path / POOLS)["money_tenths"]]:
        shipping = {**store.policy["shipping"], "free_from_cents": free_from * tenths // 10}
        text = article.render(policy={**store.policy, "shipping": shipping})
        assert "..., so " in text and list(wrong_sums(text)) == []
