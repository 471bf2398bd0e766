"""Prices and model settings: two small files a user edits, and what happens when they are wrong."""

import math

import pytest

from benchmark_lib.cli import main
from benchmark_lib.endpoint import load_settings
from benchmark_lib.endpoint.prices import PRICES, Price, find_price, how_to_add, load_prices
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
        usage = Usage(
            prompt_tokens=1_000_000, completion_tokens=100_000, reasoning_tokens=90_000, cached_tokens=600_000, calls=1
        )
        assert PRICE.cost_usd(usage) == pytest.approx(0.4 * 2 + 0.6 * 0.5 + 0.1 * 10)

    def test_an_unknown_price_is_none_and_never_zero(self):
        assert find_price("nobody/has-heard-of-it") is None

    def test_a_call_without_reported_tokens_has_no_cost_unless_it_is_free(self):
        usage = Usage(10, 10, calls=2, missing=1)
        assert PRICE.cost_usd(usage) is None and Price("free", 0.0, 0.0, 0.0).cost_usd(usage) == 0.0

    def test_a_known_price_and_no_tokens_cost_nothing(self):
        assert PRICE.cost_usd(Usage()) == 0.0


class TestOwnPriceFile:
    """A ``data/prices.yaml`` beside the user's runs, wherever the package is installed."""

    @pytest.fixture
    def own(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        return tmp_path / "data" / "prices.yaml"

    def test_its_models_come_before_the_shipped_ones_and_nothing_else_need_stand_in_it(self, own):
        shipped = load_prices()
        own.write_text("models:\n- {model: newcomer, input: 1, output: 2}\n- {model: gpt-5.5, input: 9, output: 9}\n")
        assert find_price("newcomer").output == 2 and find_price("gpt-5.5").input == 9
        assert find_price("gpt-5.4") == shipped.price("gpt-5.4") and load_prices().tiers == shipped.tiers
        own.write_bytes(PRICES.read_bytes())
        assert find_price("gpt-5.5") == shipped.price("gpt-5.5")

    @pytest.mark.parametrize("text", ["[1]", "models: 3", "models: [{model: a}]", "&a [*a]", "models: [{model: a, input: -1, output: 1}]", "x: 1"])  # fmt: skip
    def test_a_hostile_one_is_refused_in_one_sentence(self, own, text):
        own.write_text(text)
        with pytest.raises(BadInput, match=r"data/prices\.yaml") as refused:
            load_prices()
        assert "\n" not in str(refused.value)

    def test_what_the_message_on_a_missing_price_says_to_write_is_a_whole_file_where_it_is_read(self, own):
        where, _, line = how_to_add('eager "1').partition(", as in ")
        assert str(own) in where
        own.write_text(line.replace("IN", "1").replace("OUT", "2"))
        assert find_price('eager "1').output == 2
        own.write_text(line.removeprefix("models: ").replace("IN", "1").replace("OUT", "2"))
        with pytest.raises(
            BadInput, match=r"data/prices\.yaml must contain a mapping; begin it with a line like 'models:'"
        ):
            load_prices()


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
        assert [prices.tier(x) for x in (0.0, 10.0, 10.01, 1e9, None, math.nan)] == [
            "low",
            "low",
            "high",
            "high",
            None,
            None,
        ]

    def test_the_projects_own_file(self):
        own = load_prices()
        assert own.price("scripted:oracle").cost_usd(Usage(1000, 1000)) == 0.0 == find_price("local").input
        assert find_price("gpt-5.5").output > find_price("gpt-5.4-mini").output > 0
        assert find_price("gpt-5.5-pro") is None and find_price("no-such-model") is None
        assert all(price.as_of and price.source for price in own.prices) and str(own.dated) >= "2026-11-21" and own.hash
        assert [name for name, _ in own.tiers] == ["$", "$$", "$$$", "$$$$"]

    def test_an_edited_file_is_read_again(self, tmp_path):
        path = tmp_path / "prices.yaml"
        path.write_text(FILE)
        before = load_prices(path)
        path.write_text(FILE.replace("input: 3", "input: 7"))
        assert load_prices(path).price("small").input == 7 and load_prices(path).hash != before.hash

    @pytest.mark.parametrize(
        "old, new, said",
        [
            ("dated: 2026-11-21", "", "dated: field required"),
            ("tiers:", "teirs:", "'teirs' is not known"),
            ("input: 3,", "input: free,", "models, entry 2, input: input should be a valid number"),
            ("output: 4", "output: -4", "output: input should be greater than or equal to 0"),
            ("model: small, input", "name: small, input", "models, entry 2"),
            ("up_to_usd: null", "up_to_usd: 5", "tiers: the bounds must rise"),
            ("source: list", "sauce: list", "'models, entry 2, sauce' is not known"),
            ("tiers: [", "tiers: [[", "not valid YAML"),
            ("dated: 2026-11-21", "dated: 2026-11-21\ncurrency: EUR", "currency: input should be 'USD'"),
            ("input: 3,", "input: .nan,", "entry 2, input: input should be"),
            ("input: 3,", f"input: 1{'0' * 400},", "entry 2, input: input should be"),
            ("input: 3,", "input: '3',", "entry 2, input: input should be"),
            ("input: 3,", "input: true,", "entry 2, input: input should be"),
            ("input: 3,", "at: [a], input: 3,", "at: input should be a valid string"),
            ('free: ["scripted:*"]', "free: local", "free: input should be a valid list"),
            ('free: ["scripted:*"]', "free: [{a: 1}]", "free, entry 1"),
            ('free: ["scripted:*"]', "free: 7", "free: input should be a valid list"),
            ("  - {model: small, at", "  - 5\n  - {model: small, at", "models, entry 1: input should be"),
            ("up_to_usd: 10", "up_to_usd: .nan", "tiers, entry 1, up_to_usd: input should be"),
            ("up_to_usd: 10", "up_to_usd: -10", "tiers, entry 1, up_to_usd: input should be"),
            ("up_to_usd: 10", "up_to_usd: '10'", "tiers, entry 1, up_to_usd: input should be"),
            ("up_to_usd: 10", "up_to_usd: true", "tiers, entry 1, up_to_usd: input should be"),
            ("{name: low, up_to_usd: 10}, ", "5, ", "tiers, entry 1: "),
            ("dated: 2026-11-21", "dated: 2026-11-21\n5: 1", "yaml: 5: this name is not a string; put it in quotes"),
            ("dated: 2026-11-21", "dated: 2026-13-45", "in quotes"),
        ],
    )
    def test_a_wrong_file_is_refused_in_one_sentence(self, tmp_path, old, new, said):
        assert old in FILE and said in refusal(tmp_path, FILE.replace(old, new), load_prices)

    @pytest.mark.parametrize("left_empty", ["", "null", "''"])
    def test_a_field_that_is_left_empty_is_one_that_is_not_there(self, tmp_path, left_empty):
        path = tmp_path / "prices.yaml"
        empty = ", ".join(f"{name}: {left_empty}" for name in ("at", "as_of", "source", "cached_input"))
        path.write_text(FILE.replace('{model: "big-*", ', f'{{model: "big-*", {empty}, '))
        found = load_prices(path).price("big-1", "https://any.example/v1")
        assert found == Price("big-*", 5.0, 5.0, 6.0, as_of="2026-11-21")

    @pytest.mark.parametrize("nothing", ["", "null", "[]"])
    def test_a_file_may_list_no_model(self, tmp_path, nothing):
        path = tmp_path / "prices.yaml"
        path.write_text(f"{FILE.partition('free')[0]}models: {nothing}\nfree: {nothing}\n")
        assert list(load_prices(path).prices) == []

    def test_the_first_tier_may_be_what_costs_nothing(self, tmp_path):
        path = tmp_path / "prices.yaml"
        path.write_text(FILE.replace("up_to_usd: 10", "up_to_usd: 0"))
        assert [load_prices(path).tier(usd) for usd in (0.0, 0.01)] == ["low", "high"]


class TestSettings:
    def test_every_role_has_settings(self, tmp_path):
        path = tmp_path / "settings.yaml"
        path.write_text("agent:\n  body: {temperature: 0, top_k: 5}\n  timeout: 30\njudge:\n  api_key_env: OTHER_KEY\n")
        read = load_settings(path)
        assert read["agent"].body == {"temperature": 0, "top_k": 5} and read["agent"].timeout == 30
        assert read["judge"].api_key_env == "OTHER_KEY" and read["customer"].body == {}

    def test_a_long_schema_is_sent(self, tmp_path):
        path = tmp_path / "settings.yaml"
        path.write_text(f"agent: {{body: {{schema: {'x' * 100_000}}}}}")
        assert len(load_settings(path)["agent"].body["schema"]) == 100_000

    def test_no_file_and_an_empty_one_mean_defaults(self, tmp_path):
        (tmp_path / "empty.yaml").write_text("# nothing yet\n")
        assert load_settings(None) == load_settings(tmp_path / "empty.yaml")

    @pytest.mark.parametrize(
        "text, said",
        [
            ("temperature: 0", "'temperature' is not a role"),
            ("agent: {temperature: 0}", "'temperature' is not a setting"),
            ("agent: {timeout: soon}", "agent: timeout"),
            ("agent: {attempts: 0}", "agent: attempts"),
            ("agent: [1]", "agent"),
            ("agent: {body: {model: x}}", "body.model is set by the run itself"),
            ("agent: {body: {stream: true}}", "body.stream"),
            ("agent: {headers: {X-Api-Key: sk-123}}", "looks like a key"),
            ("- agent", "must contain a mapping"),
            ("agent: {", "not valid YAML"),
            ("agent: {body: {top_k: 1}\njudge: {}", "correct it there; close each { and [, with commas between"),
        ],
    )
    def test_a_wrong_file_is_refused_in_one_sentence(self, tmp_path, text, said):
        assert said in refusal(tmp_path, text, load_settings)

    @pytest.mark.parametrize(
        "text, said",
        [
            ("agent: &a {body: {x: *a}}", "recursion error - cyclic reference"),
            ("agent: &a\n  body: *a", "recursion error - cyclic reference"),
            (
                "a: &a [x, x, x, x, x, x]\n"
                + "\n".join(f"{n}: &{n} [*{m}, *{m}, *{m}, *{m}, *{m}, *{m}]" for m, n in zip("abcdefg", "bcdefgh"))
                + "\nagent: {body: {x: *h}}",
                "aliases expand to more",
            ),
            (
                f"agent: {{body: {{x: &a [{', '.join(['x' * 30] * 10)}], y: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a], z: &c [*b, *b, *b, *b, *b, *b,"
                " *b, *b, *b, *b], w: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c], v: [*d, *d, *d]}}",
                "more than 1,000,000",
            ),
            ("agent: {body: {x: " + "[" * 2000 + "]" * 2000 + "}}", "levels deep"),
            ("agent: " + "{a: " * 60 + "1" + "}" * 60, "'a' is not a setting"),
            ('agent: {headers: {X-A: "b\\r\\nHost: x"}}', "headers, X-A: it contains a line break"),
            ('agent: {headers: {"X\\r\\nY": b}}', "is not a header name"),
            ('agent: {headers: {X-A: "caf\u00e9"}}', "headers, X-A: it contains"),
            ("agent: {headers: {Content-Length: '5'}}", "is set by the request itself"),
            ("agent: {headers: {X-A: 5}}", "headers, X-A"),
            ("agent: {headers: {5: x}}", "headers, 5"),
            ("agent: {query: {subscription-key: x}}", "looks like a key"),
            ("agent: {base_url: 'http://a:b@host/v1'}", "agent: base_url"),
            ("agent: {base_url: 5}", "agent: base_url"),
            ("agent: {body: {max_tokens: abc}}", "body: max_tokens: input should be a valid integer"),
            ("agent: {body: {max_tokens: 0}}", "max_tokens: input should be greater than or equal to 1"),
            ("agent: {body: {max_completion_tokens: 1.5}}", "body: max_completion_tokens"),
            ("agent: {body: {temperature: .nan}}", "body, temperature: input should be a finite number"),
            (
                "agent: {body: {seed: 99999999999999999999}}",
                "body cannot be sent as JSON (Integer exceeds 64-bit range)",
            ),
            ("agent: {body: {stop: 2026-11-21}}", "body, stop: JSON cannot represent this value; put it in quotes"),
            ("agent: {body: {x: !!binary aGk=}}", "body, x: JSON cannot represent this value"),
            ("agent: {body: {x: [{y: .inf}]}}", "agent: body, x, entry 1, y: input should be a finite number"),
            ("agent: {5: x}", "agent: 5: this name is not a string; put it in quotes"),
            ("agent: {headers: {Host: x}}", ": Host is set by the request itself"),
            ('agent: {body: {x: "\\ud800"}}', "not valid YAML"),
            ("agent: {body: {x: {1: 2}}}", "agent: body, x, 1: this name is not a string"),
            ('agent: {? "\\udc80" : 1}', "not valid YAML"),
            ("agent: {body: [1]}", "agent: body"),
            ("agent: {timeout: .inf}", "agent: timeout"),
            ("agent: {timeout: '30'}", "agent: timeout"),
            ("agent: {timeout: true}", "agent: timeout"),
            ("agent: {attempts: 1000}", "agent: attempts"),
            ("agent: 0", "agent must be a mapping"),
            ("agent: ''", "agent must be a mapping"),
            ("agent: {max_answer_mb: -1}", "agent: max_answer_mb"),
            ("agent: !!bool maybe", "in quotes"),
            ("agent: !!python/object:os.system {}", "not valid YAML"),
            ("agent: {attempts: " + "9" * 5000 + "}", "in quotes"),
            ("\x00\x01", "not valid YAML"),
            ("x" * 1_000_001, "more than the limit of 1,000,000"),
            ("agent: {" + "k" * 500 + ": 1}", "is not a setting"),
        ],
    )
    def test_what_was_a_traceback_is_one_sentence(self, tmp_path, text, said):
        sentence = refusal(tmp_path, text, load_settings)
        assert said in sentence and len(sentence) < 600

    def test_a_binary_file_is_refused(self, tmp_path):
        (tmp_path / "s.yaml").write_bytes(bytes(range(256)))
        for path in (tmp_path / "s.yaml", tmp_path, tmp_path / ("x" * 300), "nul\0"):
            with pytest.raises(BadInput, match="cannot be read"):
                load_settings(path)

    def test_a_mapping_from_a_notebook_is_checked_like_a_file(self):
        itself = {}
        itself["body"] = {"x": itself}
        for given in (
            {"agent": itself},
            5,
            ["agent"],
            {"agent": [1]},
            {"agent": {"body": {"x": {1}}}},
            {5: {}},
            {"agent": {"body": {"x": object()}}},
        ):
            with pytest.raises(BadInput) as caught:
                load_settings(given)
            assert "\n" not in str(caught.value)
        assert load_settings({"agent": {"timeout": 30}})["agent"].timeout == 30

    def test_the_command_refuses_them_before_anything_is_sent(self, tmp_path, capsys):
        path = tmp_path / "settings.yaml"
        path.write_text("agent: {body: {max_tokens: abc}}")
        assert (
            main(
                [
                    "run",
                    "some-model",
                    "--base-url",
                    "http://127.0.0.1:9/v1",
                    "--settings",
                    str(path),
                    "--out",
                    str(tmp_path / "x"),
                ]
            )
            == 2
        )
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "max_tokens" in said and str(path) in said and not (tmp_path / "x").exists()

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(BadInput, match="cannot be read"):
            load_settings(tmp_path / "none.yaml")

    def test_headers_come_from_the_environment(self, monkeypatch):
        settings = role_settings({"headers_env": {"X-Project-Token": "PROJECT_TOKEN"}})
        with pytest.raises(BadInput, match="PROJECT_TOKEN, which is not set"):
            settings.all_headers()
        monkeypatch.setenv("PROJECT_TOKEN", "abc-123-def")
        assert settings.all_headers() == {"X-Project-Token": "abc-123-def"}
