"""Fresh sets: same logic, nothing recognisable, same seed same bytes."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from datetime import datetime

import orjson
import pytest
from test_escape_hatch import INSISTING

from benchmark_lib.analysis.frames import is_hard
from benchmark_lib.cases import load_cases
from benchmark_lib.cases.load import case_set
from benchmark_lib.cases.variants import worded_case
from benchmark_lib.cli import main
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.errors import BadInput
from benchmark_lib.extension import offer
from benchmark_lib.extras.audit.audit import audit, play
from benchmark_lib.extras.fresh_sets.generate import POOLS, folder_hash, generate
from benchmark_lib.extras.fresh_sets.texts import MONEY, PLACEHOLDER
from benchmark_lib.records import ToolCall
from benchmark_lib.scoring import score
from benchmark_lib.store import load_store
from benchmark_lib.store.rules import Before
from benchmark_lib.textfiles import read_yaml

SEEDS = (1, 2**64 - 1)


AGENTS_WORDS = ("phrases", "prompts", "reader", "reasons")
"""Folders of what agents are heard to say, which a fresh set takes over as it is."""


@pytest.fixture(scope="module")
def fresh(store, tmp_path_factory):
    """One fresh set for each of the seeds."""
    return {seed: generate(store, seed, tmp_path_factory.mktemp("fresh") / "set") for seed in SEEDS}


@pytest.fixture(scope="module")
def rekey(store):
    return offer("rekeys", store.kind.name)(store, read_yaml(store.path / POOLS), SEEDS[0])


@pytest.fixture(scope="module")
def first(fresh):
    return load_store(fresh[SEEDS[0]].path)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_audit_passes_on_a_fresh_set(seed, fresh):
    found = audit(load_store(fresh[seed].path), "all,factorial" if seed == SEEDS[0] else "all")
    assert [str(p) for p in found.problems] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_the_audit_passes_whatever_the_seed(seed, store, tmp_path):
    made = generate(store, seed, tmp_path / "set")
    assert [str(p) for p in audit(load_store(made.path), "all,factorial").problems] == []


def test_the_same_seed_gives_the_same_bytes_and_the_hash_comes_before_the_content(fresh, tmp_path):
    made, again = fresh[SEEDS[0]], tmp_path / "again"
    command = [sys.executable, "-m", "benchmark_lib", "generate", "--seed", str(SEEDS[0]), "--out", str(again)]
    out = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7"}
    ).stdout
    assert out.startswith(f"sha256 {made.sha256}\nPublish this hash")
    assert out.index("sha256") < out.index(f"{made.cases} cases, {made.rows['products']} products")
    assert folder_hash(again) == made.sha256
    assert "60 retold cases, re-keyed with the others: deskbench run MODEL --store" in out
    assert len({one.sha256 for one in fresh.values()}) == len(SEEDS)
    (again / "prompts" / "agent.md").write_text("changed")
    assert folder_hash(again) != made.sha256


def test_name_canary_version_and_seed_stand_in_the_store(store, first, fresh):
    assert first.name == f"northline-{SEEDS[0]}" == fresh[SEEDS[0]].name and first.version == store.version
    assert first.info["made_from"] == {"store": "northline", "version": store.version, "seed": SEEDS[0]}
    assert first.info["canary"] != store.info["canary"] and re.search(r"canary: [0-9a-f-]{36} - ", first.info["canary"])
    for path in first.path.rglob("*.yaml"):
        if path.parent.name in ("cases", "wordings") or path.name == "factorial.yaml":
            assert read_yaml(path)["canary"] == first.info["canary"], path.name


def test_a_fresh_set_tells_its_own_cases_again_in_the_same_voices(store, first, fresh):
    told, before = load_cases(first, "wordings"), load_cases(store, "wordings")
    assert [c.id for c in told] == [c.id for c in before] and fresh[SEEDS[0]].wordings == len(told) == 60
    assert [str(p) for p in audit(first, "wordings").problems] == []
    bases = {c.id: c for c in load_cases(first)}
    for new, old in zip(told, before, strict=True):
        base = bases[worded_case(new.id)]
        assert (new.order, new.sender, new.bucket) == (base.order, base.sender, base.bucket) and new.order != old.order
        assert len(new.pressure) == len(old.pressure) and new.email.text != base.email.text
        assert set(new.ledger) == set(old.ledger) and set(new.facts) == set(old.facts)


def test_a_set_of_a_store_without_cases_told_again_says_so(own_store, tmp_path, capsys):
    assert main(["generate", "--seed", "5", "--store", str(own_store), "--out", str(tmp_path / "none")]) == 0
    assert "contains no retold cases" in capsys.readouterr().out and not (tmp_path / "none" / "wordings").exists()


def leaves(value, key=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key)
    else:
        yield key, value


def test_no_code_leaves_half_a_cent_to_round(store):
    percents = [code["percent"] for code in store.policy["promotions"]["codes"]]
    assert all(row["price_cents"] % 100 == 0 for row in store.tables["products"].values())
    assert not [t for t in read_yaml(store.path / POOLS)["money_tenths"] if any(t * p % 10 == 5 for p in percents)]


def test_nothing_that_identifies_the_old_world_is_left(store, first):
    files = [p for p in sorted(first.path.rglob("*")) if p.is_file() and p.parent.name not in AGENTS_WORDS]
    assert not any(b"\r" in p.read_bytes() for p in files)
    text = "\n".join(p.read_text(encoding="utf-8") for p in files)
    words = set(re.findall(r"[\w@.+-]+", re.sub(r'_cents"?: ?\d+', "", text)))
    gone = {
        "canary": {store.info["canary"]},
        "host": {c["email"].split("@")[1] for c in store.tables["customers"].values()},
    }
    for key, value in leaves([*map(list, (t.values() for t in store.tables.values()))]):
        if (key.endswith("_id") and key != "line_id") or key in (
            "tracking_number",
            "email",
            "postcode",
            "line1",
            "promo_code",
        ):
            gone.setdefault(key, set()).add(value)
    gone["forwarder"] = set(store.policy["freight_forwarders"]["names"])
    gone["holiday"] = {h["name"] for h in store.policy["calendar"]["holidays"]}
    for key, values in gone.items():
        left = [v for v in values if v and (v in words if re.fullmatch(r"[\w@.+-]+", v) else v in text)]
        assert left == [], key
    lines = read_yaml(store.path / POOLS)["lines"]
    titles = {w for p in first.tables["products"].values() for w in p["title"].split()}
    assert not titles & {*lines["everywhere"], *lines["in_titles"]}


def test_goods_keep_their_physical_facts_and_money_its_proportions(store, first, rekey):
    for old in store.tables["products"].values():
        new = first.tables["products"][rekey.ids[old["product_id"]]]
        assert (new["attributes"], new["category"], new["options"]) == (
            old["attributes"],
            old["category"],
            old["options"],
        )
        assert new["title"] != old["title"] and new["price_cents"] * 10 == old["price_cents"] * rekey.tenths
        for before, after in zip(old["variants"], new["variants"], strict=True):
            assert all(before[k] == after[k] for k in ("color", "size", "stock", "weight_g"))


def test_people_and_places_keep_country_origin_and_gender(store, first, rekey):
    pools = read_yaml(store.path / POOLS)["names"]
    group = {name: (origin, kind) for origin, pool in pools.items() for kind in ("f", "m") for name in pool[kind]}
    for old in store.tables["customers"].values():
        new = first.tables["customers"][rekey.ids[old["customer_id"]]]
        assert new["name"] != old["name"] and new["email"] != old["email"] and new["tier"] == old["tier"]
        before, after = old["name"].split()[0], new["name"].split()[0]
        assert before in group, f"write the given name {before} into {POOLS}, under its origin and gender"
        assert group[before] == group[after]
        for a, b in zip(old["addresses"], new["addresses"], strict=True):
            assert b["country"] == a["country"] and b["postcode"] != a["postcode"] and b["city"] != a["city"]
            assert (a["name"] == old["name"]) == (b["name"] == new["name"])


def test_order_numbers_can_be_mistyped_without_meeting_another_order(first):
    orders = first.tables["orders"]
    assert all(o[-1] != o[-2] and o[:-2] + o[-1] + o[-2] not in orders for o in orders)


def test_every_limit_keeps_its_side(store, first, rekey):
    assert rekey.weeks and abs(first.now.timetuple().tm_yday - store.now.timetuple().tm_yday) <= 11
    free = "free_from_cents"
    for number, old in store.tables["orders"].items():
        new = first.tables["orders"][rekey.ids[number]]
        assert verdicts(new, first) == verdicts(old, store), number
        assert (new["shipping_cents"] == 0) == (old["shipping_cents"] == 0)
        goods = [o["subtotal_cents"] - o["discount_cents"] for o in (old, new)]
        assert (goods[0] >= store.policy["shipping"][free]) == (goods[1] >= first.policy["shipping"][free])
        assert [p["amount_cents"] == old["total_cents"] for p in old["payments"]] == [
            p["amount_cents"] == new["total_cents"] for p in new["payments"]
        ]
        assert weekday(old) == weekday(new)


def weekday(order):
    placed = datetime.fromisoformat(order["placed_at"])
    return placed.weekday(), placed.time()


def verdicts(order, store):
    """What the rules on windows and evidence say about every act on the order."""
    lines = [x["line_id"] for x in order["lines"]]
    base = {"order_id": order["order_id"], "reason": "-"}
    calls = [("cancel_order", base)]
    calls += [("start_return", {**base, "line_ids": [x]}) for x in lines]
    calls += [("create_replacement", {**base, "line_id": x, "variant_id": "-"}) for x in lines]
    calls += [("create_reshipment", {**base, "line_ids": [x]}) for x in lines]
    found = []
    for name, arguments in calls:
        for rule in ("window", "evidence"):
            parameters = store.policy["process_rules"][rule]
            if name in parameters["guards"]:
                call = ToolCall(1, 0, name, arguments, {}, None, True)
                found.append(store.rules[rule](call, Before([], []), store, parameters))
    return found


def test_emails_read_differently_and_facts_stay_facts(store, first, rekey):
    old, new = ({c.id: c for c in load_cases(s)} for s in (store, first))
    assert old.keys() == new.keys()
    raw = {}
    for name, folder in (("old", store.path), ("new", first.path)):
        for path in (folder / "cases").glob("*.yaml"):
            raw |= {(name, c["id"]): c["email"]["text"] + " ".join(c["pressure"]) for c in read_yaml(path)["cases"]}
    assert sum(raw["old", i] != raw["new", i] for i in old) > 0.8 * len(old)
    for i in old:
        assert {n: (f.kind, f.unit) for n, f in old[i].facts.items()} == {
            n: (f.kind, f.unit) for n, f in new[i].facts.items()
        }
        assert [len(o.calls) for o in old[i].outcomes] == [len(o.calls) for o in new[i].outcomes]
        assert (old[i].bucket, old[i].claim, old[i].tone, old[i].language) == (
            new[i].bucket,
            new[i].claim,
            new[i].tone,
            new[i].language,
        )


def test_every_amount_says_that_it_is_money_so_that_all_move_together(store, hard):
    """A literal amount without a currency would stay while those beside it move."""
    for folder in (store.path, hard.path):
        for pattern in ("articles/*.md", "library/*.md", "cases/*.yaml", "wordings/*.yaml"):
            for path in folder.glob(pattern):
                text = re.sub(
                    r"canaries: \[.*?\]", "", " \0 ".join(PLACEHOLDER.split(path.read_text(encoding="utf-8"))[::2])
                )
                assert re.findall(r"(?<![\d.,:])\d+\.\d\d(?![\d.%])", re.sub(MONEY, "", text)) == [], path.name


def test_a_customer_names_the_goods_that_the_case_it_is_made_from_names(store, first, rekey):
    def named(case, world):
        said = " ".join([case.email.subject, case.email.text, *case.pressure])
        return {p["product_id"] for p in world.tables["products"].values() if p["title"] in said}

    for old, new in zip(load_cases(store), load_cases(first), strict=True):
        assert named(new, first) == {rekey.ids[product] for product in named(old, store)}, old.id


def test_a_town_of_the_pools_lies_in_one_served_country(store):
    """What delivery costs depends on the country, and a customer may name the town alone."""
    pools = read_yaml(store.path / POOLS)["towns"]
    of = {pool: {town.split(", ")[0] for town in towns} for pool, towns in pools.items()}
    stored = {(a["city"], a["country"]) for t in ("customers", "orders") for a in addresses_of(store.tables[t])}
    for pool, towns in of.items():
        assert not {t for t, country in stored if country != pool[:2]} & towns
        assert not any(towns & others for other, others in of.items() if other[:2] != pool[:2])


def test_a_parcel_takes_the_same_way_through_states_and_provinces(store, first, rekey):
    for old in store.tables["orders"].values():
        new = first.tables["orders"][rekey.ids[old["order_id"]]]
        if new["shipping_address"]["country"] != "GB":
            assert new["shipping_address"]["region"] == old["shipping_address"]["region"]
        for before, after in zip(old["parcels"], new["parcels"], strict=True):
            ways = [[s["location"].rpartition(", ")[2] for s in p["scans"]] for p in (before, after)]
            assert ways[0] == ways[1], new["order_id"]


def test_a_parcel_is_delivered_in_the_town_of_its_address(store, hard, first):
    for world in (store, hard, first):
        assert not [
            p for number in world.tables["orders"] for p in world.kind.unsound(number, world) if "delivered in" in p[1]
        ]


def addresses_of(rows):
    return [a for row in rows.values() for a in row.get("addresses") or [row["shipping_address"]]]


@pytest.mark.parametrize(
    ("old", "says"),
    [("$1,250.50", 1250.5), ("under 300 dollars", 300), ("12,50 $", 12.5), ("$40", 40)],
)
def test_amounts_in_texts_move_with_all_money(old, says, rekey):
    found = re.search(r"[\d.,]+", rekey.text(old)).group()
    value = float(found.replace(",", ".") if re.search(r",\d\d$", found) else found.replace(",", ""))
    assert value == pytest.approx(says * rekey.tenths / 10)


@pytest.mark.parametrize("old", ["An Orbit", "a Meridian", "an Aluma", "a Skerry"])
def test_a_new_name_has_the_article_that_goes_with_it(old, rekey):
    article, name = rekey.text(f"It is {old} of mine.").split()[2:4]
    assert name != old.split()[1] and article.casefold() == ("an" if name[0] in "AEIOU" else "a")


def test_numbers_that_are_no_money_stay(rekey):
    for text in (
        "he is 74, seat 31, 7 kg and 15.6 inches",
        "in {{ order.total_cents * 90 // 100 }}",
        "{{ (lines.L1.price_cents * (100 - policy.promotions.codes[0].percent) / 100) | round | int }}",
        "{{ lines.L1.variant.weight_g + 3400 }}",
        "PO Box 418, since 1971",
    ):
        assert rekey.text(text) == text


def test_bad_input_is_refused_in_one_sentence(store, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    for seed, out, says in (
        (-1, tmp_path / "a", "a whole number from 0"),
        (2**64, tmp_path / "a", "a whole number from 0"),
        (1, tmp_path / "full", "a new or empty folder"),
        (1, tmp_path / "full" / "x", "a new or empty folder"),
        (1, store.path / "new", "inside its source store"),
        (1, tmp_path / "full" / "x" / "y", "cannot be written"),
    ):
        with pytest.raises(BadInput, match=says):
            generate(store, seed, out)
    assert main(["generate", "--seed", "seven", "--out", str(tmp_path / "a")]) == 2
    assert not (tmp_path / "a").exists()


def test_a_store_without_sound_pools_is_refused(first, store, tmp_path):
    with pytest.raises(BadInput, match=f"no {POOLS}"):
        generate(first, 1, tmp_path / "a")
    pools = read_yaml(store.path / POOLS)
    for change, says in (
        (lambda p: p.pop("towns"), "towns is missing"),
        (lambda p: p["names"]["english"].pop("family"), "cannot be re-keyed"),
    ):
        broken = orjson.loads(orjson.dumps(pools))
        change(broken)
        (first.path / POOLS).write_bytes(orjson.dumps(broken))
        try:
            with pytest.raises(BadInput, match=says):
                generate(first, 1, tmp_path / "a")
        finally:
            (first.path / POOLS).unlink()


@pytest.fixture(scope="module")
def hard():
    return load_store("northline:hard")


@pytest.fixture(scope="module")
def fresh_hard(hard, tmp_path_factory):
    """A fresh hard set."""
    return load_store(generate(hard, 7, tmp_path_factory.mktemp("fresh") / "hard").path)


def test_a_store_that_extends_another_becomes_one_folder_of_its_own(hard, fresh_hard):
    assert fresh_hard.extends is None and "extends" not in fresh_hard.info
    assert fresh_hard.name == "northline:hard-7" and is_hard({"inputs": {"store": {"value": fresh_hard.name}}})
    assert case_set(fresh_hard.path, "hard") == (fresh_hard.path, "hard")
    assert {table: len(rows) for table, rows in fresh_hard.tables.items()} == {
        table: len(rows) for table, rows in hard.tables.items()
    }
    assert {a["id"] for a in fresh_hard.articles} == {a["id"] for a in hard.articles}
    assert len(fresh_hard.read_library()) == len(hard.read_library())
    assert fresh_hard.phrases["en"]["slots"].keys() == hard.phrases["en"]["slots"].keys()
    assert {c.id for c in load_cases(fresh_hard, "*,told")} == {c.id for c in load_cases(hard, "*,told")}


def test_the_audit_passes_on_a_fresh_hard_set(fresh_hard):
    found = audit(fresh_hard, "injection_*,privacy_*,second_contact_[1-4]")
    assert [str(p) for p in found.problems] == []


def test_its_customers_ask_for_a_person_too(fresh_hard):
    for case in load_cases(fresh_hard, INSISTING):
        found = score(play(case, fresh_hard, Oracle(case, fresh_hard)), case, fresh_hard, findings=False)
        assert found["success"] and found["person_given"] is True, case.id


def test_what_is_planted_and_what_must_not_be_told_stand_in_the_new_rows(hard, fresh_hard):
    for old, new in zip(load_cases(hard), load_cases(fresh_hard), strict=True):
        if not old.planted and not old.canaries:
            continue
        before, after = seen(hard, old), seen(fresh_hard, new)
        for name in ("planted", "canaries"):
            for one, other in zip(getattr(old, name), getattr(new, name), strict=True):
                assert (plain(one) in before) == (plain(other) in after), (new.id, other)


def seen(store, case):
    """The rows, articles and texts of a case, as one text."""
    view = store.of(case)
    rows = [str(value) for _, value in leaves([list(t.values()) for t in map(dict, view.tables.values())])]
    texts = [*(a["text"] for a in view.articles), case.email.text, case.briefing]
    texts += [known.shows or "" for known in case.ledger.values()]
    return plain(" ".join([*rows, *texts]))


def plain(text):
    return re.sub(r"\s+", " ", text)


def test_rows_that_a_case_lays_over_the_store_get_new_ids_and_moved_days(hard, fresh_hard):
    for old, new in zip(load_cases(hard), load_cases(fresh_hard), strict=True):
        for table, rows in (old.world.get("rows") or {}).items():
            made = new.world["rows"][table]
            assert len(made) == len(rows) and not made.keys() & rows.keys(), old.id
    text = "\n".join(p.read_text(encoding="utf-8") for p in (fresh_hard.path / "cases").glob("*.yaml"))
    assert not re.search(r"\b2026-0[1-9]-\d\d\b", text)


def test_numbers_that_differ_by_a_slip_still_do(hard, fresh_hard):
    case = next(c for c in load_cases(fresh_hard) if c.id == "privacy_3")
    wrong = case.others["stranger"]
    assert wrong == case.order[:-2] + case.order[-1] + case.order[-2] and wrong in fresh_hard.tables["orders"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("until July 3", "until {3 July}"),
        ("from 30 June to 1 July", "from {30 June} to {1 July}"),
        ("Monday June 29, 09:30", "Monday {June 29}, 09:30"),
        ("the 5th floor, the 60th business day", "the 5th floor, the 60th business day"),
        ("it may 5 times", "it may 5 times"),
    ],
)
def test_days_in_words_move_with_the_calendar(old, new, rekey):
    def moved(match):
        day = next(
            datetime.strptime(f"{match[1]} {rekey.store.now.year}", shape)
            for shape in ("%d %B %Y", "%B %d %Y")
            if match[1][0].isdigit() == shape.startswith("%d")
        )
        return f"{rekey.day(day.date()):%B} {rekey.day(day.date()).day}"

    def month_first(text):
        return re.sub(r"(\d+) (June|July|August)", r"\2 \1", text)

    assert month_first(rekey.text(old)) == re.sub(r"\{(.*?)\}", moved, new)


def owners(store, value_of):
    """For each value, the customers of the cases that it belongs to."""
    tables, found = store.tables, defaultdict(set)
    for case in load_cases(store):
        order = tables["orders"].get(case.order)
        for value in value_of(tables["customers"][order["customer_id"]], order) if order else ():
            found[value].add(order["customer_id"])
    return found


def test_customers_of_a_fresh_set_do_not_share_card_digits_or_family_names_by_chance(store, first):
    def cards(customer, order):
        return [p["method"] for p in order["payments"] if p["method"][-1].isdigit()]

    def family(customer, order):
        return [customer["name"].partition(" ")[2]]

    assert max(map(len, owners(store, cards).values())) > 1, "the store itself repeats them"
    assert max(map(len, owners(first, cards).values())) == 1
    shared = [len(found) - 1 for found in owners(first, family).values()]
    assert sum(shared) <= 2 < sum(len(found) - 1 for found in owners(store, family).values())


def test_customers_of_different_cases_live_in_different_towns_as_far_as_the_pools_allow(store, first):
    def town(customer, order):
        return [(order["shipping_address"]["region"], order["shipping_address"]["city"])]

    before, after = (sum(len(found) - 1 for found in owners(s, town).values()) for s in (store, first))
    assert after <= 10 < before / 3
