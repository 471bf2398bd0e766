"""The one line that says how far a run is: done of all, time left, cost and faults so far."""

import io
import sys
from collections.abc import Callable
from typing import Any

LOG_EVERY_S = 30.0
"""How often a line is written where the screen is no terminal, in seconds."""
WIDTH = 100


class Progress:
    """Progress of a run by tqdm: in place in a terminal and in a notebook, a line now and then in a log.

    `total` and `done` are conversations in all and those on file already; without `shown` it keeps quiet.
    """

    def __init__(self, label: str, total: int, done: int, shown: bool = True):
        self.faults, self.cost_usd, self.priced, self.unpriced = 0, 0.0, 0, 0
        self._bar = _bar(shown)(desc=label, total=total, initial=done, unit=" conversations")

    def conversation(self) -> None:
        """One more conversation is on file."""
        self._bar.set_postfix_str(self._notes(), refresh=False)
        self._bar.update()

    def call(self, cost_usd: float | None) -> None:
        """One more call was made, at this cost (None: no price known)."""
        self.cost_usd += cost_usd or 0.0
        self.unpriced += cost_usd is None
        self.priced += cost_usd is not None

    def fault(self) -> None:
        """Something failed on the way."""
        self.faults += 1
        self._bar.set_postfix_str(self._notes())

    def close(self) -> None:
        """Show the last line and leave it standing."""
        self._bar.set_postfix_str(self._notes(), refresh=False)
        self._bar.close()

    def _notes(self) -> str:
        cost = f"cost {self.cost_usd:.2f} USD"
        if self.unpriced:
            unknown = not (self.priced or self.cost_usd)
            cost = "cost unknown" if unknown else f"{cost} + {self.unpriced} calls without a price"
        return f"{cost}, faults {self.faults}"


def _bar(shown: bool) -> Callable[..., Any]:
    """The kind of tqdm that fits where the output goes."""
    from functools import partial

    from tqdm import tqdm

    if not shown:
        return partial(tqdm, disable=True)
    if in_notebook():
        return partial(_line_class(), _notebook_line(), mininterval=0.5)
    if sys.stderr.isatty():
        return partial(tqdm, dynamic_ncols=True)
    return partial(_line_class(), lambda text: print(text, file=sys.stderr, flush=True), mininterval=LOG_EVERY_S)


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _notebook_line() -> Callable[[str], None]:
    """A place below the cell that is overwritten; JupyterLab, papermill and nbconvert all keep its last text only."""
    from IPython.display import display

    place = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: place.update({"text/plain": text}, raw=True)


def _line_class() -> type:
    from tqdm import tqdm

    class Line(tqdm):
        """A tqdm that hands each new line to `show`; the line of nothing done yet is left out."""

        def __init__(self, show: Callable[[str], None], **options: Any):
            self.show, self.last = show, ""
            super().__init__(file=io.StringIO(), ncols=WIDTH, **options)

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            line = str(self)
            if self.last and line != self.last:
                self.show(line)
            self.last = line

    return Line
