"""On what scale a metric is read.

How a mean over cases becomes what is shown, what it is out of, and how it is written.
"""

from dataclasses import dataclass

from .written import DASH, digits_for, missing, rounded


@dataclass(frozen=True)
class Scale:
    """One scale."""

    name: str
    """``share``, ``count`` or ``mean``, as the column `unit` of tables names it."""
    words: str
    """What a value is, for the method page."""
    axis: str
    """What follows the title on an axis; ``{cases}`` stands for the kind of case."""
    sign: str = ""
    points: str = ""
    """Written after a value, and after a difference of two."""
    times: int = 1
    """From a value to the number that is written: 100 for a share."""
    digits: int = 1
    brief_digits: int = 1
    """Decimals in a table, and in a sentence."""
    bounds: tuple[float, float] | None = None
    """Least and greatest value of one case; None where there are none."""
    summed: bool = False
    """Whether a value is the sum over the cases of a trial instead of their mean. Sums compare only between equal
    numbers of cases."""
    noun: str = "case"
    """What the denominator counts."""
    unit: str = ""
    """Of a number: messages, USD."""

    @property
    def money(self) -> bool:
        """Whether values are sums of money: a cost is no quality, and is unknown where a price is."""
        return self.unit == "USD"

    @property
    def top(self) -> float | None:
        """The greatest number that can be written, whatever the number of cases; None where there is none."""
        return self.times * self.bounds[1] if self.bounds and not self.summed else None

    def factor(self, n: float) -> float:
        """What a mean over `n` cases is multiplied by to be shown; also the greatest value where there are `bounds`."""
        return n if self.summed else 1

    def written(self, value: float | None, *, brief: bool = False) -> str:
        """A value as text: ``8.5 %``, ``3``, ``0.0123``; a dash where it is not defined.

        Parameters
        ----------
        brief : bool
            Whether it stands in a sentence.
        """
        text = self.mean(value, brief=brief)
        return text.removesuffix(".0") if self.summed else text

    def mean(self, value: float | None, *, brief: bool = False) -> str:
        """A mean as text: as any value, but a count keeps its decimals, ``3.0``."""
        if value is None or missing(value):
            return DASH
        digits = self.brief_digits if brief else self.digits if value else min(self.digits, 1)
        return rounded(self.times * value, digits) + self.sign

    def interval(self, low: float | None, high: float | None, *, brief: bool = False) -> str:
        """An interval as text, ``5.1 to 12.9 %``; empty where there is none."""
        if low is None or high is None or missing(low) or missing(high):
            return ""
        return f"{' to '.join(self.ends(low, high, brief=brief))}{self.sign}"

    def with_interval(self, value: float | None, low: float | None, high: float | None) -> str:
        """A mean with its own interval, ``8.5 % (5.1 to 12.9 %)``; the mean alone where there is none."""
        interval = self.interval(low, high)
        return f"{self.mean(value)} ({interval})" if interval else self.mean(value)

    def ends(self, low: float, high: float, *, brief: bool = False) -> tuple[str, str]:
        """The ends of an interval as text, with two significant digits of its width."""
        digits = digits_for(self.times * low, self.times * high, self.brief_digits if brief else self.digits)
        return rounded(self.times * low, digits), rounded(self.times * high, digits)


SHARE = Scale(
    "share",
    "share of conversations",
    "% of {cases} cases",
    sign=" %",
    points=" points",
    times=100,
    brief_digits=0,
    bounds=(0.0, 1.0),
)
COUNT = Scale("count", "count over the traps of a trial", "of the traps", bounds=(0.0, 1.0), summed=True, noun="trap")


def number(unit: str, *, digits: int = 1) -> Scale:
    """The scale of a mean per conversation in some unit, without bounds."""
    return Scale(
        "mean", f"mean per conversation, in {unit}", "per conversation", digits=digits, brief_digits=digits, unit=unit
    )
