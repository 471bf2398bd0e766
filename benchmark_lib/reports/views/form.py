"""The form of a view: which columns stand under which heading, and how they are rounded."""

PERCENT, UNIT = "%", "unit"

Views = dict[str, dict[str, tuple[str, ...]]]
"""By view: each heading with its column; (number, low, high), (number, of, total), and last how it is rounded
(decimals, `PERCENT`, or `UNIT`: as the scale of the row's metric requires)."""
