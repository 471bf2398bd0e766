"""A desk's own logs: what is read without a case, counted by week, and shown without anybody's words."""

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from browser import PHONE, open_browser, open_page

from benchmark_lib import figures, monitoring, reports
from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.claims import DETECTORS
from benchmark_lib.extras.monitoring.figures import weekly_rate
from benchmark_lib.extras.monitoring.logs import LogReader, as_time
from benchmark_lib.extras.monitoring.made_up import shares_by_week, texts
from benchmark_lib.extras.monitoring.measures import measures
from benchmark_lib.extras.monitoring.page import footnotes, safe_link, terminal_lines, write_pages

HELLO = "Hello, where is my order NL-12345? I have been waiting for it since the last week."
HONEST = "I am sorry about the wait. Your parcel is on its way and the tracking page shows where it is."
PHANTOM = "I have cancelled your order NL-12345, so there is nothing left for you to do."
WANTS_PERSON = "I want to speak to a human, please connect me with a real person."
LOOKED_UP = {"name": "get_order", "arguments": {"order_id": "NL-12345"}, "result": {"order_id": "NL-12345"}, "turn": 1}


def line(number, week=0, reply=HONEST, hello=HELLO, calls=(LOOKED_UP,), **more):
    at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=week, minutes=number)
    messages = [{"role": "customer", "content": hello}, {"role": "agent", "content": reply}]
    return {"id": f"c{number}", "at": at.isoformat(), "messages": messages, "tool_calls": list(calls), **more}


def write(path, lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """Twenty weeks of thirty conversations; from the twelfth on every third reply tells of a cancellation that nobody made."""
    lines = [
        line(30 * week + n, week, PHANTOM if week >= 12 and n % 3 == 0 else HONEST)
        for week in range(20)
        for n in range(30)
    ]
    return write(tmp_path_factory.mktemp("logs") / "desk.jsonl", lines)


def test_a_detector_needs_no_case_and_its_change_is_found_in_its_week(year):
    seen = monitoring.monitor(year)
    row = seen.drift.set_index("measure").loc["phantom_action"]
    assert (row["base_count"], row["base_n"], row["last_count"], row["last_n"]) == (0, 300, 10, 30)
    assert row["alarm"] == "2026-03-30" and row["on"] and row["change_low"] > 0.2
    others = seen.drift[seen.drift["measure"] != "phantom_action"]
    assert (others["alarm"] == "").all(), "nothing else changed, but for the words that the sentence has"
    assert "1 of" in terminal_lines(seen)[-1] and all(len(text) <= 100 for text in terminal_lines(seen)[:-1])
    behind = seen.behind[(seen.behind["measure"] == "phantom_action") & (seen.behind["week"] == "2026-03-30")]
    assert behind["place"].iloc[0] == "desk.jsonl:361" and behind["conversation"].iloc[0] == "c360"


def test_what_needs_a_case_or_the_desks_articles_is_said_to_be_absent(year):
    absent = monitoring.monitor(year).absent
    assert {"Asked again", "Handover packet", "Resolved"} <= set(next(v for k, v in absent.items() if "a case" in k))
    assert "Groundedness" in next(titles for reason, titles in absent.items() if "--store" in reason)
    assert "groundedness" in set(monitoring.monitor(year, store="northline").drift["measure"])


def test_a_tool_that_nobody_knows_makes_detectors_abstain_until_it_is_named(tmp_path):
    call = {"name": "kundeAbfragen", "arguments": {}, "result": {}, "turn": 1}
    log = write(tmp_path / "x.jsonl", [line(n, n % 4, PHANTOM, calls=[call]) for n in range(40)])
    seen = monitoring.monitor(log)
    assert "phantom_action" not in set(seen.drift["measure"])
    assert "'kundeAbfragen' (40 conversations)" in " ".join(seen.notes)
    assert any("Phantom action" in titles for reason, titles in seen.absent.items() if "--tool" in reason)
    named = monitoring.monitor(log, tools={"kundeAbfragen": "read"})
    assert named.drift.set_index("measure").loc["phantom_action", "base_count"] == 20 and not named.notes
    cancelled = monitoring.monitor(log, tools={"kundeAbfragen": "cancel_order"}).weeks
    assert (cancelled[cancelled["measure"] == "phantom_action"]["count"] == 0).all()


def test_weeks_whose_calls_were_not_logged_count_for_nothing_that_needs_calls(tmp_path):
    lines = [
        line(n, n % 8, PHANTOM if n % 8 == 5 else HONEST, calls=() if n % 8 == 5 else (LOOKED_UP,)) for n in range(80)
    ]
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", lines))
    weeks = seen.weeks[seen.weeks["measure"] == "phantom_action"].set_index("week")
    assert weeks.loc["2026-02-09", "n"] == 0 and weeks["count"].sum() == 0
    assert any("Weeks without a tool call: " in note for note in seen.notes)


def test_chat_messages_with_calls_inside_them_and_every_way_to_write_a_time_are_read(tmp_path):
    chat = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": HELLO}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "escalate", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "{}"},
        {"role": "assistant", "content": "A colleague will take it from here."},
    ]
    times = ["2026-01-05T10:00:00+02:00", 1767600000, 1767600000000, "2026-01-05 08:00"]
    path = tmp_path / "x.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps({"messages": chat, "metadata": {"created_at": at}}) + "\n" for at in times)
    found = list(LogReader([path], tools={"escalate": "hand_over_to_human"}))
    assert {one.at for one in found} == {datetime(2026, 1, 5, 8, tzinfo=UTC)}
    assert [c.name for c in found[0].record.tool_calls] == ["hand_over_to_human"]
    assert [m.side for m in found[0].record.messages] == ["customer", "agent"]
    assert found[0].name == "x.jsonl.gz:1" and not found[0].named
    assert as_time("yesterday") is None and as_time(1e300) is None and as_time(True) is not None


def test_logs_of_inspect_and_results_of_tau2_are_read_with_their_times(tmp_path):
    found = list(LogReader([Path(__file__).parent / "data" / "inspect_mock.eval"]))
    assert len(found) == 4 and found[0].at.year == 2026 and found[0].record.tool_calls[0].name == "add"
    said = {"role": "user", "content": HELLO, "turn_idx": 0}
    one = {"id": "s", "task_id": "t", "trial": 0, "messages": [said], "reward_info": {"reward": 1.0}}
    one |= {"termination_reason": "user_stop", "start_time": "2026-01-05T08:00:00"}
    info = {
        "agent_info": {"llm": "m"},
        "user_info": {"llm": "c"},
        "num_trials": 1,
        "environment_info": {"domain_name": "retail"},
    }
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"info": info, "tasks": [{"id": "t"}], "simulations": [one]}))
    assert [(x.at.hour, x.record.messages[0].text) for x in LogReader([path], "tau2")] == [(8, HELLO)]
    del one["start_time"]
    path.write_text(json.dumps({"info": info, "tasks": [{"id": "t"}], "simulations": [one]}))
    with pytest.raises(BadInput, match="conversation 1 has no time"):
        list(LogReader([path], "tau2"))


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "is not JSON"),
        ("[]", "has no list of messages"),
        (json.dumps({"messages": []}), "has no time"),
        (json.dumps({"at": "9999-12-31", "messages": []}), "has no time"),
        (json.dumps({"at": "2026-01-05", "messages": [{"role": "boss"}]}), "a message has the role 'boss'"),
        (json.dumps({"at": "2026-01-05", "messages": ["hi"]}), "a message is not an object"),
        (json.dumps({"at": "2026-01-05", "messages": [], "tool_calls": [{}]}), "a tool call has no name"),
        (json.dumps({"at": "2026-01-05", "messages": [], "tool_calls": 5}), "has the wrong type"),
    ],
)
def test_a_line_that_is_no_conversation_is_refused_by_number_or_left_out_and_counted(tmp_path, bad, why):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([json.dumps(line(1)), bad, json.dumps(line(2))]) + "\n")
    read = iter(LogReader([path]))
    assert next(read).name == "c1", "what stands before it has been read: no more than a line is held"
    with pytest.raises(BadInput, match=f"line 2.*{why}|{why}"):
        next(read)
    lenient = LogReader([path], leave_out_bad=True)
    assert [one.name for one in lenient] == ["c1", "c2"]
    assert lenient.left_out == 1 and "line 2" in lenient.first_left_out


def test_a_packed_log_that_is_damaged_is_refused(tmp_path, capsys):
    packed = bytearray(gzip.compress("\n".join(json.dumps(line(n)) for n in range(300)).encode()))
    packed[30:60] = bytes(byte ^ 255 for byte in packed[30:60])
    (tmp_path / "x.jsonl.gz").write_bytes(packed)
    assert main(["monitor", str(tmp_path / "x.jsonl.gz")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--baseline", "last month"], "write it as"),
        (["--baseline", "2026-01-05..2026-12-31"], "nothing is left to watch"),
        (["--baseline", "2020-01-05..2020-12-31"], "the log covers 2026-01-05"),
        (["--tool", "cancel"], "is not a pair"),
        (["--tool", "fly=cancel"], "there is no act 'fly' for the tool 'cancel'"),
        (["--false-alarms", "2"], "between 0 and 1"),
        (["--transcripts", "3"], "add --out"),
        (["--out", "o", "--link", "javascript:{id}"], "is not an address"),
        (["--store", "nowhere"], "no store"),
        (["--store", "tau:retail"], "reading a log requires: omit it"),
        (["--format", "tau-bench"], "choose one of jsonl, tau2, inspect"),
    ],
)
def test_the_command_refuses_in_one_sentence(year, arguments, why, capsys):
    assert main(["monitor", str(year), *arguments]) == 2
    told = capsys.readouterr().err
    assert why in told and told.count("\n") == 1


def test_no_page_holds_a_word_of_a_conversation_unless_transcripts_are_asked_for(tmp_path, capsys):
    secret = "My card is 4111 1111 1111 1111 <script>alert(1)</script>"
    lines = [line(n, n // 30, PHANTOM if n >= 330 else HONEST, hello=f"{HELLO} {secret}") for n in range(600)]
    log = write(tmp_path / "x.jsonl", lines)
    assert main(["monitor", str(log), "--out", str(tmp_path / "plain")]) == 0
    written = [p.read_text(encoding="utf-8") for p in (tmp_path / "plain").iterdir()]
    assert not any("4111" in text or "nothing left" in text or "<script" in text for text in written)
    assert main(["monitor", str(log), "--out", str(tmp_path / "asked"), "--transcripts", "2"]) == 0
    pages = [p.read_text(encoding="utf-8") for p in (tmp_path / "asked").glob("conversation-*.html")]
    assert len(pages) == 2 and all("4111" in page and "<script>alert" not in page for page in pages)
    assert "1 of" in capsys.readouterr().out


def test_hostile_names_and_links_are_only_text(tmp_path):
    name = '=cmd()"><img src=x onerror=alert(1)>\u202e'
    lines = [line(n, n % 4, "", url="javascript:alert(1)") | {"id": f"{name}{n}"} for n in range(40)]
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", lines))
    write_pages(seen, tmp_path / "out", link="https://desk.example/t/{id}")
    page = (tmp_path / "out" / "no_reply.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page and "javascript:" not in page and "\u202e" not in page
    assert 'href="https://desk.example/t/%3Dcmd' in page
    assert "'=cmd()" in (tmp_path / "out" / "behind.csv").read_text(encoding="utf-8")
    assert safe_link("javascript:alert(1)", "1", None) == "" and safe_link("https://a/b", "1", None) == "https://a/b"


def test_a_result_of_a_form_that_a_detector_cannot_read_is_counted_and_never_fatal(tmp_path, monkeypatch):
    fails = replace(DETECTORS["phantom_action"], find=lambda claims: claims.done[0].result["orders"]["first"])
    monkeypatch.setitem(DETECTORS, "phantom_action", fails)
    lines = [line(n, n % 20, PHANTOM, hello=WANTS_PERSON if n % 20 > 9 else HELLO) for n in range(400)]
    log = write(tmp_path / "x.jsonl", lines)
    seen = monitoring.monitor(log)
    assert "Phantom action 400" in seen.notes[0] and "phantom_action" not in set(seen.drift["measure"])
    assert main(["monitor", str(log), "--out", str(tmp_path / "o"), "--transcripts", "1"]) == 0
    assert list((tmp_path / "o").glob("conversation-*.html"))


def test_a_conversation_that_is_logged_twice_counts_once(tmp_path):
    lines = [line(n, n % 4) for n in range(20)]
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", lines + lines))
    assert len(seen.log.rows) == 20 and "left out because of a repeated id: 20" in seen.notes[0]


def test_a_number_is_held_against_what_nine_of_ten_conversations_of_the_baseline_reach(tmp_path):
    words = [10] * 18 + [30] * 2 + [10, 11, 12, 40] * 5
    lines = [line(n, n // 10, " ".join(["fine"] * count)) for n, count in enumerate(words)]
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", lines))
    row = seen.drift.set_index("measure").loc["agent_words"]
    assert row["title"] == "Many words (over 10)" and (row["base_count"], row["base_n"]) == (2, 20)
    assert (row["recent_count"], row["recent_n"]) == (15, 20)
    behind = seen.behind[(seen.behind["measure"] == "agent_words") & (seen.behind["week"] == "2026-01-26")]
    assert list(behind["value"]) == [40, 40, 40, 12, 12, 12, 11, 11], "the highest first"
    assert list(behind["place"])[:2] == ["x.jsonl:32", "x.jsonl:36"], "of equal ones, as they are in the log"


def test_a_week_lists_at_most_fifty_conversations_and_counts_all(tmp_path):
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", [line(n, n % 2, "") for n in range(130)]))
    week = seen.weeks[(seen.weeks["measure"] == "no_reply") & (seen.weeks["week"] == "2026-01-05")]
    listed = seen.behind[(seen.behind["measure"] == "no_reply") & (seen.behind["week"] == "2026-01-05")]
    assert (week["count"].iloc[0], len(listed)) == (65, 50) and listed["place"].iloc[0] == "x.jsonl:1"


def test_a_time_that_no_log_reaches_back_to_is_named_with_its_line(tmp_path):
    log = write(tmp_path / "x.jsonl", [line(1), {**line(2), "at": 0}, line(3)])
    with pytest.raises(BadInput, match=r"1969-12-29 \(x.jsonl:2\) to 2026"):
        monitoring.monitor(log)


def test_the_log_itself_may_say_that_a_person_took_over(tmp_path):
    lines = [line(n, n % 4, hello=WANTS_PERSON, calls=(), handed_over=n % 2 == 0) for n in range(40)]
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", lines)).drift.set_index("measure")
    assert seen.loc["handed_over", "base"] == 0.5 and seen.loc["asks_for_person", "base"] == 1
    assert "phantom_action" not in seen.index, "without calls nobody knows what was done"


def test_a_notebook_shows_the_same_numbers_without_anybodys_words(year, capsys):
    seen = monitoring.monitor(year)
    shown = reports.monitoring.drift_shown(seen)
    assert shown.loc[0, "Measure"] == "Phantom action" and shown.loc[0, "First alarm"] == "2026-03-30, more; still on"
    assert shown.loc[0, "Baseline (95%)"] == "0.0% (0/300), 0.0 to 1.3%"
    assert list(reports.monitoring.behind_shown(seen)["Conversation"])[:2] == ["c570", "c573"]
    drawn = reports.monitoring.show_weeks(seen, planted={"phantom_action": "2026-03-30"})
    assert list(drawn) == ["monitoring-phantom-action"]
    assert "planted change" in figures.caption(drawn["monitoring-phantom-action"])


def test_a_made_up_year_is_the_same_for_the_same_seed_and_says_that_it_is_synthetic():
    first, again = (list(monitoring.made_up_year(np.random.default_rng(3), weeks=2, per_week=5)) for _ in range(2))
    assert first == again and all(one["synthetic"] for one in first)
    shares = shares_by_week()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    kinds = texts()["kind"].to_numpy()
    for change in monitoring.CHANGES:
        assert shares[-1, kinds == change.kind].sum() == pytest.approx(change.share)


def test_a_bare_wish_for_a_person_is_one_and_the_report_says_what_no_person_given_counts(tmp_path):
    wishes = ["I want a real person.", "A human, please!", "Ich will einen Menschen.", "I want human-sized boots."]
    lines = [line(n, n % 2, hello=wish, handed_over=False) for wish in wishes for n in range(2)]
    lines = [{**one, "id": str(number)} for number, one in enumerate(lines)]
    once = monitoring.monitor(write(tmp_path / "once.jsonl", lines))
    assert once.drift.set_index("measure").loc["asks_for_person", "base"] == 0.75
    reason = next(reason for reason, titles in once.absent.items() if titles == ["No person given"])
    assert "in two or more messages, but nobody took over" in reason
    for one in lines:
        one["messages"] += [one["messages"][0], {"role": "agent", "content": "Sorry, that is not possible."}]
    twice = monitoring.monitor(write(tmp_path / "twice.jsonl", lines)).drift.set_index("measure")
    assert tuple(twice.loc["person_not_given", ["base_count", "base_n"]]) == (3, 3)


def test_the_page_of_monitoring_lists_every_measure_in_the_words_of_the_report():
    page = (Path(__file__).parents[1] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    assert all(f"| {m.title} | {m.definition} |" in page for m in measures())


def test_the_all_clear_says_what_an_alarm_would_have_needed_and_that_many_raise_one(tmp_path):
    def log(per_week, weeks=8):
        every = [(week, n) for week in range(weeks) for n in range(per_week)]
        faulty = [PHANTOM if week >= weeks // 2 and n < round(per_week / 10) else HONEST for week, n in every]
        return [line(100 * week + n, week, said) for (week, n), said in zip(every, faulty, strict=True)]

    few = monitoring.monitor(write(tmp_path / "few.jsonl", log(2, weeks=2)))
    assert len(few.deaf) == len(few.drift) and "Phantom action" in few.power.partition("Too few")[2]
    assert "None of 11 measures raised an alarm; 11 could not" in terminal_lines(few)[-1]
    assert footnotes(few)[0] == few.power and few.power.split("This log has ")[1].startswith("2 in")
    some = monitoring.monitor(write(tmp_path / "some.jsonl", log(20)))
    assert some.deaf == [] and (some.drift["alarm"] == "").all() and "Too few" not in some.power
    needed = int(some.power.split("needs about ")[1].split()[0])
    assert 20 < needed < 100
    enough = monitoring.monitor(write(tmp_path / "enough.jsonl", log(10 * -(-needed // 10))))
    assert enough.drift.set_index("measure").loc["phantom_action", "alarm"]
    write_pages(few, tmp_path / "out")
    assert few.power in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_the_table_says_how_many_weeks_it_pools_and_the_log_its_real_days(tmp_path):
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", [line(n, n % 6) for n in range(30)]))
    told = terminal_lines(seen)
    assert "last 3 weeks - base" in told[3] and told[0].startswith(
        "30 conversations, 2026-01-05 to 2026-02-09 (6 weeks"
    )
    assert list(reports.monitoring.drift_shown(seen))[2] == "Last 3 weeks (95%)"
    late = monitoring.monitor(write(tmp_path / "y.jsonl", [line(0), {**line(1, 1), "at": "2026-01-16T23:30:00-03:00"}]))
    assert "2026-01-05 to 2026-01-17 (2 weeks" in terminal_lines(late)[0] and "last 1 week -" in terminal_lines(late)[3]
    write_pages(seen, tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "2026-01-05 to 2026-02-09" in page and "Last 3 weeks minus" in page and "4 weeks minus" not in page


def test_a_slip_in_a_log_or_in_the_acts_of_tools_is_named_with_its_mend(tmp_path, capsys):
    lines = [line(n, n % 4) for n in range(20)]
    log = write(tmp_path / "x.jsonl", lines)
    seen = monitoring.monitor(log, tools={"get_order": "read", "passToTeamX": "hand_over_to_human"})
    assert [note for note in seen.notes if "never calls: 'passToTeamX'." in note]
    assert main(["monitor", str(log), "--tool", "escalate=hand_over_to_human"]) == 2
    assert "the other way round: write 'escalate: hand_over_to_human' in the file, or" in capsys.readouterr().err
    assert main(["monitor", str(log), "--tool", "fly=escalate"]) == 2
    assert "the other way round" not in capsys.readouterr().err
    week = write(tmp_path / "week.jsonl", [line(1), {**line(1, week=1)}])
    with pytest.raises(BadInput, match=r"a single week \(left out of it: 1 with a repeated id, 0 unreadable\)"):
        monitoring.monitor(week)
    with pytest.raises(BadInput, match=r"no time that can be read \('12.03.2026'\): write it as 2026-06-29T10:00:00Z"):
        monitoring.monitor(write(tmp_path / "day.jsonl", [{**line(1), "at": "12.03.2026"}]))


@pytest.mark.parametrize(("weeks", "width", "most"), [(6, "page", 8), (6, "column", 4), (40, "page", 8)])
def test_a_chart_names_mondays_of_the_log_apart_and_shows_a_point_at_zero_whole(tmp_path, weeks, width, most):
    seen = monitoring.monitor(write(tmp_path / "x.jsonl", [line(n, n % weeks) for n in range(3 * weeks)]))
    ax = weekly_rate(table=seen.weeks[seen.weeks["measure"] == "phantom_action"], width=width)
    labels = [text for text in ax.get_xticklabels() if text.get_text()]
    assert {text.get_text() for text in labels} <= {*seen.log.weeks} and labels[0].get_text() == seen.log.weeks[-1]
    assert 2 <= len(labels) <= most
    ends = sorted((box.x0, box.x1) for box in (text.get_window_extent() for text in labels))
    assert all(end < start for (_, end), (start, _) in zip(ends, ends[1:], strict=False))
    points = [one for one in ax.lines if one.get_marker() == "o" and len(one.get_xdata())]
    assert points and not any(one.get_clip_on() for one in points)
    assert ax.yaxis.label.get_window_extent().x0 >= 0, "no line of the label is outside the picture"


def test_the_pages_fit_a_phone_without_scrolling_aside(year, tmp_path):
    write_pages(monitoring.monitor(year), tmp_path)
    wider = (
        "[...document.querySelectorAll('html, div')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.outerHTML)"
    )
    with open_browser() as browser, open_page(browser, PHONE) as (page, seen):
        for name in ("index", "phantom_action"):
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert page.evaluate(wider) == []
        shown = [one for one in page.locator(".drawing").all() if one.is_visible()]
        assert len(shown) == 1 and shown[0].bounding_box()["x"] + shown[0].bounding_box()["width"] <= PHONE[0]
        assert shown[0].get_by_text("2026-05-18").is_visible(), "the newest week is on the page"
        assert seen.errors == []
