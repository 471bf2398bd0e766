"""The port of a sitting: programs of this machine play over it, web pages do not, and a kill costs nothing."""

import asyncio
import re
import signal
import urllib.request
from urllib.parse import urlsplit

import pytest
from commands import Command
from players import over_the_port, sitting

from benchmark_lib import BadInput, RunFile
from benchmark_lib.extras.sitting.port import serving

HAND_OVER = '{"queue": "general", "reason": "a test", "summary": "nothing checked"}'


def play_over(tmp_path, player, cases="tracking_1", **options):
    """What a player found, and the run."""
    run, found = asyncio.run(over_the_port(*sitting(tmp_path, cases, **options), player))
    return found, run


def test_a_conversation_is_played_by_curl(tmp_path):
    async def player(curl):
        return [
            await curl("/"),
            await curl("/next"),
            await curl("/call/hand_over_to_human", HAND_OVER),
            await curl("/say", "A colleague will take it from here."),
            await curl("/next"),
        ]

    answers, run = play_over(tmp_path, player)
    assert {status for status, _ in answers} == {200}
    help_page, first, result, last, end = (text for _, text in answers)
    assert "/CHAIR/call/NAME" in help_page
    assert first.startswith("YOUR INSTRUCTIONS\n| You work on") and "YOUR TOOLS\n| find_orders: " in first
    assert first.endswith(
        "| hey so the email with the tracking link for my Skerry Rolltop 26L got eaten by spam or my little brother, not sure which. can u send me the link again pls. ty\n"
    )
    assert result.startswith("RESULT OF hand_over_to_human\n| {") and "OVER" in last and "finished" in end
    assert run.record("tracking_1", 1).ended_by == "handed_over"


def test_several_calls_at_once_and_json(tmp_path):
    calls = '[{"name": "get_order", "arguments": {"order_id": "NL-46580"}}, {"name": "nonsense"}, {"name": "get_order", "arguments": "{"}]'

    async def player(curl):
        await curl("/1/next")
        return await curl("/1/call", calls, Accept="application/json"), await curl("/1/again")

    ((_, answer), (_, whole)), _ = play_over(tmp_path, player)
    assert re.findall(r'"kind":"result","name":"(\w+)"', answer) == ["get_order", "nonsense", "get_order"]
    assert '"your_turn":true' in answer and "not valid JSON" in answer
    assert whole.startswith("YOUR INSTRUCTIONS") and whole.count("YOU CALLED") == 3


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "said"),
    [
        ("/1/say", "", {}, 400, "empty"),
        ("/1/say", " \n ", {}, 400, "empty"),
        ("/1/say", b"\xff\xfe", {}, 400, "UTF-8"),
        ("/1/say", b"not packed", {"Content-Encoding": "gzip"}, 400, "its encoding is broken"),
        ("/1/call/get_order", b"not packed", {"Content-Encoding": "deflate"}, 400, "its encoding is broken"),
        ("/1/say", '{"words": "hi"}', {"Content-Type": "application/json"}, 400, '{"text": "..."}'),
        ("/1/say", '{"text": "hi", "end": true}', {"Content-Type": "application/json"}, 400, "nothing but its words"),
        ("/1/say", "hi", {"Content-Type": "application/json"}, 400, "not JSON"),
        ("/1/call", "{}", {}, 400, "Calls are written"),
        ("/1/call", "[]", {}, 400, "Calls are written"),
        ("/1/call", '[{"name": 3}]', {}, 400, "Calls are written"),
        ("/1/call", '[{"name": "x", "args": {}}]', {}, 400, "Calls are written"),
        ("/1/call/get_order", "{", {}, 400, "not JSON"),
        ("/1/call/get_order", "3", {}, 400, "Calls are written"),
        ("/1/next?wait=soon", None, {}, 400, "number of seconds"),
        ("/1/say?wait=soon", "hi", {}, 400, "number of seconds"),
        ("/3/next", None, {}, 404, "chairs are 1 to 2"),
        ("/next", None, {}, 404, "chairs are 1 to 2"),
        ("/1/nest", None, {}, 404, "GET / says"),
        ("/1/say", None, {}, 405, "GET / says"),
        ("/2/say", "hi", {}, 409, "Nothing waits"),
    ],
)
def test_a_request_that_cannot_be_used_changes_nothing(tmp_path, path, body, headers, status, said):
    async def player(curl):
        await curl("/1/next")
        return await curl(path, body, **headers)

    (found, text), run = play_over(tmp_path, player, "tracking_1,tracking_2", chairs=2)
    assert found == status and said in text and run.counts()["calls"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "elsewhere.example"},
        {"Host": "127.0.0.1.elsewhere.example"},
    ],
)
def test_a_web_page_is_refused(tmp_path, headers):
    async def player(curl):
        await curl("/1/next")
        return [await curl("/1/say", "hi", **headers), await curl("/1/next", **headers)]

    answers, run = play_over(tmp_path, player)
    assert [status for status, _ in answers] == [403, 403] and run.counts()["calls"] == 0


def test_a_chair_waits_while_others_play_the_rest(tmp_path):
    async def player(curl):
        await curl("/1/next")
        idle = await curl("/2/next?wait=0.1")
        waiting = asyncio.ensure_future(curl("/2/next"))
        await curl("/1/call/hand_over_to_human", HAND_OVER)
        await curl("/1/say", "A colleague will take it from here.")
        return idle, await waiting

    ((_, idle), (_, told)), _ = play_over(tmp_path, player, chairs=2)
    assert idle.startswith("Nothing more for this chair") and told.startswith("All conversations are finished")


def test_a_chair_for_which_nothing_is_left_is_told_that_it_may_stop(tmp_path):
    async def player(curl):
        await curl("/1/next")
        await curl("/2/next")
        mine = await curl("/1/next?wait=0.1")
        await curl("/2/call/hand_over_to_human", HAND_OVER)
        first = await curl("/2/say", "A colleague will take it from here.")
        more = await curl("/2/next?wait=20")
        await curl("/2/call/hand_over_to_human", HAND_OVER)
        await curl("/2/say", "A colleague will take it from here.")
        text = await curl("/2/next?wait=0.1")
        fields = await curl("/2/next?wait=0.1", Accept="application/json")
        return mine, first, more, text, fields

    answers, _ = play_over(tmp_path, player, cases="tracking_1,tracking_2,tracking_3", chairs=2)
    mine, first, more, text, fields = (answer for _, answer in answers)
    assert mine.startswith("Nothing new: it is your turn") and "GET .../next begins the next" in first
    assert "THE CUSTOMER WRITES" in more
    assert text == (
        "Nothing more for this chair: the last conversations are being played in other chairs. You may stop here; "
        "GET .../next says when all of them are over.\n"
    )
    assert '"only_others_play":true' in fields


def test_nobody_waits_for_the_goodbye_of_a_chair_that_may_stop(tmp_path):
    async def player(curl):
        await curl("/1/next")
        await curl("/2/next?wait=0.1")
        await curl("/1/call/hand_over_to_human", HAND_OVER)
        await curl("/1/say", "A colleague will take it from here.")
        await curl("/1/next?wait=20")

    chairs, experiment = sitting(tmp_path, cases="tracking_1", chairs=2)
    asyncio.run(over_the_port(chairs, experiment, player))
    assert chairs.everyone_knows


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: -5",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: chunked",
        "Content-Encoding: gzip",
    ],
)
def test_a_broken_request_is_answered_and_nothing_is_shown_to_the_player(tmp_path, head, caplog, capfd):
    async def player(curl):
        place = urlsplit(curl.address)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        length = "" if "Length" in head or "chunked" in head else "Content-Length: 2\r\n"
        writer.write(
            f"POST {place.path}/1/say HTTP/1.1\r\nHost: {place.netloc}\r\n{head}\r\n{length}\r\nzz\r\n".encode()
        )
        return await reader.readline()

    answer, _ = play_over(tmp_path, player)
    assert b" 400 " in answer and not caplog.text and "Traceback" not in "".join(capfd.readouterr())


def test_a_port_that_is_taken_is_refused(tmp_path):
    async def twice():
        chairs, _ = sitting(tmp_path)
        async with serving(chairs, 0) as address, serving(chairs, int(address.split(":")[2].split("/")[0])):
            pass

    with pytest.raises(BadInput, match="cannot be used .*--port"):
        asyncio.run(twice())


def start(tmp_path, *options):
    """The command in a process of its own, and the address it prints."""
    line = ["sit", "--port", "0", "--cases", "tracking_1,tracking_2", "--out", tmp_path / "p.deskbench", *options]
    process = Command(line)
    return process, re.search(r"http://\S+?(?=;)", process.stdout.readline()).group()


def curl(address, body=None):
    """One request with the standard library, as another program would send it."""
    request = urllib.request.Request(address, None if body is None else body.encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def test_a_killed_sitting_goes_on_and_no_word_about_scores_is_printed(tmp_path):
    process, base = start(tmp_path)
    try:
        first = curl(f"{base}/next")
        curl(f"{base}/call/search_knowledge_base", '{"query": "tracking"}')
        asked = curl(f"{base}/say", "Could you tell me your order number?")
    finally:
        process.kill()
        process.communicate()
    process, base = start(tmp_path)
    try:
        again = curl(f"{base}/next")
        assert again.endswith(asked) and first.partition("THE CUSTOMER WRITES")[2] in again
        while "finished" not in (said := curl(f"{base}/next?wait=0.5")):
            if said.startswith("Nothing") or "CUSTOMER" in said:
                curl(f"{base}/call/hand_over_to_human", HAND_OVER)
                curl(f"{base}/say", "A colleague will take it from here.")
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and err == ""
    assert out.startswith("2 of 2 conversations finished; run file: ") and out.count("\n") == 1
    run = RunFile(tmp_path / "p.deskbench")
    assert run.counts() == {"finished": 2, "again": 0, "calls": 6} and run.manifest["source"] == "human"


def test_a_signal_ends_a_sitting_at_once(tmp_path):
    process, base = start(tmp_path)
    curl(f"{base}/next")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143 and "rerun the same command to resume" in err
