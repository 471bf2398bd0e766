"""Check worked examples in a store's articles: recompute every sum that states its result."""

import re
from collections.abc import Iterator
from fractions import Fraction
from math import floor, prod

NUMBER = r"\d+(?:\.\d+)?"
COUNTED = re.compile(rf"({NUMBER}(?: [x/+-] {NUMBER})+) = ({NUMBER})(\.{{3}})?(?:, so ({NUMBER}))?")
TOGETHER = re.compile(rf"((?:{NUMBER}(?: USD)?, )*{NUMBER}(?: USD)? and {NUMBER})(?: USD)?, together ({NUMBER})")


def wrong_sums(text: str) -> Iterator[str]:
    """Yield every sum in a text whose result is wrong, with the right result.

    It parses sums such as ``3.00 x 2 / 4 = 1.50`` and ``1.00 USD and 2.00 USD, together 3.00``. A result
    before three dots may be truncated; ``so 1.50`` after it is the rounded result, halves up.
    """
    for found in COUNTED.finditer(text):
        exact = _value(found[1])
        cut = floor(exact * 10 ** _decimals(found[2])) / Fraction(10 ** _decimals(found[2]))
        if Fraction(found[2]) != (cut if found[3] else exact):
            yield f"{found[0]}: {found[1]} is {float(exact):.6g}"
        if found[4] and Fraction(found[4]) != _rounded(exact, _decimals(found[4])):
            yield f"{found[0]}: rounded it is {float(_rounded(exact, _decimals(found[4]))):.2f}"
    for found in TOGETHER.finditer(text):
        both = sum(map(Fraction, re.findall(NUMBER, found[1])))
        if Fraction(found[2]) != both:
            yield f"{found[0]}: together it is {float(both):.2f}"


def _value(expression: str) -> Fraction:
    """Return the value of numbers joined by x, /, + and -."""
    total = Fraction()
    for term in re.split(r" (?=[+-] )", expression):
        factors = re.findall(rf"(/?) ?({NUMBER})", term)
        value = prod((1 / Fraction(n) if by else Fraction(n) for by, n in factors), start=Fraction(1))
        total += -value if term.startswith("- ") else value
    return total


def _decimals(number: str) -> int:
    return len(number.partition(".")[2])


def _rounded(value: Fraction, decimals: int) -> Fraction:
    return Fraction(floor(value * 10**decimals + Fraction(1, 2)), 10**decimals)
