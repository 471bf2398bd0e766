"""A chair as a widget: played by its buttons, its text escaped, and the same in JupyterLab in a real browser."""

import asyncio
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from browser import open_browser, open_page
from hostile import FLAG, PAYLOADS
from test_jupyterlab import running_lab, until

from benchmark_lib import BadInput, RunFile, sit
from benchmark_lib.extras.sitting.widget import page_of

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "06_sit.ipynb"
OWN_TAGS = {"div", "p", "pre", "span", "details", "summary"}


async def comes(holds, what):
    """Wait until something holds."""
    for _ in range(400):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def press(button):
    """Press a button as its browser does, if it can be pressed."""
    assert not button.disabled
    button.click()


def fill(chair, tool, *values):
    """Choose a tool and fill in its arguments."""
    chair.tool.value = tool
    for box, value in zip(chair.fields.children, values, strict=True):
        box.value = value


async def hand_over(chair):
    """Hand the open conversation over."""
    await comes(lambda: not chair.send.disabled, "a turn")
    fill(chair, "hand_over_to_human", "general", "a test", "nothing checked")
    press(chair.make_call)
    await comes(lambda: "HO-1" in chair.talk.value and not chair.send.disabled, "the result")
    chair.message.value = "A <b>colleague</b> will take it from here."
    press(chair.send)
    await comes(lambda: "This conversation is over" in chair.talk.value, "the end")


def test_two_conversations_are_played_with_the_buttons(tmp_path):
    async def play():
        chair = sit("tracking_1,tracking_2", out=tmp_path / "w.deskbench", source="human:anna")
        assert not (tmp_path / "w.deskbench").exists() and chair.send.disabled and chair.stop.disabled
        press(chair.begin)
        await hand_over(chair)
        assert "&lt;b&gt;colleague&lt;/b&gt;" in chair.talk.value and "You work on" in chair.instructions.value
        first = chair.talk.value
        press(chair.onward)
        await comes(lambda: chair.talk.value != first and "Conversation 2" in chair.talk.value, "the next one")
        await hand_over(chair)
        press(chair.onward) if not chair.onward.disabled else None
        await comes(lambda: "finished" in chair.status.value, "the end of all")
        assert chair.send.disabled and chair.stop.disabled

    asyncio.run(play())
    run = RunFile(tmp_path / "w.deskbench")
    assert run.counts()["finished"] == 2 and run.manifest["source"] == "human:anna"


def test_a_stopped_chair_goes_on_and_a_slip_sends_nothing(tmp_path):
    async def play():
        chair = sit("tracking_1", out=tmp_path / "w.deskbench")
        press(chair.begin)
        await comes(lambda: not chair.send.disabled, "a turn")
        press(chair.send)
        await comes(lambda: "empty" in chair.status.value, "a refusal")
        fill(chair, "search_products", "bag", "many", "")
        press(chair.make_call)
        await comes(lambda: "max_price_cents cannot be" in chair.status.value, "a refusal")
        chair.message.value = "Which order is it?"
        press(chair.send)
        await comes(lambda: not chair.send.disabled, "an answer")
        press(chair.stop)
        await comes(lambda: "you can resume it" in chair.status.value, "the stop")
        press(chair.begin)
        await comes(lambda: not chair.send.disabled, "a turn")
        assert "Which order is it?" in chair.talk.value
        press(chair.stop)
        await comes(lambda: chair.stop.disabled, "the stop")

    asyncio.run(play())
    assert RunFile(tmp_path / "w.deskbench").counts() == {"finished": 0, "again": 0, "calls": 1}


def test_a_customer_answers_with_what_its_message_does(tmp_path):
    async def play():
        chair = sit("tracking_1", chair="customer", out=tmp_path / "w.deskbench")
        press(chair.begin)
        await comes(lambda: not chair.send.disabled, "a turn")
        assert "You play one customer" in chair.instructions.value
        chair.message.value, chair.acts.value, chair.last.value = "never mind", "left unserved", True
        press(chair.send)
        await comes(lambda: chair.stop.disabled, "the end")

    asyncio.run(play())
    assert RunFile(tmp_path / "w.deskbench").record("tracking_1", 1).ended_by == "customer_gave_up"


def test_what_cannot_be_played_is_said_in_the_widget_or_at_once(tmp_path):
    with pytest.raises(BadInput, match="no chair 'judge'"):
        sit("tracking_1", chair="judge")

    async def play():
        chair = sit("no_such_case", out=tmp_path / "w.deskbench")
        press(chair.begin)
        await comes(lambda: "no case matches" in chair.status.value, "the refusal")

    asyncio.run(play())


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, page):
        super().__init__()
        self.found, self.attributes = set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", [name for name, text in PAYLOADS.items() if len(text) < 100_000])
def test_no_text_leaves_its_box(name):
    text = PAYLOADS[name]
    tool = {"name": text, "description": text, "parameters": {"properties": {text: {"description": text}}}}
    items = [
        {"kind": "prompt", "text": text},
        {"kind": "tools", "tools": [tool]},
        {"kind": "words", "text": text},
        {"kind": "result", "name": text, "text": text},
        {"kind": "own", "text": text, "calls": [[text, text]]},
        {"kind": "over", "why": text},
    ]
    page = Tags(page_of(items, "agent"))
    assert page.found <= OWN_TAGS and page.attributes <= {"class", "dir", "open", "tabindex"}


def test_a_chair_is_played_in_jupyterlab(tmp_path):
    """Widgets are heard in other threads of the kernel there than in this process."""
    book = nbformat.read(NOTEBOOK, as_version=4)
    cell = next(c for c in book.cells if "parameters" in c.metadata.get("tags", []))
    cell.source += '\ncases, out = "tracking_1", "lab.deskbench"'
    nbformat.write(book, tmp_path / "sit.ipynb")
    with running_lab(tmp_path) as lab, open_browser() as browser, open_page(browser) as (page, seen):
        page.goto(lab.address("sit.ipynb"), wait_until="domcontentloaded")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
        until(lab.has_idle_kernel, "a kernel", page)
        page.locator(".jp-NotebookPanel .jp-Cell").first.click()
        page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
        page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
        chair = page.locator(".db-chair")
        chair.get_by_role("button", name="Begin").click()
        chair.locator(".msg.customer", has_text="Skerry Rolltop").wait_for()
        chair.locator("select").select_option("get_customer")
        chair.get_by_label("email").fill("kai.nruiz@skatemail.example")
        chair.get_by_role("button", name="Call", exact=True).click()
        chair.locator(".call", has_text="Result of get_customer").wait_for()
        chair.locator("textarea").fill(PAYLOADS["img_onerror"])
        chair.get_by_role("button", name="Send").click()
        chair.locator(".msg.customer").nth(1).wait_for()
        assert page.evaluate(f"window.{FLAG}") is None and PAYLOADS["img_onerror"] in chair.inner_text()
        assert seen.dialogs == []
    assert RunFile(tmp_path / "lab.deskbench").counts()["calls"] == 2
