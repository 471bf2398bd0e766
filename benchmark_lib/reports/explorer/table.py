"""A table whose rows, headings or cells can be pressed, and that hears the keys pressed around it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t


class PressTable(anywidget.AnyWidget):
    """Cells of text; what is pressed is told to Python.

    Parameters
    ----------
    on_press : callable
        ``on_press(row, column)`` for a pressed cell, or for a whole row with the column 0.
    on_head : callable, optional
        ``on_head(column)`` for a pressed heading; rows are then pressed as a whole.
    on_key : callable, optional
        ``on_key(key)`` for one of `keys` pressed anywhere in the element of the class ``db-explorer`` around it, except
        where text is typed.
    """

    _esm = Path(__file__).with_name("table.js")
    heads = t.List(t.Unicode()).tag(sync=True)
    rows = t.List(t.List(t.Unicode())).tag(sync=True)
    numeric = t.List(t.Bool()).tag(sync=True)
    links = t.List(t.List(t.Bool())).tag(sync=True)
    selected = t.Int(-1).tag(sync=True)
    sorted_by = t.List([-1, False]).tag(sync=True)
    whole_rows = t.Bool(False).tag(sync=True)
    hears = t.List(t.Unicode()).tag(sync=True)

    def __init__(
        self,
        on_press: Callable[[int, int], None],
        on_head: Callable[[int], None] | None = None,
        on_key: Callable[[str], None] | None = None,
        keys: Sequence[str] = (),
        **traits: Any,
    ):
        super().__init__(whole_rows=on_head is not None, hears=list(keys), **traits)
        self._press, self._head, self._key = on_press, on_head, on_key
        self.on_msg(lambda _, message, buffers: self.pressed(message))

    def pressed(self, message: Any) -> None:
        """Pass on what the page tells; anything that is not of this table is ignored."""
        message = message if isinstance(message, dict) else {}
        try:
            self._pass_on(message)
        finally:
            if "key" in message:
                self.send({"heard": True})

    def _pass_on(self, message: dict[str, Any]) -> None:
        row, column, head, key = (message.get(name) for name in ("row", "column", "head", "key"))
        if isinstance(row, int) and isinstance(column, int):
            if 0 <= row < len(self.rows) and 0 <= column < len(self.heads):
                self._press(row, column)
        elif isinstance(head, int) and self._head and 0 <= head < len(self.heads):
            self._head(head)
        elif key in self.hears and self._key:
            self._key(key)

    def bring_up(self, name: str) -> None:
        """Scroll to the element of this class in the explorer."""
        self.send({"show": name, "focus": True})
