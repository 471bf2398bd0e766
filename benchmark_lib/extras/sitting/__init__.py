"""People, or programs over a local port, in the agent's or the customer's chair: ``deskbench sit``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .widget import ChairWidget

__all__ = ["sit"]


def sit(cases: str = "all", *, chair: str = "agent", trials: int = 1, **options: Any) -> ChairWidget:
    """A chair as a widget of a notebook: you answer where a model would.

    Nothing is played, and no file is written, before *Begin* is pressed. What was sent is kept, and the same call goes
    on from there.

    Parameters
    ----------
    cases : str
        As for `Experiment`; their order is shuffled.
    chair : str
        ``agent`` or ``customer``.
    **options
        ``name``, ``source``, ``other``, ``base_url`` and ``shuffle`` as `benchmark_lib.extras.sitting.session.seated`
        takes them,
        and further options of the run, such as ``out`` or ``store``.

    Raises
    ------
    BadInput
        For a chair, name or source that cannot be used.
    """
    from .session import seated
    from .widget import ChairWidget

    return ChairWidget(partial(seated, chair, cases=cases, trials=trials, **options))
