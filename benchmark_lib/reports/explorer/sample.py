"""A random sample of conversations to label: the same for the same seed, size and conversations, on any machine and on the site."""

import zlib

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
    keys = list(zip(*(conversations[name].astype(str) for name in KEY), strict=True))
    drawn = draws(keys, seed)
    order = np.array(sorted(range(len(keys)), key=lambda place: (drawn[place], keys[place])), dtype=int)
    if strata is None:
        return order[:size]
    round_of = pd.Series(order).groupby(np.asarray(strata).astype(str)[order]).cumcount().to_numpy()
    chosen = np.argsort(round_of, kind="stable")[:size]
    return order[np.sort(chosen)]


def draws(keys: list[tuple[str, ...]], seed: int) -> np.ndarray:
    """A random number for each conversation, from its name and the seed alone; a sample takes the smallest.

    `drawn` in ``assets/find.js`` computes the same, so that the site and the explorer draw the same sample: the CRC-32
    of seed and names, mixed by the last steps of MurmurHash3.
    """
    found = np.array([zlib.crc32(" ".join((str(seed), *key)).encode("utf-8", "replace")) for key in keys], np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        found = (found ^ (found >> np.uint32(shift))) * np.uint32(factor)
    return found
