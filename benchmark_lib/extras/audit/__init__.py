"""The proof of the case set: an oracle that must pass each case, trivial and sly agents that must not, and the sums in articles."""
