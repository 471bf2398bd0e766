"""A chair in a notebook: the conversation above, tools and message below, all text escaped."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import ipywidgets as w
from markupsafe import Markup

from ...experiment import Experiment
from ...reports.html import transcript_css
from ...threads import running_loop
from .chairs import CHAIR, Chairs, Item
from .session import play
from .wording import READ_AS, Field, acts_of, fields_of, spread, tool_text, visible

PATIENCE_S = 60.0
"""Seconds to wait for news in one request."""
WIDE = w.Layout(width="auto")
STATIC = "A chair needs widgets: open this notebook in JupyterLab and run its cells, then press Begin."


class ChairWidget(w.VBox):
    """A player in a notebook.

    Parameters
    ----------
    seat : callable
        Returns the chair and its run; see `benchmark_lib.extras.sitting.session.seated`.
    """

    def __init__(self, seat: Callable[[], tuple[Chairs, Experiment]]):
        super().__init__(layout=WIDE)
        self._seat = seat
        self._loop: Any = running_loop()
        self.chairs, self._experiment = seat()
        self._items: list[Item] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.status, self.talk, self.instructions = w.HTML(), w.HTML(), w.HTML()
        self.begin = self._button("Begin", self._on_begin)
        self.onward = self._button("Next conversation", self._follow, disabled=True)
        self.stop = self._button("Stop", self._on_stop, disabled=True)
        self.message = w.Textarea(placeholder="Your message", rows=7, layout=WIDE)
        self.send = self._button("Send", self._on_send, button_style="primary")
        self.acts = w.Text(placeholder=READ_AS, layout=WIDE)
        self.last = w.Checkbox(description="This is my last message", indent=False)
        self.tool = w.Dropdown(description="Tool", layout=WIDE)
        self.tool.observe(self._show_fields, names="value")
        self.about, self.fields = w.HTML(), w.VBox()
        self.make_call = self._button("Call", self._on_call)
        self._fields: list[tuple[Field, w.Text]] = []
        folded = w.Accordion([self.instructions], titles=["Your instructions"], selected_index=None)
        if self.chairs.side == "agent":
            calling = w.VBox([self.tool, self.about, self.fields, self.make_call], layout=WIDE)
            answer = w.VBox([calling, self.message, self.send], layout=WIDE)
        else:
            folded.selected_index = 0  # each conversation has its own instructions
            answer = w.VBox([self.message, self.acts, self.last, self.send], layout=WIDE)
        buttons = w.HBox([self.begin, self.onward, self.stop])
        style = w.HTML(f"<style>{transcript_css()}</style>")
        self.children = [style, buttons, self.status, folded, self.talk, answer]
        self.add_class("db-chair")
        self._enable(False)
        self._say_status("Press Begin. You will be shown what a model is shown, and nothing else.")

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """Return the widget with a sentence for viewers without widgets."""
        return {**super()._repr_mimebundle_(**how), "text/html": f"<p>{STATIC}</p>"}

    def _button(self, label: str, handle: Callable[[], None], **looks: Any) -> w.Button:
        """Return a button whose handler runs in the conversation's event loop."""

        def handled() -> None:
            try:
                handle()
            except ValueError as error:
                self._say_status(str(error))

        button = w.Button(description=label, **looks)
        button.on_click(lambda _: self._loop.call_soon_threadsafe(handled))
        return button

    # The means to answer.

    def _show_fields(self, change: Any = None) -> None:
        tool = next((t for t in self.chairs.tools if t["name"] == self.tool.value), None)
        about, fields = "", []
        if tool is not None:
            about = str(Markup("<p>{}</p>").format(visible(tool["description"])))
            fields = fields_of(tool["parameters"])
        self.about.value = about
        self._fields = [(field, w.Text(layout=WIDE)) for field in fields]
        for field, box in self._fields:
            box.description, box.placeholder = field.place, field.hint
            box.style = {"description_width": "9rem"}
        self.fields.children = [box for _, box in self._fields]

    def _on_send(self) -> None:
        words = self.message.value.strip()
        acts = acts_of(self.acts.value)
        if not words:
            raise ValueError("The message is empty.")
        self.chairs.say(CHAIR, words, acts, self.last.value)
        self._sent(words, [])
        self.message.value, self.acts.value, self.last.value = "", "", False

    def _on_call(self) -> None:
        arguments: dict[str, Any] = {}
        for field, box in self._fields:
            field.put(box.value, arguments)
        self.chairs.call(CHAIR, [(self.tool.value, arguments)])
        self._sent("", [[self.tool.value, json.dumps(arguments, ensure_ascii=False)]])
        self._show_fields()

    def _sent(self, text: str, calls: list[list[str]]) -> None:
        self._enable(False)
        self._say_status("Sent.")
        self._follow()
        self._add([{"kind": "own", "text": text, "calls": calls}])

    # The view of the player.

    def _on_begin(self) -> None:
        self.chairs, self._experiment = self._seat()
        self.begin.disabled, self.stop.disabled = True, False
        self._say_status("Opening the desk.")
        self._tasks = [asyncio.ensure_future(self._play())]
        self._follow()

    async def _play(self) -> None:
        """Play the session to its end, and show how it ended."""
        try:
            await play(self.chairs, self._experiment)
            self._say_status(self.chairs.closed or "")
        except Exception as error:  # no code awaits this task
            self._say_status(str(error))
        self.begin.disabled, self.stop.disabled = False, True
        self._enable(False)

    async def _watch(self) -> None:
        """Show news until it is the player's turn or the conversation is over."""
        chairs = self.chairs
        while chairs.closed is None:
            items = await chairs.news(CHAIR, PATIENCE_S)
            self._add(items)
            if items and items[-1]["kind"] == "over" and chairs.closed is None:
                self._say_status("This conversation is over.")
                self.onward.disabled = False
                return
            if chairs.my_turn(CHAIR):
                self._say_status("It is your turn.")
                self._enable(True)
                return

    def _follow(self) -> None:
        self.onward.disabled = True
        self._tasks.append(asyncio.ensure_future(self._watch()))

    def _on_stop(self) -> None:
        self._experiment.stop("rerun the cell to resume", 0.0)

    def _add(self, items: list[Item]) -> None:
        for item in items:
            if item["kind"] == "conversation":
                self._items = []
            self._items.append(item)
        head = [i for i in items if i["kind"] in ("prompt", "tools")]
        if head:
            self.instructions.value = page_of(head, self.chairs.side)
            self.tool.options = [t["name"] for t in self.chairs.tools]
        talk = [i for i in self._items if i["kind"] not in ("prompt", "tools")]
        self.talk.value = page_of(talk, self.chairs.side)

    def _enable(self, own_turn: bool) -> None:
        for one in (self.send, self.make_call):
            one.disabled = not own_turn

    def _say_status(self, text: str) -> None:
        self.status.value = str(Markup('<p role="status">{}</p>').format(visible(text)))


def page_of(items: list[Item], side: str) -> str:
    """Return items as HTML."""
    parts = Markup("").join(_html(item, side) for item in items)
    return str(Markup('<div class="db-talk">{}</div>').format(parts))


def _html(item: Item, side: str) -> Markup:
    kind = item["kind"]
    if kind == "prompt":
        return Markup("<pre>{}</pre>").format(visible(item["text"]))
    if kind == "tools":
        return Markup("<pre>{}</pre>").format("\n".join(map(tool_text, item["tools"])))
    if kind == "conversation":
        return Markup('<p class="label">Conversation {}</p>').format(item["number"])
    if kind == "result":
        return _call(f"Result of {item['name']}", item["text"])
    if kind == "own":
        calls = Markup("").join(_call(f"Called {name}", given) for name, given in item["calls"])
        return calls + (_message("You", side, item["text"]) if item["text"] else "")
    if kind == "words":
        other = {"agent": ("Customer", "customer"), "customer": ("For you", "agent")}[side]
        return _message(*other, item["text"])
    label = item["why"] or "This conversation is over."
    return Markup('<p class="label">{}</p>').format(visible(label))


def _message(who: str, side: str, text: str) -> Markup:
    return Markup('<div class="msg {}" dir="auto"><span class="who">{}</span>{}</div>').format(side, who, visible(text))


def _call(title: str, text: str) -> Markup:
    shown = Markup('<div class="call"><details open><summary>{}</summary><pre tabindex="0">{}</pre></details></div>')
    return shown.format(visible(title), visible(spread(text)))
