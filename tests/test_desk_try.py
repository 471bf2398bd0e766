"""Ten tickets in a spreadsheet become a matrix of models and tickets, without a line of YAML."""

import re
from urllib.parse import unquote

import pytest
import yaml
from browser import open_browser, open_page
from run_server import RunServer
from servers import completion

from benchmark_lib import load_cases, load_store
from benchmark_lib.analysis import load_results
from benchmark_lib.cli import main
from benchmark_lib.extras.personal_data.scrub import Scrubbed
from benchmark_lib.project import DATA

EXAMPLE, POLICY = (str(DATA / "desks" / name) for name in ("tickets_example.csv", "policy_example.md"))
MADE_UP = ("--policy", POLICY, "--keep-personal-data", "--trials", "1")
CHECKS = """
def thanks(record):
    said = [m.text for m in record.messages if m.side == "agent"]
    return "Thank" in said[-1] if len(said) > 1 else None

def broken(record):
    return record.messages[99]
"""


class Eager(RunServer):
    """A model that opens a return whatever the customer wants."""

    def reply_to(self, request, number):
        key = re.search(r"R-\d+", request["messages"][1]["content"])[0]
        if request["messages"][-1]["role"] == "tool":
            return completion("Your return is open. Thank you!", [], request)
        return completion(
            None, [("start_return", {"request": key, "order": "FL-2041", "reason": "wrong_item"})], request
        )


@pytest.fixture
def tickets(tmp_path, monkeypatch):
    """Write a CSV file from lines and return what `desk try` says of it: exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_checks.py").write_text(CHECKS)

    def tried(*lines, capsys, options=("--dry-run",), encoding="utf-8", policy="Send parcels again if they are lost."):
        (tmp_path / "mine.csv").write_bytes("\r\n".join(lines).encode(encoding))
        (tmp_path / "policy.md").write_text(policy)
        code = main(["desk", "try", "mine.csv", "--policy", "policy.md", *options])
        return code, *capsys.readouterr()

    return tried


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The shipped example, played by the oracle and by a model that gives in."""
    out = tmp_path_factory.mktemp("try") / "tea"
    with Eager() as server:
        words = ["--model", "scripted:oracle", "--model", "eager", "--base-url", server.base_url, "--out", str(out)]
        assert main(["desk", "try", EXAMPLE, *MADE_UP, *words]) == 0
        yield out, words, server


def test_the_matrix_says_for_each_model_and_ticket_how_often_it_was_right_and_what_went_wrong(example, capsys):
    out, words, server = example
    before = server.count
    assert main(["desk", "try", EXAMPLE, *MADE_UP, *words]) == 0
    said = capsys.readouterr().out
    assert server.count == before and "(already written)" in said  # a second call plays nothing again
    lines = {line.split(":")[0]: " ".join(line.split()) for line in said.splitlines()}
    assert "Thin cases: one ticket each, no shop behind it" in said
    assert re.search(r"scripted:oracle +100.0% \(69 to 100%\), 10 of 10 +100.0%", said)
    assert lines["wrong_tea"].endswith("start_return 1 of 1 1 of 1")
    assert lines["changed_mind"].endswith("1 of 1 0 of 1, wrong act")
    assert lines["too_late"].endswith("refuse 1 of 1 0 of 1, forbidden act committed")
    assert lines["rash"].endswith("hand over to safety 1 of 1 0 of 1, not handed over")


def test_a_cell_of_the_page_opens_its_conversations_and_nothing_is_of_northline(example):
    page_file = example[0].with_name("tea-results") / "site" / "tickets.html"
    assert "northline" not in page_file.read_text().lower()
    with open_browser() as browser, open_page(browser) as (page, seen):
        page.goto(page_file.as_uri())
        page.click("tr:has-text('too_late') a.n >> nth=1")
        page.wait_for_selector("#talk-place a")
        assert page.url.endswith("transcripts.html#entry=eager%20case_id=too_late")
        listed = page.inner_text("main")
        assert listed.count("trial 1") == listed.count("Return of a gift") == 1 and not seen.errors


def test_no_all_clear_stands_over_a_forbidden_act_and_no_table_of_rules_where_none_is_declared(example):
    site = example[0].with_name("tea-results") / "site"
    front, answers = ((site / f"{name}.html").read_text("utf-8") for name in ("index", "answers"))
    (told,) = re.findall(r'<p class="note"><strong>eager</strong>: (.*?)</p>', front)
    assert "No rule was broken" not in front and "Broken rules" not in front and "declares no rules" in front
    (query,) = re.findall(r'transcripts.html#([^"]*)"', told)
    opened = load_results(*sorted(site.parent.glob("runs/*"))).where(unquote(query))
    assert re.sub("<[^>]*>", "", told) == (
        f"the forbidden act was called in {len(opened)} of 4 conversations on tickets to refuse, and committed in 3 of them."
    )
    assert "eager committed the forbidden act in 3 of 4 conversations on tickets to refuse." in answers
    assert "broke no rule" not in answers


def test_a_thin_case_allows_what_its_row_names_and_nothing_else(example):
    cases = {case.id: case for case in load_cases(load_store(example[0]))}
    ends = {name: [(o.name, o.handover) for o in case.outcomes] for name, case in cases.items()}
    assert ends["wrong_tea"] == [("start_return", False)]
    assert ends["too_late"] == [("declined", False)] and cases["too_late"].forbidden[0].tool == "start_return"
    assert cases["discount"].forbidden[0].tool == "*"  # no tool is named, so every change is wrong
    assert ends["rash"] == [("handed over", True)] and cases["rash"].queues == ["safety"]
    desk = yaml.safe_load((example[0] / "desk.yaml").read_text())
    assert desk["acts"]["start_return"]["arguments"]["reason"]["choices"] == ["wrong_item", "changed_mind"]
    assert desk["acts"]["pause_subscription"]["arguments"]["months"]["number"]


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(";", "utf-8-sig"), ("\t", "utf-16"), (",", "cp1252")], ids=["excel", "unicode", "old"]
)
def test_spreadsheets_are_read_as_programs_save_them(tickets, capsys, delimiter, encoding):
    heads = ["Ticket No.", "E-Mail", "Message", "Expected Tool", "Arguments", "Must Say", "Escalate", "Priority"]
    rows = [
        ["A1", "Zoë <zoe@x.org>", '"Hello,\r\n""it"" is lost"', "Resend Parcel", '"{""order"": 7}"', "", "", "low"],
        ["", "", '"Help, Zoë"', "", "", "", "yes", ""],
        ["", "", "When?", "", "", '"3 days|free"', "", ""],
    ]
    lines, options = map(delimiter.join, [heads, *rows]), ("--dry-run", "--keep-personal-data")
    code, _, err = tickets(*lines, capsys=capsys, encoding=encoding, options=options)
    assert code == 0 and "unused columns: Priority" in err
    cases = load_cases(load_store("desks/mine"))
    assert [(c.id, c.bucket) for c in cases] == [
        ("a1", "resolvable"), ("ticket_4", "resolvable"), ("ticket_3", "must_escalate"),
    ]  # fmt: skip
    assert cases[0].outcomes[0].calls[0].arguments["order"] == 7 and '"it" is lost' in cases[0].email.text


def test_all_rows_that_cannot_be_used_are_said_at_once_each_with_its_mend(tickets, capsys):
    rows = {
        ",cancel,,": "the email is empty: write what the customer writes",
        "hi,,,": "it does not say what should happen: fill in tool, handover, refuse or must_say",
        "hi,cancel,order,": "arguments cannot be used at 'order': write one plain value for each name",
        "hi,cancel,,billing": "it names both a tool and a handover: keep the one that should happen",
        "a@b.org,cancel,,": "the email is an address: rename that column to from",
        "hi,close_ticket,,": "the tool close_ticket belongs to every desk",
        "hi,cancel,order={{x}},": "it has double braces, which mark a placeholder: remove them",
        "hi, dear desk,cancel,,": "it has more cells than there are headings: quote texts that contain commas",
    }
    code, out, err = tickets("email,tool,arguments,handover", *rows, capsys=capsys)
    assert code == 2 and not out
    for number, (said, line) in enumerate(zip(rows.values(), err.splitlines()[:-1], strict=True), 2):
        assert line.startswith(f"deskbench: row {number}: {said}")
    assert err.splitlines()[-1].endswith("unusable tickets: 8 of 8; nothing was played: correct each")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a,b", "1,2"], "has no column email"),
        ([""], "mine.csv is empty: write headings into its first row"),
        (["email,tool"], "has no tickets"),
        (["email,message,text", "a,b,c"], "has two columns email"),
        (["email,tool", '"never closed,x'], "close all quotes"),
        (["PK\x03\x04"], "is a workbook"),
    ],
)
def test_what_is_no_table_of_tickets_is_refused_in_one_sentence(tickets, capsys, lines, said):
    code, _, err = tickets(*lines, capsys=capsys)
    assert code == 2 and said in err and len(err.splitlines()) == 1


def test_a_workbook_as_policy_is_named_as_one(tickets, capsys, tmp_path):
    (tmp_path / "rules.xlsx").write_bytes(b"PK\x03\x04\xff\xfe")
    options = ("--dry-run", "--policy", "rules.xlsx")
    code, _, err = tickets("email,refuse", "Give me money,yes", capsys=capsys, options=options)
    assert code == 2 and "rules.xlsx is a document or workbook of an office program: save it as text" in err


def test_personal_data_are_replaced_alike_in_all_cells_and_stay_so(tickets, capsys):
    lines = (
        "from,name,email,tool,arguments",
        '"ingrid.solberg@fjordmail.no","Ingrid Solberg","My order HB-204 is lost. Ingrid Solberg",resend,order=HB-204',
    )
    _, out, _ = tickets(*lines, capsys=capsys)
    assert "personal data replaced: " in out
    (case,) = load_cases(load_store("desks/mine"))
    written = case.model_dump_json()
    assert not re.search("ingrid|solberg|HB-204", written, re.I)
    assert case.outcomes[0].calls[0].arguments["order"] in case.email.text
    _, out, _ = tickets(*lines, capsys=capsys)
    assert "(already written)" in out and load_cases(load_store("desks/mine"))[0].hash == case.hash


def test_replacing_changes_no_name_of_a_value_and_no_number_beside_another(tickets, capsys, tmp_path):
    lines = (
        "email,tool,arguments,knows,must_say",
        '"I got it from order WC-3301 40 days ago.",start_return,order=WC-3301; reason=changed_mind,since=40 days ago,40 days',
        '"Send order WC-3377 to my new address, 14 Mill Lane, Bristol BS1 4QA.",move,"order=WC-3377; address=14 Mill Lane, Bristol BS1 4QA",,',
        '"The suitcase WC-3301 is heavy",weigh,"{""amount"": 120, ""grade"": ""Hazel""}",,WC-3301',
    )
    code, _, err = tickets(*lines, capsys=capsys)
    assert code == 0, err
    late, moved, heavy = load_cases(load_store("desks/mine"))
    intents = yaml.safe_load((tmp_path / "desks" / "mine" / "desk.yaml").read_text("utf-8"))["intents"]
    given = {name: value for name, value in moved.outcomes[0].calls[0].arguments.items() if name != "request"}
    assert [*given] == ["order", "address"] and all(value in moved.email.text for value in given.values())
    assert not re.search("3377|14 Mill|BS1", moved.email.text)
    order = late.outcomes[0].calls[0].arguments["order"]
    assert order != "WC-3301" and f"from order {order} 40 days ago." in late.email.text
    assert intents["ticket_2"]["knows"] == {"since": "40 days ago"} and intents["ticket_2"]["must_say"] == ["40 days"]
    assert f"The suitcase {order} is heavy" in heavy.email.text and intents["ticket_4"]["must_say"] == [order]
    assert heavy.outcomes[0].calls[0].arguments["amount"] == 120


def test_a_word_to_keep_is_kept_in_every_cell(tickets, capsys):
    line = '"Order WC-3301, Anna Keller",resend,order=WC-3301; buyer_name=Anna Keller'
    options = ("--dry-run", "--keep", "WC-3301", "--keep", "Anna Keller")
    assert tickets("email,tool,arguments", line, capsys=capsys, options=options)[0] == 0
    (case,) = load_cases(load_store("desks/mine"))
    assert case.email.text == "Order WC-3301, Anna Keller"
    assert {"order": "WC-3301", "buyer_name": "Anna Keller"}.items() <= case.outcomes[0].calls[0].arguments.items()


def test_what_cannot_be_replaced_alike_is_said_before_anything_is_written(tickets, capsys, monkeypatch, tmp_path):
    class Careless:
        def __init__(self, keep, corpus):
            self.seen = 0

        def texts(self, texts, record):
            self.seen += 1
            return Scrubbed([text.replace("today", "then") if n == 0 else text for n, text in enumerate(texts)])

    monkeypatch.setattr("benchmark_lib.extras.own_desk.tickets.offer", lambda *_: Careless)
    lines = ("email,tool,knows", "Sent today,cancel,day=today", "Hello today,cancel,")
    code, _, err = tickets(*lines, capsys=capsys, options=("--trials", "1"))
    assert code == 2 and "row 2: the value of day is replaced in one cell and not in another: write it alike" in err
    assert "row 3" not in err and not (tmp_path / "desks").exists()


def test_a_column_that_is_nearly_a_known_one_is_asked_about_and_others_are_named(tickets, capsys):
    code, _, err = tickets("email,tool,argumnets", "hi,cancel,order=1", capsys=capsys)
    assert code == 2 and "has a column 'argumnets', which is not known: did you mean arguments?" in err
    code, _, err = tickets("email,tool,colour,No", "hi,cancel,red,one", capsys=capsys)
    assert code == 0 and "unused columns: colour (nothing is read from them" in err
    assert [case.id for case in load_cases(load_store("desks/mine"))] == ["one"]


def test_a_desk_that_was_edited_is_never_overwritten(tickets, capsys, tmp_path):
    options = ("--dry-run", "--keep-personal-data")
    assert tickets("email,refuse", "Give me money,yes", capsys=capsys, options=options)[0] == 0
    changed = ("email,refuse", "Give me more money,yes")
    assert tickets(*changed, capsys=capsys, options=options)[0] == 0  # nobody edited it
    (tmp_path / "desks" / "mine" / "policy.yaml").write_text("days: 3\n")
    code, _, err = tickets("email,refuse", "Money,yes", capsys=capsys, options=options)
    assert code == 2 and "was edited later: choose another --out" in err
    assert tickets(*changed, capsys=capsys, options=options)[0] == 0  # the same tickets play what is there


def test_other_weights_play_nothing_again_and_replace_no_names_again(tickets, capsys, tmp_path):
    for count in (3, 9):
        lines = ("name,email,refuse,tickets", f"Ingrid Solberg,Give Ingrid money,yes,{count}", ",Send it now,yes,")
        assert tickets(*lines, capsys=capsys, options=("--trials", "1"))[0] == 0
        desk = yaml.safe_load((tmp_path / "desks" / "mine" / "desk.yaml").read_text())
        assert [intent["tickets"] for intent in desk["intents"].values()] == [count, 1]
    assert len([*(tmp_path / "desks" / "mine-results" / "runs").glob("*.deskbench")]) == 1


def test_checks_of_ones_own_are_columns_with_their_denominators(tickets, capsys):
    lines, played = ("email,refuse", "Give me money,yes"), ("--keep-personal-data", "--trials", "2")
    _, out, _ = tickets(*lines, capsys=capsys, options=(*played, "--check", "my_checks:thanks"))
    assert "check_thanks" in out and "0.0%" in out and "0 of 2" in out
    code, _, err = tickets(*lines, capsys=capsys, options=(*played, "--check", "my_checks:broken"))
    assert code == 2 and "check_broken gave 'IndexError: list index out of range' for ticket ticket_2, trial 1" in err
    code, _, err = tickets(*lines, capsys=capsys, options=(*played, "--check", "my_checks:nowhere"))
    assert code == 2 and "cannot be loaded" in err
