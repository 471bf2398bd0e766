"""Define the scales that turn a metric's mean over cases into its value and text."""

from dataclasses import dataclass

from .written import DASH, digits_for, missing, rounded


@dataclass(frozen=True)
class Scale:
    """One scale."""

    name: str
    """``share``, ``count`` or ``mean``, as in the `unit` column of tables."""
    words: str
    """Description of a value for the method page."""
    axis: str
    """Text after the title on an axis, with ``{cases}`` for the kind of case."""
    sign: str = ""
    points: str = ""
    """Text after a value, and after a difference between two values."""
    times: int = 1
    """Factor from a value to the number that is written: 100 for a share."""
    digits: int = 1
    brief_digits: int = 1
    """Number of decimals in a table, and in a sentence."""
    bounds: tuple[float, float] | None = None
    """Least and greatest value of one case; None if values are unbounded."""
    summed: bool = False
    """True if a value is the sum over the cases of a trial, not their mean. Sums are comparable only between equal
    numbers of cases."""
    noun: str = "case"
    """Noun for the denominator."""
    unit: str = ""
    """Unit of a number: messages, USD."""

    @property
    def money(self) -> bool:
        """Return whether values are sums of money; a cost is no measure of quality."""
        return self.unit == "USD"

    @property
    def top(self) -> float | None:
        """Return the greatest number that can be written; None if it has no limit."""
        return self.times * self.bounds[1] if self.bounds and not self.summed else None

    def factor(self, n: float) -> float:
        """Return the factor from a mean over `n` cases, or its bound, to the value shown."""
        return n if self.summed else 1

    def written(self, value: float | None, *, brief: bool = False) -> str:
        """Return a value as text (`brief` in a sentence), ``8.5%`` or ``3``; a dash if missing."""
        text = self.mean(value, brief=brief)
        return text.removesuffix(".0") if self.summed else text

    def mean(self, value: float | None, *, brief: bool = False) -> str:
        """Return a mean as text; unlike `written`, keep the decimals of a count, ``3.0``."""
        if value is None or missing(value):
            return DASH
        digits = self.brief_digits if brief else self.digits if value else min(self.digits, 1)
        return rounded(self.times * value, digits) + self.sign

    def interval(self, low: float | None, high: float | None, *, brief: bool = False) -> str:
        """Return an interval as text, ``5.1 to 12.9%``; empty if an end is missing."""
        if low is None or high is None or missing(low) or missing(high):
            return ""
        return f"{' to '.join(self.ends(low, high, brief=brief))}{self.sign}"

    def with_interval(self, value: float | None, low: float | None, high: float | None) -> str:
        """Return a mean with its interval, if there is one: ``8.5% (5.1 to 12.9%)``."""
        interval = self.interval(low, high)
        return f"{self.mean(value)} ({interval})" if interval else self.mean(value)

    def ends(self, low: float, high: float, *, brief: bool = False) -> tuple[str, str]:
        """Return the ends of an interval as text, to two significant digits of its width."""
        digits = digits_for(self.times * low, self.times * high, self.brief_digits if brief else self.digits)
        return rounded(self.times * low, digits), rounded(self.times * high, digits)


SHARE = Scale(
    "share", "share of conversations", "% of {cases} cases",
    sign="%", points=" points", times=100, brief_digits=0, bounds=(0.0, 1.0),
)  # fmt: skip
COUNT = Scale("count", "count over the traps of a trial", "of the traps", bounds=(0.0, 1.0), summed=True, noun="trap")


def number(unit: str, *, digits: int = 1) -> Scale:
    """Return the unbounded scale of a mean per conversation in some unit."""
    return Scale(
        "mean", f"mean per conversation, in {unit}", "per conversation", digits=digits, brief_digits=digits, unit=unit
    )
