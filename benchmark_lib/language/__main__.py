"""Train a store's readers and the promise reader: ``make reader``."""

import sys

from . import train, train_promises, train_reasons

if __name__ == "__main__":
    from ..store import load_store

    store = load_store(sys.argv[1] if len(sys.argv) > 1 else "northline")
    print(train.write(store), train_reasons.write(store), train_promises.write(), sep="\n")
