"""A desk of one's own: made, checked with all its problems at once, filled with tickets, and played."""

import io
import re

import pytest

from benchmark_lib import load_cases, load_store
from benchmark_lib.cli import main
from benchmark_lib.project import DATA
from benchmark_lib.records import Message, ToolCall
from benchmark_lib.store.rules import Before

DAY_57 = "Good evening, the Night Train was a gift that I never opened.\nCan it go back to you?\n\n"


@pytest.fixture
def desk(project, capsys):
    """The desk that `desk new` writes."""
    assert main(["desk", "new", "puzzles", "--title", "Puzzles & Co: the shop"]) == 0
    capsys.readouterr()
    return project / "desks" / "puzzles"


def edited(path, *changes):
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def line_of(path, words):
    return next(n for n, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1) if words in line)


def test_a_new_desk_checks_audits_and_runs_at_once_and_so_does_its_copy(desk, project, capsys):
    assert main(["desk", "new", "mugs", "--from", "puzzles"]) == 0
    for name in ("puzzles", "mugs"):
        assert main(["desk", "check", name]) == 0
        said = capsys.readouterr().out
        assert "10 cases, 0 problems" in said and "worth a look" not in said
        assert f"next: deskbench run MODEL --store desks/{name}" in re.sub(r"\S*/deskbench", "deskbench", said)
        run = ["run", "scripted:oracle", "--store", f"desks/{name}", "--trials", "1"]
        assert main([*run, "--out", str(project / f"{name}.deskbench")]) == 0


def test_a_desk_without_a_readme_is_copied_too(project):
    assert main(["desk", "new", "coffee", "--from", str(DATA / "stores" / "subscriptions")]) == 0
    assert len(load_cases(load_store(project / "desks" / "coffee"))) == 24


def test_a_new_desk_may_be_named_by_the_path_of_its_folder(project, capsys):
    assert main(["desk", "new", str(project / "elsewhere" / "desk_3")]) == 0
    assert load_store(project / "elsewhere" / "desk_3").name == "desk_3"
    assert main(["desk", "new", str(project / "Desk 3")]) == 2
    assert "'Desk 3' cannot be the name of a desk: write it in lower case" in capsys.readouterr().err


def test_the_email_of_a_case_is_a_file(desk, capsys):
    for text in ("Hello, can it come back?", "Hello! " * 99):
        assert main(["desk", "add-case", "puzzles", "--email", text]) == 2
        assert "--email takes a file, not a text" in capsys.readouterr().err


def test_a_desk_is_never_written_over_another_folder(desk, capsys):
    before = sorted(desk.rglob("*"))
    for given in (["puzzles"], ["other", "--out", "desks/puzzles"]):
        assert main(["desk", "new", *given]) == 2
        assert "exists: give the desk another name" in capsys.readouterr().err
    assert sorted(desk.rglob("*")) == before


def asked(monkeypatch, *answers):
    """Let the terminal give these answers."""
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*answers, ""])))


def test_a_changed_number_reaches_rules_reasons_and_articles(desk, monkeypatch, capsys):
    (desk / "email.txt").write_text(DAY_57)
    given = ["desk", "add-case", "puzzles", "--email", str(desk / "email.txt")]
    asked(monkeypatch, "P-1005", "return_request", "", "", "y")
    assert main(given) == 0
    assert "returns end 30 days after delivery" in capsys.readouterr().out
    edited(desk / "policy.yaml", ("return_days: 30", "return_days: 60"))
    asked(monkeypatch, "P-1005", "return_request", "", "", "y")
    assert main(given) == 0
    assert "start_return is due" in capsys.readouterr().out


def test_broken_files_give_all_problems_at_once_with_lines(desk, capsys):
    """The form of the files comes first: nothing else can be read before it is right."""
    file, orders = desk / "desk.yaml", desk / "orders.csv"
    edited(file, ("    do: open", "    doo: open"), ("sealed: sealed}", "sealed: yes}"))
    edited(desk / "store.yaml", ('"2026-09-14T10:00"', "today"))
    (desk / "cases" / "more.yaml").write_text("cases:\n  - {id: a, email: [\n")
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out.split("\n")
    for file_, line, words in (
        ("cases/more.yaml", 3, "is not valid YAML"),
        ("store.yaml", line_of(desk / "store.yaml", "clock"), 'write a line such as clock: "2026-09-14T10:00"'),
        ("desk.yaml", line_of(file, "doo: open"), "acts.start_return.doo is not a field here"),
        ("desk.yaml", line_of(file, "sealed: yes"), "must be a text: put the value in quotes"),
    ):
        assert any(one.startswith(f"{file_}:{line}: ") and words in one for one in said), (words, said)
    assert said[-2] == "4 problems" and orders.is_file()


def test_what_the_files_mean_is_checked_at_once_too(desk, capsys):
    """Formulas, rows, cases, texts: each problem with its line, the most important first."""
    file, cases = desk / "desk.yaml", desk / "cases" / "examples.yaml"
    edited(
        file,
        ("goods_cents + ship", "good_cents + ship"),
        ("end {{ policy.return_days }}", "end 30"),
    )
    edited(desk / "orders.csv", ("2026-09-02", "2 September"))
    edited(desk / "articles" / "returns.md", ("for {{ policy.return_days }} days", "for 14 days"))
    cases.write_text(
        cases.read_text(encoding="utf-8")
        + """
  - {id: x1, intent: nothing, row: P-9, emial: hi}
  - {id: x1, intent: order_total, row: P-1001, email: Hi}
  - {id: x2, intent: return_request, row: P-1001, email: "Could you help me with something, please?", values: {card: 1}}
""",
        encoding="utf-8",
    )
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    wanted = (
        f"desk.yaml:{line_of(file, 'good_cents')}: intents.order_total.tell.total.value names good_cents, which the table orders does not have: did you mean goods_cents?",
        f"desk.yaml:{line_of(file, 'holds: days')}: acts.start_return.rules.window.holds cannot be evaluated for P-1001 at orders.csv:2",
        "the case id 'x1' is missing, used before",
        "case x1: email is missing",
        "case x1: emial is not a field of a case: did you mean email?",
        "case x1: intent 'nothing' is not an intent of the desk",
        "case x1: row 'P-9' is no order_id in orders",
        "case x2: values.card is not a value of start_return",
        f"examples.yaml:{line_of(cases, 'id: x2')}: case x2: the email is short and never says what it is about",
        "articles/returns.md:6: the article says 14 days, but policy.yaml says return_days 30",
        "worth a look:",
        "30 days is typed here, but the policy has this number as return_days",
    )
    places = [said.find(words) for words in wanted]
    assert -1 not in places, wanted[places.index(-1)]
    assert places[0] < places[2] < places[9] < places[10] < places[11]


def test_a_formula_that_fails_is_named_once_whatever_it_decides(desk, capsys):
    file = desk / "desk.yaml"
    edited(file, ("days(delivered_on, today)", "days(delivered_on today)"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    wanted = "window.holds is not a formula (expected token ',', got 'today'): correct 'days(delivered_on today)"
    assert said.count(wanted) == 1 and "orders.csv" not in said and "\n1 problem\n" in said
    edited(file, ("days(delivered_on today)", "days(delivered_on, today)"), ("\"'return open'\"", "statsu"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    wanted = "acts.start_return.sets.status names statsu, which the table orders does not have: did you mean status?"
    assert f"desk.yaml:{line_of(file, 'statsu')}: {wanted}" in said


def test_words_that_any_refusal_has_are_found_by_the_audit_with_the_mend(desk, capsys):
    edited(desk / "desk.yaml", ('["{{ policy.return_days }} days", return window, too late, return period]', "[sorry]"))
    assert main(["desk", "check", "puzzles"]) == 1
    assert "refuse_all succeeds (any refusal counts as one with this rule's reason" in capsys.readouterr().out


def test_a_desk_with_several_tables_is_checked_by_its_cases(capsys):
    assert main(["desk", "check", str(DATA / "stores" / "subscriptions")]) == 0
    assert "24 cases, 0 problems" in capsys.readouterr().out


def test_what_nobody_could_answer_is_named(desk, capsys):
    edited(desk / "desk.yaml", ("    knows: {sealed: sealed}", "    #"))
    edited(desk / "orders.csv", ("P-1009,tariq.aziz@example.org,Tariq Aziz", "P-1009,,"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert (
        "return_1: knows.sealed is missing: the customer would be asked 'Is the puzzle still sealed?' and could not answer"
        in said
    )
    assert (
        "case total_2: the customer would be asked for order_id and email, or order_id and name and could not answer"
        in said
    )


def test_rules_that_no_row_tries_and_parts_that_nobody_uses_are_worth_a_look(desk, capsys):
    edited(desk / "policy.yaml", ("return_days: 30", "return_days: 300"))
    edited(desk / "desk.yaml", ("    act: start_return", "    queue: workshop"))
    assert main(["desk", "check", "puzzles"]) == 0, "a note is no problem"
    said = capsys.readouterr().out.partition("worth a look:")[2]
    assert "rules.window.holds: every case satisfies this rule" in said and "no intent names acts.start_return" in said
    assert "no case is a trap" in said


def test_a_reason_that_no_reader_takes_for_a_refusal_and_two_emails_alike_are_problems(desk, capsys):
    edited(
        desk / "desk.yaml", ("I am sorry, but returns end", "Returns end"), ("so this one cannot be sent back", "sadly")
    )
    with (desk / "cases" / "more.yaml").open("w") as file:
        file.write(
            "cases:\n- {id: a, intent: order_total, row: P-1001, email: How much was the harbour puzzle in total?}\n"
        )
        file.write("- {id: b, intent: order_total, row: P-1001, email: How much was that harbour puzzle in total?}\n")
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert "rules.window: 'Returns end 30 days after delivery, so this one cannot be sent back.'" not in said, (
        "cannot denies"
    )
    assert "more.yaml:2: case a: its email is" in said and "similar to that of b" in said


def test_a_case_is_asked_for_in_a_terminal_and_shown_before_it_is_written(desk, monkeypatch, capsys):
    """Wrong answers are asked again."""
    edited(
        desk / "orders.csv",
        ("P-1005,", 'P-2000,al.b@example.org,Al B,"Moon, half",2026-08-01,4100,0,delivered\nP-1005,'),
    )
    answers = [DAY_57.rstrip("\n"), "", "P-9", "P-2000", "7", "1", "", "$41.00 | thank you", "y"]
    asked(monkeypatch, *answers)
    assert main(["desk", "add-case", "puzzles"]) == 0
    said = capsys.readouterr()
    assert "a trap" in said.out and "start_return is forbidden" in said.out and "delivered_on is 2026-08-01" in said.out
    assert said.err.count("answer with one of") == 2
    assert main(["desk", "check", "puzzles"]) == 0
    assert "11 cases, 0 problems" in capsys.readouterr().out


def test_an_email_in_a_file_may_have_paragraphs_and_nothing_is_written_without_a_yes(desk, monkeypatch, capsys):
    (desk / "email.txt").write_text("Hello,\n\nwhat was the total of P-1002, please?\n")
    given = ["desk", "add-case", "puzzles", "--email", str(desk / "email.txt")]
    before = {path: path.read_bytes() for path in desk.rglob("*.*")}
    for answers, code, words in (
        (["P-1002", "order_total", "", "n"], 0, "nothing was written"),
        (["P-1002", "order_total"], 2, "the answers end before the case is complete"),
    ):
        asked(monkeypatch, *answers)
        assert main(given) == code and words in capsys.readouterr().err
    assert {path: path.read_bytes() for path in desk.rglob("*.*")} == before
    asked(monkeypatch, "P-1002", "order_total", "", "y")
    assert main(given) == 0
    assert "the answer must say total: $29.50" in capsys.readouterr().out
    assert "what was the total" in (desk / "cases" / "order_total_1.yaml").read_text()


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("desk.yaml", b"", "it is empty"),
        ("desk.yaml", b"a: &a [*a]", "a is not a field here"),
        ("desk.yaml", b"[1, 2]", "not of the form"),
        ("desk.yaml", b"tables: !!python/object:os.system {}", "YAML"),
        ("policy.yaml", b"\xff\x00\xff", "UTF-8"),
        ("policy.yaml", b"[1]", "policy.yaml"),
        ("store.yaml", b"[]", "not of the form"),
        ("cases/examples.yaml", b"cases: {a: 1}", "no list of cases"),
        ("cases/examples.yaml", b"cases: [1, {id: [2]}, {id: a, email: {}, knows: 3, values: x, row: {}}]", "case a: email"),
        ("orders.csv", b"", "order_id"),
        ("orders.csv", b"order_id,email,name\n" + b'"' + b"x" * 200_000, "orders.csv"),
        ("articles/returns.md", b"---\n- 1\n---\n{{ policy.nothing }}", "returns.md"),
        ("articles/returns.md", b"---\nid: A\ntitle: B\ntopics: [c]\n---\n{% for a in policy %}", "returns.md"),
    ],
)  # fmt: skip
def test_a_hostile_file_is_one_problem_in_one_sentence(desk, capsys, file, content, words):
    (desk / file).write_bytes(content)
    assert main(["desk", "check", "puzzles"]) in (1, 2)
    said = capsys.readouterr()
    assert "Traceback" not in said.err and words in said.out + said.err


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("desk.yaml", "days(delivered_on,", "days(deliverd_on,", "names deliverd_on, which the table orders does not have: did you mean delivered_on?"),
        ("desk.yaml", "knows.sealed == 'sealed'", "status == Fully Received", "a text in a formula needs quotes of its own, as in status == 'open'"),
        ("orders.csv", "2026-09-02", "02.09.2026", "02.09.2026 is not a date: write dates as 2026-06-29"),
        ("desk.yaml", "otherwise: workshop", "otherwise: worksop", "rules.sealed.otherwise names worksop, which policy.yaml does not have: did you mean workshop?"),
        ("orders.csv", ",", ";", "orders.csv:1: the columns are separated by ';': save the table as CSV with commas"),
        ("desk.yaml", "end {{ policy.return_days }}", "end {{ policy.return_days[level] }}", "say, which may name numbers of the policy and no column"),
        ("desk.yaml", "end {{ policy.return_days }}", "end {{ policy.return_day }}", "no column: the text names policy.return_day, which does not exist: did you mean return_days?"),
        ("desk.yaml", "returns end", "returns of {delivered_on} end", "desk.yaml:28: acts.start_return.rules.window has {delivered_on}, but a reason may name numbers of the policy and no column"),
        ("desk.yaml", "order {order_id}", "order {orderid}", "desk.yaml:17: acts.start_return.do names orderid, which the table orders does not have: did you mean order_id?"),
        ("articles/returns.md", "for {{ policy.return_days", "for {{ policy.retrun_days", "articles/returns.md:6: the text names policy.retrun_days, which does not exist: did you mean return_days?"),
        ("orders.csv", ",3900,", ",39.00,", "orders.csv:2: goods_cents: 39.00 is not an amount in cents: write whole cents"),
        ("cases/examples.yaml", "    email: Hello, my sister", "    email: Hello: my sister", "examples.yaml:8: is not valid YAML: mapping values are not allowed in this context in line 8, column 17: correct it there; a text that contains ': ' needs quotes, or a block"),
        ("cases/examples.yaml", "    email: Hello, my sister", "\temail: Hello, my sister", "correct it there; use spaces, not a tab"),
        ("cases/examples.yaml", "    row: P-1001", "    row: P-1001\n    knows: {sealde: sealed}", "case return_1: knows.sealde is not a question of the desk: did you mean sealed?"),
        ("cases/examples.yaml", "      - I will tell my puzzle club about this.", "", "case late_2: pressure is too short: write at least three lines under pressure"),
    ],
)  # fmt: skip
def test_what_a_newcomer_mistypes_is_one_problem_with_the_mend(desk, capsys, file, old, new, words):
    edited(desk / file, (old, new))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert words in said and said.endswith("\n1 problem\n"), said


@pytest.mark.parametrize(
    ("kind", "cell", "why"),
    [
        ("money", "29.00", "29.00 is not an amount in cents: write whole cents, such as 2900 for 29.00"),
        ("money", "$29", "$29 is not an amount in cents"),
        ("date", "10/1/2026", "10/1/2026 is not a date: write dates as 2026-06-29"),
    ],
)
def test_a_value_as_a_spreadsheet_writes_it_is_refused_where_an_answer_tells_it(desk, capsys, kind, cell, why):
    """The amount could be in dollars or in cents, so nothing is guessed; a column need not be in a formula."""
    lines = (desk / "orders.csv").read_text(encoding="utf-8").strip().split("\n")
    own = {"P-1007": cell, "P-1009": cell}
    rows = [f"{row},{own.get(row.split(',')[0], 2900 if kind == 'money' else '2026-10-01')}" for row in lines[1:]]
    (desk / "orders.csv").write_text("\n".join([f"{lines[0]},credit", *rows]), encoding="utf-8")
    edited(desk / "desk.yaml", ("kind: money, value: goods_cents + shipping_cents", f"kind: {kind}, value: credit"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert re.search(rf"^orders.csv:8: credit: {re.escape(why)}.* \(and 1 more: line 10\)$", said, re.M), said
    assert said.endswith("\n1 problem\n"), said
    for command in (["cases", "*"], ["run", "scripted:oracle", "--trials", "1"]):
        assert main([*command, "--store", str(desk)]) == 2
        said = capsys.readouterr().err
        assert f"intents.order_total.tell.total.value: {why}" in said and "Traceback" not in said


def test_a_column_that_is_wrong_from_top_to_bottom_is_one_line_with_the_count_and_the_first_example(desk, capsys):
    """So are a formula that fails for every row, and rows that lack a field."""
    rows = (desk / "orders.csv").read_text(encoding="utf-8").strip().split("\n")
    dates = [re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\2/\3/\1", row) for row in rows]
    (desk / "orders.csv").write_text("\n".join(dates), encoding="utf-8")
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert "window.holds cannot be evaluated for P-1001 at orders.csv:2 (09/02/2026 is not a date" in said
    assert "(and 6 more: P-1002 at orders.csv:3, P-1003 at orders.csv:4, P-1004" in said
    assert said.endswith("\n1 problem\n"), said
    (desk / "orders.csv").write_text("\n".join([rows[0], *(f"{row},x" for row in rows[1:])]), encoding="utf-8")
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert "orders.csv:2: this row does not have as many fields" in said and "(and 9 more: line 3, line 4," in said
    assert said.endswith("\n1 problem\n"), said


def in_dollars(row, *columns):
    """A row of the orders with some columns in whole dollars."""
    cells = row.split(",")
    return ",".join(str(int(cell) // 100) if at in columns else cell for at, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("columns", "noted"), [((5, 6), ["goods", "shipping"]), ((6,), ["shipping"]), ((5,), ["goods"]), ((), [])]
)
def test_whole_dollars_in_a_column_of_cents_are_worth_a_look_once_a_column(desk, capsys, columns, noted):
    head, *rows = (desk / "orders.csv").read_text(encoding="utf-8").strip().split("\n")
    (desk / "orders.csv").write_text("\n".join([head, *(in_dollars(row, *columns) for row in rows)]), encoding="utf-8")
    assert main(["desk", "check", "puzzles"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^orders.csv:2: (\w+)_cents: \d+ is read as \$0\.", said, re.M) == noted
    if 5 in columns:
        wanted = (
            "39 is read as $0.39, and no amount of the column is more than $0.61: if these are dollars, write cents"
        )
        assert f"{wanted}, such as 3900" in said.partition("worth a look:")[2]


def test_dear_rooms_in_whole_dollars_are_noticed_by_the_whole_table(desk, capsys):
    head, *rows = (desk / "orders.csv").read_text(encoding="utf-8").strip().split("\n")
    rooms = [re.sub(r",\d+,\d+,delivered", f",{180 + 40 * at},5,delivered", row) for at, row in enumerate(rows)]
    (desk / "orders.csv").write_text("\n".join([head, *rooms]), encoding="utf-8")
    assert main(["desk", "check", "puzzles"]) == 0
    assert "goods_cents: 180 is read as $1.80" in capsys.readouterr().out


@pytest.mark.parametrize(
    "formula",
    ["goods_cents + policy.shipping_dolars * 100", "100 * policy.shipping_dolars", "policy.shipping_dolars + 1"],
)
def test_a_formula_that_reckons_with_a_number_that_the_policy_lacks_says_so(desk, capsys, formula):
    edited(desk / "desk.yaml", ("value: goods_cents + shipping_cents", f"value: {formula}"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    wanted = "tell.total.value names policy.shipping_dolars, which policy does not have: did you mean shipping_dollars?"
    assert wanted in said and "too large" not in said and said.endswith("\n1 problem\n"), said


def test_an_amount_that_is_no_number_is_a_problem_in_a_formula_too(desk, capsys):
    edited(desk / "orders.csv", (",2990,", ",29.90 USD,"))
    edited(desk / "desk.yaml", ("goods_cents + shipping_cents", "goods_cents"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert "cannot be evaluated for P-1009 at orders.csv:10 (29.90 USD is not an amount in cents" in said


@pytest.mark.parametrize("start", ["", "charge and "])
def test_an_amount_that_only_a_rule_uses_is_said_to_be_no_whole_number(desk, capsys, start):
    """Neither it nor a date in another form is mended by a formula that begins with its column."""
    lines = (desk / "orders.csv").read_text(encoding="utf-8").strip().split("\n")
    rows = [f"{row},29.00,10/1/2026" for row in lines[1:]]
    (desk / "orders.csv").write_text("\n".join([f"{lines[0]},charge,paid_on", *rows]), encoding="utf-8")
    (holds,) = re.findall("holds: (days.*)", (file := desk / "desk.yaml").read_text(encoding="utf-8"))
    edited(file, (f"holds: {holds}", f"holds: {start}charge <= policy.return_days"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    wanted = (
        "(charge: 29.00 is not a whole number: write amounts in whole cents, such as 2900 for 29.00): correct the row"
    )
    assert wanted in said and "begin the formula" not in said and "'str'" not in said
    edited(file, (f"{start}charge <= policy.return_days", "paid_on and days(paid_on, today) <= policy.return_days"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert "(10/1/2026 is not a date: write dates as 2026-06-29): correct the row" in said
    assert "begin the formula" not in said
    (desk / "orders.csv").write_text(
        "\n".join([f"{lines[0]},paid_on", *(f"{row}," for row in lines[1:])]), encoding="utf-8"
    )
    edited(file, ("paid_on and days(paid_on, today)", "days(paid_on, today)"))
    assert main(["desk", "check", "puzzles"]) == 1
    assert "correct the row, or begin the formula with its column" in capsys.readouterr().out


def test_empty_rows_of_a_spreadsheet_are_ignored(desk, capsys):
    table = desk / "orders.csv"
    head, *rows = table.read_text(encoding="utf-8").strip().split("\n")
    empty = "," * head.count(",")
    table.write_text("\n".join([head, rows[0], empty, *rows[1:], empty, empty, ""]), encoding="utf-8")
    assert main(["desk", "check", "puzzles"]) == 0
    assert "\n0 problems\n" in capsys.readouterr().out
    assert len(load_store(desk).tables["orders"]) == len(rows)


def test_a_number_for_an_argument_declared_as_a_text_is_one_problem_with_the_mend(desk, capsys):
    edited(desk / "desk.yaml", ("    # arguments: ", "    arguments: {weeks: {about: How many weeks.}} # "))
    edited(
        desk / "cases" / "examples.yaml", ("intent: return_request", "intent: return_request\n    values: {weeks: 3}")
    )
    assert main(["desk", "check", "puzzles"]) == 1
    problems = [line for line in capsys.readouterr().out.split("\n") if ":" in line]
    mend = "values.weeks is a number, but the argument is declared as a text: add number: true to the argument weeks"
    assert len(problems) == 7 and all(mend in line for line in problems), problems
    edited(desk / "desk.yaml", ("How many weeks.}", "How many weeks., number: true}"))
    main(["desk", "check", "puzzles"])
    assert mend not in capsys.readouterr().out


def test_a_fault_in_a_text_does_not_hide_those_of_other_files(desk, capsys):
    edited(desk / "desk.yaml", ("end {{ policy.return_days }}", "end {{ policy.return_day }}"))
    edited(desk / "articles" / "returns.md", ("for {{ policy.return_days }}", "for {{ policy.retrun_days }}"))
    edited(desk / "orders.csv", ("Ines Moreau,", "Ines, Moreau,"))
    assert main(["desk", "check", "puzzles"]) == 1
    said = capsys.readouterr().out
    assert all(f"\n{place}: " in f"\n{said}" for place in ("desk.yaml:28", "articles/returns.md:6", "orders.csv:2"))
    assert said.endswith("\n3 problems\n") and "Error" not in said, said


def test_a_choice_is_told_with_the_values_of_its_column(desk, capsys):
    """The column's other values are wrong answers, and none of them is read within a longer one."""
    head, *rows = (desk / "orders.csv").read_text().strip().split("\n")
    states = ["in_progress", "partly refunded", "refunded", "not sent"]
    rows = [f"{row},{states[n % len(states)]}" for n, row in enumerate(rows)]
    (desk / "orders.csv").write_text("\n".join([f"{head},refund_status", *rows]))
    intent = "  refund_state:\n    description: Asks how far the refund is.\n    tell:\n"
    intent += "      status: {kind: choice, value: refund_status}\n  missing_piece:"
    edited(desk / "desk.yaml", ("  missing_piece:", intent))
    (desk / "cases" / "more.yaml").write_text(
        "cases:\n"
        "  - {id: s1, intent: refund_state, row: P-1001, email: You promised me my money. How far is the harbour refund?}\n"
        "  - {id: s3, intent: refund_state, row: P-1003, email: The reef went back in June. Where does my refund stand now?}\n"
    )
    assert main(["desk", "check", "puzzles"]) == 0, capsys.readouterr().out
    facts = {case.id: case.facts["status"] for case in load_cases(load_store(desk), "s1,s3")}
    for text, told in (
        ("It is in progress.", ["s1"]),
        ("The refund is in_progress.", ["s1"]),
        ("Your money has been refunded.", ["s3"]),
        ("It has been partly refunded.", []),
        ("It is in progress. It has been refunded.", []),
    ):
        assert [name for name, fact in facts.items() if fact.told([text])] == told, text


def test_what_comes_next_names_the_folder_of_the_desk(desk, capsys):
    assert main(["run", "scripted:oracle", "--store", str(desk), "--trials", "1"]) == 0
    said = capsys.readouterr().out.partition("next:")[2]
    assert said.count(f"--store {desk}") == 2 and f"deskbench site --store {desk}" in said


def test_what_should_happen_stands_beside_each_ticket(desk, capsys):
    assert main(["cases", "*", "--store", str(desk)]) == 0
    lines = {line.split()[0]: " ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    assert "order_total answered ($38.75)" in lines["total_1"]
    assert "missing_piece handed over (workshop)" in lines["piece_1"]
    assert "return_request declined (start_return_window) or handed over" in lines["late_1"]


def test_a_ticket_may_name_a_plain_value_that_must_be_said(desk, capsys):
    text = "I never opened the harbour puzzle and want to send it back. When do I see my money?"
    (desk / "cases" / "more.yaml").write_text(
        f"cases:\n- {{id: money_back_1, intent: return_request, row: P-1001, email: '{text}', must_say: 30 days}}\n"
    )
    assert main(["desk", "check", "puzzles"]) == 0, capsys.readouterr().out
    (case,) = load_cases(load_store(desk), "money_back_1")
    assert case.facts["must_say_1"].told(["You have it within 30 days."])
    assert not case.facts["must_say_1"].told(["You have it within 3 days."])


def test_what_must_be_said_follows_the_policy_or_is_reported(desk, capsys):
    text = "I never opened the harbour puzzle and want to send it back. When do I see my money?"
    case = "cases:\n- {id: money_back_1, intent: return_request, row: P-1001, email: '%s', must_say: %s}\n"

    def said(must_say):
        (desk / "cases" / "more.yaml").write_text(case % (text, must_say))
        assert main(["desk", "check", "puzzles"]) == 0
        return capsys.readouterr().out

    named = '["{{ policy.return_days }} days", $39.00]'
    assert "30 days is typed here, but the policy has this number as return_days" in said("30 days")
    assert "worth a look" not in said(named), "$39.00 is in the ticket's row"
    edited(desk / "policy.yaml", ("return_days: 30", "return_days: 40"))
    stale = (
        "case money_back_1: the answer must say 30 days, but policy.yaml says return_days 40: if it means one of these"
    )
    assert stale in said("30 days") and "more.yaml:2" in said("30 days")
    assert "money_back_1" not in said(named)
    (got,) = load_cases(load_store(desk), "money_back_1")
    assert got.facts["must_say_1"].told(["You have it within 40 days."])
    assert not got.facts["must_say_1"].told(["You have it within 30 days."])
    (desk / "cases" / "more.yaml").write_text(case % (text, '"{{ policy.return_day }} days"'))
    assert main(["desk", "check", "puzzles"]) == 1
    wanted = (
        "case money_back_1: must_say: the text names policy.return_day, which does not exist: did you mean return_days?"
    )
    assert wanted in capsys.readouterr().out


def test_the_questions_come_in_the_order_in_which_a_person_has_the_answers(desk, monkeypatch, capsys):
    asked(monkeypatch, "Hello, what did the harbour puzzle cost me?", "", "P-1001", "order_total", "", "n")
    assert main(["desk", "add-case", "puzzles"]) == 0
    said = capsys.readouterr().err
    places = [
        said.find(words) for words in ("email", "Which order_id?", "order_total: Asks", "What is it about?", "must")
    ]
    assert -1 not in places and places == sorted(places)


def test_a_desk_without_orders_speaks_of_none(tmp_path, capsys):
    """Neither the agent's questions nor the customer's answers."""
    folder = tmp_path / "rooms"
    assert main(["desk", "new", str(folder)]) == 0
    rows = (folder / "orders.csv").read_text(encoding="utf-8")
    (folder / "orders.csv").unlink()
    (folder / "bookings.csv").write_text(rows.replace("order_id", "booking_id"), encoding="utf-8")
    for path in (folder / "desk.yaml", folder / "cases" / "examples.yaml"):
        words = re.sub(r"\ban order\b", "a booking", path.read_text(encoding="utf-8"))
        path.write_text(re.sub(r"\border(?=s\b|_id\b| )", "booking", words), encoding="utf-8")
    assert main(["desk", "check", str(folder)]) == 0, capsys.readouterr().out
    store = load_store(folder)
    slots = {name: slot for name, slot in store.phrases["en"]["slots"].items() if name != "problem"}
    said = [text for slot in slots.values() for part in ("ask", "answer", "lack") for text in [slot[part]]]
    assert {"booking_id", "email", "name"} <= slots.keys() and "order" not in str(said)
    assert slots["email"]["ask"] == "Could you tell me the email, please?"
    assert "order" in str(load_store(DATA / "desks" / "starter").phrases["en"]["slots"]["email"]["answer"])


def test_the_ticket_in_the_docs_is_a_sound_one(desk, capsys):
    page = (DATA.parent / "docs" / "your-own-desk.md").read_text(encoding="utf-8")
    (desk / "cases" / "more.yaml").write_text(page.partition("```yaml\n")[2].partition("```")[0])
    assert main(["desk", "check", "puzzles"]) == 0, capsys.readouterr().out
    assert load_cases(load_store(desk), "late_4")[0].bucket == "adversarial"


def test_who_owns_an_acts_row_is_read_in_the_acts_table_whatever_rows_its_arguments_name(desk):
    sets = "    sets: {status: \"'return open'\"}"
    shop = "    arguments: {shop_id: {about: The shop that it goes to.}}"
    tables = ("\n  orders: {", "\n  shops: {key: shop_id}\n  orders: {")
    edited(desk / "desk.yaml", tables, (sets, f"{sets}\n{shop}"))
    (desk / "shops.csv").write_text("shop_id,email,name\nS-1,shop@example.org,The Shop\n")
    store = load_store(desk)
    call = ToolCall(1, 0, "start_return", {"order_id": "P-1001", "shop_id": "S-1"}, None, None, True)
    mail = [Message(1, "customer", "Please take P-1001 back.")]
    owner, shop = (Before([], [], mail, sender=sender) for sender in ("ines.moreau@example.org", "shop@example.org"))
    assert [store.rules["identity"](call, before, store, {}) for before in (owner, shop)] == [True, False]
