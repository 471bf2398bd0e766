"""People, or programs over a local port, in the agent's or the customer's chair: ``deskbench sit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .widget import ChairWidget

__all__ = ["sit"]


def sit(
    cases: str = "all",
    *,
    chair: str = "agent",
    name: str = "human",
    source: str = "human",
    other: str | None = None,
    base_url: str | None = None,
    shuffle: int = 0,
    trials: int = 1,
    **options: Any,
) -> ChairWidget:
    """A chair as a widget of a notebook: you answer where a model would.

    Nothing is played, and no file is written, before *Begin* is pressed; what was sent is kept, and the same call goes
    on from there.

    Parameters
    ----------
    cases : str
        As for `Experiment`.
    chair : str
        ``agent`` or ``customer``.
    name, source : str
        What you are called in tables, and what the run file says of who played.
    other, base_url : str, optional
        Who has the other side, and where: a model as the customer, scripted by default, or the agent, by default the
        scripted oracle.
    shuffle : int
        Seeds the order of the cases.
    trials : int
        Trials per case.
    **options
        Further parameters of `Experiment`, such as `out` or `store`.

    Raises
    ------
    BadInput
        For a chair, name or source that cannot be used.
    """
    from .session import Sitting
    from .widget import ChairWidget

    given = {**options, "cases": cases, "trials": trials}
    return ChairWidget(Sitting(chair, 1, name, source, shuffle, other, base_url, given))
