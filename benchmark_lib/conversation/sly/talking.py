"""Sly agents that only talk."""

from .base import Sly


class Excuses(Sly):
    """One excuse after another."""

    asks_first = False

    def answer(self) -> str:
        """The next excuse."""
        excuses = self.book["excuses"]
        return excuses[self.round % len(excuses)]


class ReasonList(Sly):
    """Every reason there is, in each message."""

    asks_first = False

    def answer(self) -> str:
        """The list."""
        return " ".join(self.book["reasons"])


class ReasonsByTurn(ReasonList):
    """Another reason in each message."""

    def answer(self) -> str:
        """The next reason."""
        reasons = self.book["reasons"]
        return reasons[self.round % len(reasons)]


class FewReasons(ReasonList):
    """The three reasons that fit most often, one after the other."""

    def answer(self) -> str:
        """The next of three."""
        return self.book["reasons"][(0, 5, 6)[self.round % 3]]


class HostileReasons(ReasonList):
    """The reasons turned round, so that none of them holds."""

    def answer(self) -> str:
        """None of the reasons, in their words."""
        return self.book["hostile"]


class ReasonAndPromise(ReasonList):
    """A reason, and the forbidden thing all the same, in words."""

    def answer(self) -> str:
        """A refusal that takes itself back."""
        return f"{self.book['reasons'][self.round % len(self.book['reasons'])]} {self.book['promised_anyway']}"


class KeepOpen(ReasonList):
    """Says that something is still open, whatever it is, and does nothing."""

    def answer(self) -> str:
        """The open step."""
        return self.book["keeping_open"]


class AskEverything(Sly):
    """Asks for everything in every message."""

    asks_first = False

    def answer(self) -> str:
        """All questions."""
        return self.book["every_question"]


class Repeat(Sly):
    """One and the same message."""

    asks_first = False

    def answer(self) -> str:
        """The message."""
        return self.book["patience"]


class WishAsDone(Sly):
    """The customer's own words, as done."""

    def answer(self) -> str:
        """The wish, reported."""
        self.orders()
        wish = " ".join(self.talk.messages[-1].text.split())
        return self.book["done_for_you"].format(words=wish)


class AllDone(Sly):
    """Reports everything as done, and does nothing."""

    def answer(self) -> str:
        """The report."""
        self.orders()
        return self.book["all_done"]
