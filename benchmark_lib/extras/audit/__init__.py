"""Audit the case set: the oracle must pass every case; trivial and sly agents must not."""
