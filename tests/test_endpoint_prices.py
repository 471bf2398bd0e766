"""Prices and model settings: two small files a user edits, and what happens when they are wrong."""

import math

import pytest

from benchmark_lib.endpoint import load_settings
from benchmark_lib.endpoint.prices import Price, cost_usd, find_price, load_prices
from benchmark_lib.endpoint.settings import role_settings
from benchmark_lib.errors import BadInput
from benchmark_lib.records import Usage

PRICE = Price("any", input=2.0, cached_input=0.5, output=10.0)
FILE = """
dated: 2026-11-21
tiers: [{name: low, up_to_usd: 10}, {name: high, up_to_usd: null}]
free: ["scripted:*"]
models:
  - {model: small, at: api.one.example, input: 1, output: 2}
  - {model: small, input: 3, cached_input: 0.3, output: 4, as_of: 2026-06, source: list}
  - {model: "big-*", input: 5, output: 6}
"""


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(FILE)
    return load_prices(path)


def refusal(tmp_path, text, read):
    """Write a file, read it, and return the sentence it is refused with."""
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return str(caught.value)


class TestCost:
    def test_cached_and_reasoning_tokens_are_parts_and_not_added_again(self):
        usage = Usage(prompt_tokens=1_000_000, completion_tokens=100_000, reasoning_tokens=90_000, cached_tokens=600_000, calls=1)
        assert cost_usd(usage, PRICE) == pytest.approx(0.4 * 2 + 0.6 * 0.5 + 0.1 * 10) == PRICE.cost_usd(usage)

    def test_an_unknown_price_is_none_and_never_zero(self):
        assert cost_usd(Usage(10, 10, calls=1), None) is None

    def test_a_call_without_reported_tokens_has_no_cost_unless_it_is_free(self):
        usage = Usage(10, 10, calls=2, missing=1)
        assert cost_usd(usage, PRICE) is None and cost_usd(usage, Price("free", 0.0, 0.0, 0.0)) == 0.0

    def test_a_known_price_and_no_tokens_cost_nothing(self):
        assert cost_usd(Usage(), PRICE) == 0.0


class TestPriceFile:
    def test_the_first_entry_that_fits_by_name_and_host(self, prices):
        assert prices.price("small", "https://api.one.example/v1").input == 1
        assert prices.price("small").input == prices.price("small", "https://other.example/v1").input == 3
        assert prices.price("vendor/Small").source == "list" and prices.price("big-2026-11-01").output == 6

    def test_what_is_not_listed_is_unknown(self, prices):
        assert prices.price("small-2") is None and prices.price("bigger") is None

    def test_cached_tokens_cost_what_others_do_where_nothing_is_said(self, prices):
        assert prices.price("big-1").cached_input == 5.0

    def test_tiers_are_cut_where_the_file_says(self, prices):
        assert [prices.tier(x) for x in (0.0, 10.0, 10.01, 1e9, None, math.nan)] == ["low", "low", "high", "high", None, None]

    def test_the_projects_own_file(self):
        own = load_prices()
        assert own.price("scripted:oracle").cost_usd(Usage(1000, 1000)) == 0.0 == find_price("local").input
        assert find_price("gpt-5.5").output > find_price("gpt-5.4-mini").output > 0
        assert find_price("gpt-5.5-pro") is None and find_price("no-such-model") is None
        assert all(price.as_of and price.source for price in own.prices) and own.dated >= "2026-11-21" and own.hash
        assert [name for name, _ in own.tiers] == ["$", "$$", "$$$", "$$$$"]

    def test_an_edited_file_is_read_again(self, tmp_path):
        path = tmp_path / "prices.yaml"
        path.write_text(FILE)
        before = load_prices(path)
        path.write_text(FILE.replace("input: 3", "input: 7"))
        assert load_prices(path).price("small").input == 7 and load_prices(path).hash != before.hash

    @pytest.mark.parametrize("old, new, said", [
        ("dated: 2026-11-21", "", "'dated' is missing"), ("tiers:", "teirs:", "'teirs' is not part"),
        ("input: 3,", "input: free,", "entry 2 (small): 'input' must be a number"), ("output: 4", "output: -4", "'output' must be"),
        ("model: small, input", "name: small, input", "entry 2: an entry names its 'model'"),
        ("up_to_usd: null", "up_to_usd: 5", "'tiers' must be"),
        ("source: list", "sauce: list", "'sauce' is not part of a price"), ("tiers: [", "tiers: [[", "no YAML"),
        ("dated: 2026-11-21", "dated: 2026-11-21\ncurrency: EUR", "in USD for 1000000 tokens"),
    ])  # fmt: skip
    def test_a_wrong_file_is_refused_in_one_sentence(self, tmp_path, old, new, said):
        assert old in FILE and said in refusal(tmp_path, FILE.replace(old, new), load_prices)


class TestSettings:
    def test_every_role_has_settings(self, tmp_path):
        path = tmp_path / "settings.yaml"
        path.write_text("agent:\n  body: {temperature: 0, top_k: 5}\n  timeout: 30\njudge:\n  api_key_env: OTHER_KEY\n")
        read = load_settings(path)
        assert read["agent"].body == {"temperature": 0, "top_k": 5} and read["agent"].timeout == 30
        assert read["judge"].api_key_env == "OTHER_KEY" and read["customer"].body == {}

    def test_no_file_and_an_empty_one_mean_defaults(self, tmp_path):
        (tmp_path / "empty.yaml").write_text("# nothing yet\n")
        assert load_settings(None) == load_settings(tmp_path / "empty.yaml")

    @pytest.mark.parametrize("text, said", [
        ("temperature: 0", "'temperature' is no role"), ("agent: {temperature: 0}", "'temperature' is not a setting"),
        ("agent: {timeout: soon}", "agent: timeout"), ("agent: {attempts: 0}", "agent: attempts"), ("agent: [1]", "agent"),
        ("agent: {body: {model: x}}", "body.model is set by the run itself"), ("agent: {body: {stream: true}}", "body.stream"),
        ("agent: {headers: {X-Api-Key: sk-123}}", "looks like a key"), ("- agent", "must hold a mapping"), ("agent: {", "no YAML in line"),
    ])  # fmt: skip
    def test_a_wrong_file_is_refused_in_one_sentence(self, tmp_path, text, said):
        assert said in refusal(tmp_path, text, load_settings)

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(BadInput, match="cannot be read"):
            load_settings(tmp_path / "none.yaml")

    def test_headers_come_from_the_environment(self, monkeypatch):
        settings = role_settings({"headers_env": {"X-Project-Token": "PROJECT_TOKEN"}})
        with pytest.raises(BadInput, match="PROJECT_TOKEN, which is not set"):
            settings.all_headers()
        monkeypatch.setenv("PROJECT_TOKEN", "abc-123-def")
        assert settings.all_headers() == {"X-Project-Token": "abc-123-def"}
