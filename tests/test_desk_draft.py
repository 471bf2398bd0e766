"""A desk drafted from documents: every rule is quoted, nothing is on before a person accepts it, every gate says why."""

import csv
import json

import pytest

from benchmark_lib import load_cases, load_store
from benchmark_lib.cli import main
from benchmark_lib.extras.own_desk.documents import quoted, read_simply, sections_of, table_of
from benchmark_lib.extras.own_desk.tickets import intents_of
from tests.servers import Answer, ScriptedServer, error_body

POLICY = """# Returns

Orders can be returned within 30 days
after delivery. **Opened packets cannot come back**, unless they were damaged.

# Refunds

- We refund up to $50 without a photo; ask the manager above that.
- We answer on weekdays.
"""
TICKETS = """Subject;Body
Return;"Hello, I am Ingrid Solberg, ingrid@solberg.example. I want to return my tea order, it tastes of soap."
Return;"I would like to return the tea order that came on Monday, please tell me how."
Return;"send it back"
Refund;"The parcel never came, please refund the money for the parcel to my card."
Refund;"Please refund the money, the parcel was empty when it came."
"""


@pytest.fixture
def draft(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.md").write_text(POLICY)
    (tmp_path / "tickets.csv").write_text(TICKETS)

    def run(*more):
        return main(["desk", "draft", "tea", "--policy", "policy.md", "--out", "tea", *more])

    return run


def accept(path, *ids, **cells):
    """Write yes into rows, as a person does in a spreadsheet that saves with semicolons."""
    rows = table_of(path)
    for row in rows:
        row |= {"accepted": "yes", **cells} if row["id"] in ids else {}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def test_a_quotation_counts_with_all_its_words_in_a_row_and_comes_back_as_whole_sentences(draft, tmp_path):
    sections = sections_of([tmp_path / "policy.md"])
    section, line, words = quoted("opened packets CANNOT come back", sections)
    assert (section.title, line) == ("Returns", 3)
    assert words == "Opened packets cannot come back**, unless they were damaged."
    assert quoted("packets can come back", sections) is None and quoted("within 30", sections) is None


def test_rules_are_read_with_number_unit_column_and_what_else_happens(draft, tmp_path):
    window, opened, amount = (row for s in sections_of([tmp_path / "policy.md"]) for row in read_simply(s))
    assert (window["act"], window["number"], window["unit"], window["column"]) == ("return", 30, "days", "delivered_on")
    assert opened["test"] == "yes" and "ask" not in opened, "what must be asked is for a person to word"
    assert (amount["number"], amount["unit"], amount["otherwise"]) == (5000, "cents", "manager")


def test_nothing_is_on_before_it_is_accepted_and_then_the_desk_runs_and_follows_its_policy(draft, tmp_path, capsys):
    assert draft() == 0 and draft() == 0
    assert sorted(path.name for path in (tmp_path / "tea").iterdir()) == ["left_out.csv", "rules.csv"]
    accept(tmp_path / "tea" / "rules.csv", "r1", "r3")
    assert draft() == 0 and "2 acts, 2 policy numbers, 4 cases" in capsys.readouterr().out
    store = load_store(tmp_path / "tea")
    assert {c.id: c.bucket for c in load_cases(store)} == {
        "refund_r3_inside": "resolvable",
        "return_r1_inside": "resolvable",
        "refund_r3_outside": "must_escalate",
        "return_r1_outside": "adversarial",
    }
    assert main(["audit", "--store", "tea"]) == 0
    (tmp_path / "longer").mkdir()
    for path in (p for p in (tmp_path / "tea").rglob("*.*") if p.is_file()):
        copy = tmp_path / "longer" / path.relative_to(tmp_path / "tea")
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text().replace("return_r1: 30", "return_r1: 90"))
    longer = load_store(tmp_path / "longer")
    assert "within 90 days" in longer.articles[0]["text"]
    assert {c.bucket for c in load_cases(longer, "return_r1_*")} == {"resolvable"}


NUMBERS = """# Cancellation

You can cancel a booking within 30 days after you paid. Those 30 days begin at once,
and a 30-day period (thirty days) is never extended.

# Refunds

- We refund up to $50 without a photo; ask the manager above that. The $50.00 are per booking.
- Refunds take four weeks after delivery. After 30 days, write again.
"""


def test_every_accepted_number_follows_the_policy_and_the_check_names_the_same_one_elsewhere(draft, tmp_path, capsys):
    (tmp_path / "policy.md").write_text(NUMBERS)
    draft()
    names = {(row["number"], row["topic"]): row["id"] for row in reversed(table_of(tmp_path / "tea" / "rules.csv"))}
    accept(tmp_path / "tea" / "rules.csv", names["30", "Cancellation"], names["5000", "Refunds"], names["4", "Refunds"])
    draft()
    assert main(["desk", "check", "tea"]) == 0
    assert "a002.md:9: 30 is typed here, but the policy has this number as cancel_r1" in capsys.readouterr().out
    policy = tmp_path / "tea" / "policy.yaml"
    policy.write_text("cancel_r1: 45\nrefund_r3: 6050\nrefund_r5: 5\n")
    store = load_store(tmp_path / "tea")
    window, refunds = (article["text"] for article in store.articles)
    assert "within 45 days" in window and "Those 45 days" in window and "a 45-day period (45 days)" in window
    assert "up to $60.50 without" in refunds and "The $60.50 are" in refunds and "take 5 weeks" in refunds
    reason = store.phrases["en"]["reasons"]["cancel_r1"]
    assert "the period of 45 days" in reason["say"]["en"] and any("45" in one for one in reason["patterns"])
    main(["desk", "check", "tea"])
    said = capsys.readouterr().out
    assert "a002.md:9: 30 is typed here, as cancel_r1 was when the desk was drafted, but it is 45 now" in said
    assert "desk.yaml" not in "".join(line for line in said.split("\n") if "typed here" in line)


def test_what_a_person_changed_stays_and_the_new_proposal_is_put_beside_it(draft, tmp_path):
    draft()
    accept(tmp_path / "tea" / "rules.csv", "r1")
    draft()
    desk = tmp_path / "tea" / "desk.yaml"
    desk.write_text(own := desk.read_text() + "# mine\n")
    draft()
    assert not (tmp_path / "tea" / "proposed").exists(), "nothing new was accepted"
    accept(tmp_path / "tea" / "rules.csv", "r3")
    draft()
    assert desk.read_text() == own
    assert len(load_cases(load_store(tmp_path / "tea" / "proposed"))) == 4


def test_a_rule_without_number_and_question_and_a_forged_quotation_stay_out_with_the_mend(draft, tmp_path):
    draft()
    path = tmp_path / "tea" / "rules.csv"
    accept(path, "r1")
    accept(path, "r2", ask="", act="return")
    accept(path, "r3", quotation="We refund up to $90 without a photo")
    draft()
    out = {(row["id"], row["gate"]): row["why"] for row in table_of(tmp_path / "tea" / "left_out.csv")}
    assert "what the customer must be asked" in out["r2", "incomplete"]
    assert "copy a sentence" in out["r3", "no quotation"]


def test_tickets_become_intents_with_counts_without_personal_data_and_a_thin_one_is_refused(draft, tmp_path):
    rows, told = intents_of(tmp_path / "tickets.csv")
    assert told["replaced"] and sorted((row["act"], row["count"]) for row in rows) == [("refund", 2), ("return", 3)]
    assert "solberg" not in json.dumps(rows).lower()
    draft()
    accept(tmp_path / "tea" / "rules.csv", "r1", "r3")
    draft("--tickets", "tickets.csv")
    names = [row["id"] for row in table_of(tmp_path / "tea" / "intents.csv")]
    accept(tmp_path / "tea" / "intents.csv", *names)
    draft("--tickets", "tickets.csv")
    cases = load_cases(load_store(tmp_path / "tea"))
    assert any("came on Monday" in case.email.text for case in cases)
    assert "soap" not in json.dumps(rows), "a ticket in which a name may be left is counted and not shown"
    assert [row["gate"] for row in table_of(tmp_path / "tea" / "left_out.csv")] == ["thin ticket"]


def test_a_model_that_invents_is_checked_word_by_word_and_no_answer_is_bought_twice(draft, tmp_path, capsys):
    rule = {"quotation": "orders can be returned within 30 days", "act": "return", "column": "delivered_on"}
    invented = {**rule, "quotation": "Orders can be returned within 60 days after delivery."}
    told = {**rule, "number": "30", "unit": "day"}
    refuses = [True]

    def reply(request, number):
        text = request["messages"][1]["content"]
        if '"record"' in text:
            return json.dumps({"fair": "adversarial" not in text, "why": "It is open."})
        if text.startswith("# Returns"):
            return json.dumps({"rules": [told, {**told, "number": 77}, invented, {**rule, "test": "maybe"}]})
        return Answer(error_body("too long", "invalid_request_error"), 400) if refuses[0] else '{"rules": ['

    with ScriptedServer(reply) as server:
        model = ("--model", "any", "--base-url", server.base_url)
        assert draft(*model) == 3, "the provider's fault is apart: the section is read by the next call"
        refuses[0] = False
        assert draft(*model) == 0
        rows, bought = table_of(tmp_path / "tea" / "rules.csv"), server.count
        assert [(row["by"], row["number"], row["unit"]) for row in rows] == [
            ("any", "30", "days"),
            ("any", "", ""),
            ("", "5000", "cents"),
        ], "a number that is not quoted is dropped; where no reply can be used the section is read simply"
        assert all(row["quotation"] in " ".join(POLICY.split()) for row in rows)
        accept(tmp_path / "tea" / "rules.csv", "r1")
        assert draft(*model) == 0 and server.count == bought + 2, "one question a case"
        assert draft(*model) == 0 and server.count == bought + 2
    gates = [row["gate"] for row in table_of(tmp_path / "tea" / "left_out.csv")]
    assert sorted(gates) == ["no quotation", "schema", "schema", "unfair"]
    said = capsys.readouterr().out
    assert "calls of the model in this session: 0, nothing to pay" in said
    assert "3 rules of 2 sections, 1 read without the model; 2 left out" in said, "the section itself was not left out"
    assert "3 left out (" in said and "unfair 1" in said


@pytest.mark.parametrize(
    ("files", "options", "said"),
    [
        ({"policy.md": " \n\n"}, [], "has no sentence"),
        ({"b/policy.md": POLICY}, ["--policy", "b/policy.md"], "two documents are named policy.md"),
        ({"tea/notes.txt": "mine"}, [], "something other than a draft"),
        ({"tickets.csv": "a,b\n1,2\n"}, ["--tickets", "tickets.csv"], "has no column email"),
        ({}, ["--policy", "missing.md"], "missing"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(draft, tmp_path, capsys, files, options, said):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    if "--tickets" in options:
        draft()
        accept(tmp_path / "tea" / "rules.csv", "r1")
    capsys.readouterr()
    assert draft(*options) == 2
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1
