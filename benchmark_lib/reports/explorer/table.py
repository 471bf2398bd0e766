"""A table whose cells can be pressed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t


class PressTable(anywidget.AnyWidget):
    """Cells of text; what is pressed is told to Python.

    Parameters
    ----------
    on_press : callable
        ``on_press(row, column)`` for a pressed cell.
    """

    _esm = Path(__file__).with_name("table.js")
    heads = t.List(t.Unicode()).tag(sync=True)
    rows = t.List(t.List(t.Unicode())).tag(sync=True)
    numeric = t.List(t.Bool()).tag(sync=True)
    links = t.List(t.List(t.Bool())).tag(sync=True)

    def __init__(self, on_press: Callable[[int, int], None], **traits: Any):
        super().__init__(**traits)
        self._press = on_press
        self.on_msg(lambda _, message, buffers: self.pressed(message))

    def pressed(self, message: Any) -> None:
        """Pass on which cell was pressed; anything that is not of this table is ignored."""
        message = message if isinstance(message, dict) else {}
        row, column = message.get("row"), message.get("column")
        if row in range(len(self.rows)) and column in range(len(self.heads)):
            self._press(row, column)
