"""A random sample of conversations to label: the same for the same seed, size and conversations, on any machine."""

import numpy as np
import pandas as pd

from ...errors import BadInput

KEY = ["run_id", "case_id", "trial"]


def draw_sample(
    conversations: pd.DataFrame, size: int, *, seed: int = 0, strata: np.ndarray | None = None
) -> np.ndarray:
    """Draw conversations at random, without drawing one twice.

    Parameters
    ----------
    conversations : DataFrame
        With run_id, case_id and trial; their order does not matter.
    size : int
        How many; all where there are no more.
    strata : ndarray, shape (conversations,), optional
        The group of each conversation. Each group then gives the same number, as far as it has so many. Such a sample
        shows rare groups; a mean over it is not a mean over the conversations.

    Returns places in `conversations`, in the random order in which they are to be read.

    Raises `BadInput` for a size under 1 or a negative seed.
    """
    if size < 1:
        raise BadInput(f"a sample of {size} conversations cannot be drawn: give a size of 1 or more")
    if seed < 0:
        raise BadInput(f"the seed {seed} is negative: give 0 or more")
    rng = np.random.default_rng(seed)
    ordered = np.lexsort([conversations[name].to_numpy(dtype=object) for name in reversed(KEY)])
    if strata is None:
        return rng.permutation(ordered)[:size]
    groups = np.asarray(strata).astype(str)[ordered]
    queues = [list(rng.permutation(ordered[groups == name])) for name in np.unique(groups)]
    drawn: list[int] = []
    while len(drawn) < size and any(queues):
        queues = [queue for queue in queues if queue]
        for place in rng.permutation(len(queues))[: size - len(drawn)]:
            drawn.append(queues[place].pop())
    return rng.permutation(np.array(drawn, dtype=int))
