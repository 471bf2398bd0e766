"""People, or programs over a local port, act as agent or customer: ``deskbench sit``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .widget import ChairWidget

__all__ = ["sit"]


def sit(cases: str = "all", *, chair: str = "agent", trials: int = 1, **options: Any) -> ChairWidget:
    """Return a notebook widget in which you answer in place of a model.

    Nothing is played or written before you press *Begin*. Sent messages are saved; the same call resumes the session.

    Parameters
    ----------
    cases : str
        As for `Experiment`; their order is shuffled.
    chair : str
        ``agent`` or ``customer``.
    **options
        ``name``, ``source``, ``other``, ``base_url`` and ``shuffle`` as in
        `benchmark_lib.extras.sitting.session.seated`, and further options of the run, such as ``out`` or ``store``.

    Raises
    ------
    BadInput
        For an invalid chair, name or source.
    """
    from .session import seated
    from .widget import ChairWidget

    return ChairWidget(partial(seated, chair, cases=cases, trials=trials, **options))
