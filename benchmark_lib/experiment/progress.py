"""Progress line of a run: conversations done, time left, cost and faults so far."""

import io
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

LOG_EVERY_S = 30.0
"""Seconds between two lines if the output is not a terminal."""
WIDTH = 100


class Progress:
    """Progress of a run, shown by tqdm: a line updated in place, or occasional lines in a log.

    `total` counts all conversations and `done` those already on file; print nothing unless `shown`.
    """

    def __init__(self, label: str, total: int, done: int, shown: bool = True):
        self.faults, self.cost_usd, self.priced, self.unpriced = 0, 0.0, 0, 0
        self._bar = progress_bar(shown)(desc=label, total=total, initial=done, unit=" conversations")

    def conversation(self) -> None:
        """Count one more conversation on file."""
        self._bar.set_postfix_str(self._notes(), refresh=False)
        self._bar.update()

    def call(self, cost_usd: float | None) -> None:
        """Count one more call at this cost (None: no price known)."""
        self.cost_usd += cost_usd or 0.0
        self.unpriced += cost_usd is None
        self.priced += cost_usd is not None

    def fault(self) -> None:
        """Count one more fault."""
        self.faults += 1
        self._bar.set_postfix_str(self._notes())

    def close(self) -> None:
        """Show the final line and keep it on the screen."""
        self._bar.set_postfix_str(self._notes(), refresh=False)
        self._bar.close()

    def _notes(self) -> str:
        cost = f"cost {self.cost_usd:.2f} USD"
        if self.unpriced:
            unknown = not (self.priced or self.cost_usd)
            cost = "cost unknown" if unknown else f"{cost} + {self.unpriced} calls without a price"
        return f"{cost}, faults {self.faults}"


def progress_bar(shown: bool) -> Callable[..., Any]:
    """Return the kind of tqdm that fits the output."""
    from tqdm import tqdm

    class Lines(tqdm):
        # passes each new line to `show`, except the first, which shows no progress yet
        def __init__(self, show: Callable[[str], None], **options: Any):
            self.show, self.last = show, ""
            super().__init__(file=io.StringIO(), ncols=WIDTH, **options)

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            line = str(self)
            if self.last and line != self.last:
                self.show(line)
            self.last = line

    if not shown:
        return partial(tqdm, disable=True)
    if in_notebook():  # JupyterLab, papermill and nbconvert all keep only the last text of this display
        from IPython.display import display

        place = display({"text/plain": ""}, raw=True, display_id=True)
        return partial(Lines, lambda text: place.update({"text/plain": text}, raw=True), mininterval=0.5)
    if sys.stderr.isatty():
        return partial(tqdm, dynamic_ncols=True)
    return partial(Lines, lambda text: print(text, file=sys.stderr, flush=True), mininterval=LOG_EVERY_S)


def in_notebook() -> bool:
    """Return whether this code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"
