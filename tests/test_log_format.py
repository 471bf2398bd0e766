"""The format of a log as its page tells it: its sample runs, its acts are all there are, and a refund is an act."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from benchmark_lib import monitoring
from benchmark_lib.cli import main
from benchmark_lib.extras.monitoring.logs import ACTS, NAMES, TIMES
from benchmark_lib.extras.monitoring.page import footnotes, unalarmed, write_pages
from benchmark_lib.language.said import read
from benchmark_lib.project import DATA

PAGE = (DATA.parent / "docs" / "monitoring.md").read_text(encoding="utf-8")
WISH = "My bag arrived torn, please give me the money back for my order A-17."
PAID = "I am sorry about that. I have refunded you the full amount, and you will see it on your card soon."
LOOK = {"name": "getOrder", "arguments": {"id": "A-17"}, "result": {"id": "A-17"}}


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def line(number, reply=PAID, calls=(LOOK,), week=0):
    at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=week, minutes=number)
    messages = [{"role": "customer", "content": WISH}, {"role": "agent", "content": reply}]
    return {"id": number, "at": at.isoformat(), "messages": messages, "tool_calls": list(calls)}


def watch(path, lines, **tools):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return monitoring.monitor(path, tools={"getOrder": "read", **tools})


def counts(seen, name):
    row = seen.drift.set_index("measure").loc[name]
    return row["base_count"], row["base_n"], row["last_count"], row["last_n"]


def test_the_sample_of_the_page_runs_as_the_page_says(tmp_path, capsys):
    log, acts = tmp_path / "sample.jsonl", tmp_path / "tools.yaml"
    log.write_text(block("jsonl"), encoding="utf-8-sig")  # with a byte-order mark, as some editors save it
    acts.write_text(block("yaml"), encoding="utf-8")
    assert main(["monitor", str(log), "--tool-acts", str(acts), "--out", str(tmp_path / "report")]) == 0
    told = capsys.readouterr().out
    none = "None of 12 measures raised an alarm; 12 could not, for want of conversations"
    assert "3 conversations" in told and none in told and "not known" not in told
    seen = monitoring.monitor(log, tools=monitoring.read_tool_acts(acts))
    assert counts(seen, "phantom_action") == (0, 2, 1, 1) and counts(seen, "handed_over") == (1, 2, 0, 1)
    assert counts(seen, "commitments") == (0, 2, 0, 1)


def test_the_page_names_every_field_and_every_act(store):
    acts = re.findall(r"^\| `(\w+)` \| ", PAGE.partition("| act |")[2].partition("##")[0], re.MULTILINE)
    assert set(acts) == ACTS | {name for name, tool in store.tools.items() if tool.write} and len(set(acts)) == len(
        acts
    )
    assert all(f"`{name}`" in PAGE for name in (*NAMES, *TIMES))


def test_a_refund_is_an_act_that_words_are_held_against(tmp_path):
    cancel, told = {"name": "cancel", "arguments": {}, "result": {}}, {**LOOK, "result": {"refunded_cents": 9800}}
    cases = {
        "no call": (line(1), 1),
        "the refund": (line(2, calls=[{"name": "pay", "arguments": {}, "result": {}}]), 0),
        "a refund that failed": (line(3, calls=[{"name": "pay", "arguments": {}, "error": "declined"}]), 1),
        "a cancellation": (line(4, calls=[cancel]), 0),
        "a result that tells of one": (line(5, calls=[told]), 0),
        "a result that tells of none": (line(6, calls=[{**LOOK, "result": {"refunded_cents": 0}}]), 1),
        "a promise": (line(7, "I will refund you the full amount today."), 0),
    }
    lines = [one for one, _ in cases.values()] + [{**line(100 + n), "at": "2026-01-12"} for n in range(3)]
    seen = watch(tmp_path / "x.jsonl", lines, pay="refund", cancel="cancel_order")
    found = seen.behind[seen.behind["measure"] == "phantom_action"].query("week == '2026-01-05'")["conversation"]
    assert set(found) == {str(one["id"]) for one, wrong in cases.values() if wrong}
    promised = seen.behind[seen.behind["measure"] == "commitments"]["conversation"]
    assert set(promised) == {"7"}, "words of a refund that was made are no promise"


def test_days_are_not_held_against_the_clock_of_another_desk(tmp_path):
    soon = "Your refund is on its way, you will have the money on your card tomorrow, 6 January 2026."
    paid = {"name": "pay", "arguments": {}, "result": {}}
    seen = watch(tmp_path / "x.jsonl", [line(n, soon, [paid], n % 2) for n in range(8)], pay="refund")
    assert counts(seen, "commitments") == (0, 4, 0, 4)


@pytest.mark.parametrize(
    ("language", "made", "other"),
    [
        (
            "en",
            ["I've refunded the $98.00 to your card.", "Your refund has been processed.", "Refund issued: done."],
            ["I will refund you.", "Once it is here, your refund will be processed.", "I have not issued a refund."],
        ),
        (
            "de",
            ["Ich habe Ihnen den Betrag erstattet.", "Ihre Rückerstattung wurde veranlasst."],
            ["Ich werde Ihnen den Betrag erstatten.", "Wurde Ihnen der Betrag erstattet?"],
        ),
        (
            "fr",
            ["Je vous ai remboursé.", "Votre remboursement a été effectué."],
            ["Vous serez remboursé sous 5 jours.", "Le remboursement est effectué après réception."],
        ),
        (
            "es",
            ["Le he reembolsado el importe.", "Su reembolso ya ha sido procesado."],
            ["Le reembolsaremos el importe.", "No he tramitado el reembolso."],
        ),
    ],
)
def test_a_refund_that_was_made_is_told_from_one_that_is_to_come(language, made, other):
    assert all(read(text, (language,)).refunds() for text in made)
    assert not any(read(text, (language,)).refunds() for text in other)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "issueRefund: repay",
            "there is no act 'repay' for the tool 'issueRefund': name one of other, read, refund, cancel_order",
        ),
        ("issueRefund: [refund]", "'issueRefund' is mapped to ['refund']"),
        ("5: refund", "5 is mapped to 'refund'"),
        ("", "names no tool"),
        ("- issueRefund", "must contain a mapping"),
    ],
)
def test_a_file_of_acts_that_is_none_is_refused_in_one_sentence(tmp_path, text, why, capsys):
    log, acts = tmp_path / "x.jsonl", tmp_path / "tools.yaml"
    log.write_text(block("jsonl"), encoding="utf-8")
    acts.write_text(text, encoding="utf-8")
    assert main(["monitor", str(log), "--tool-acts", str(acts)]) == 2
    told = capsys.readouterr().err
    assert why in told and told.count("\n") == 1


def test_a_change_that_is_clear_of_0_without_an_alarm_is_explained(tmp_path):
    paid = {"name": "pay", "arguments": {}, "result": {}}
    wrong = [(week, n % 50 == 0 or (week > 15 and n % 14 == 0)) for week in range(20) for n in range(50)]
    lines = [line(n, calls=[LOOK] if bad else [LOOK, paid], week=week) for n, (week, bad) in enumerate(wrong)]
    seen = watch(tmp_path / "x.jsonl", lines, pay="refund")
    row = seen.drift.set_index("measure").loc["phantom_action"]
    assert row["change_low"] > 0 and not row["alarm"]
    told = unalarmed(seen)
    assert "Phantom action +" in told and "by chance alone" in told and told in footnotes(seen)[:2]
    page = write_pages(seen, tmp_path / "out").read_text(encoding="utf-8")
    assert page.count("interval excludes 0, no alarm") == 1 and 'id="no-alarm"' in page
    assert "the interval excludes 0, but there is no alarm" in (tmp_path / "out" / "phantom_action.html").read_text(
        encoding="utf-8"
    )
    assert not unalarmed(watch(tmp_path / "y.jsonl", lines[:300], pay="refund"))
