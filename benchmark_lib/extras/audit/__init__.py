"""Audit of the case set: the oracle must pass each case, trivial and sly agents must not."""
