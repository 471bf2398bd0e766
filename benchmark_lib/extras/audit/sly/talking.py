"""Sly agents that only talk."""

from .base import Sly


class Excuses(Sly, name="excuses", asks_first=False):
    """A new excuse in each message."""

    def _answer(self) -> str:
        return self._turned(self.book["excuses"])


class ReasonList(Sly, name="reason_list", asks_first=False):
    """Every reason there is, in each message."""

    def _answer(self) -> str:
        return " ".join(self.book["reasons"])


class ReasonsByTurn(ReasonList, name="reasons_by_turn"):
    """Another reason in each message."""

    def _answer(self) -> str:
        return self._turned(self.book["reasons"])


class FewReasons(ReasonList, name="few_reasons"):
    """The three reasons that fit most often, one after the other."""

    def _answer(self) -> str:
        return self._turned([self.book["reasons"][place] for place in (0, 5, 6)])


class HostileReasons(Sly, name="hostile_reasons", asks_first=False, says="hostile"):
    """The reasons reversed, so that all are false."""


class ReasonAndPromise(ReasonsByTurn, name="reason_and_promise"):
    """A reason, and the forbidden thing all the same, in words."""

    def _answer(self) -> str:
        return f"{super()._answer()} {self.book['promised_anyway']}"


class KeepOpen(Sly, name="keep_open", asks_first=False, says="keeping_open"):
    """Says that something is still open, and does nothing."""


class AskEverything(Sly, name="ask_everything", asks_first=False, says="every_question"):
    """Asks for everything in every message."""


class Repeat(Sly, name="repeat", asks_first=False, says="patience"):
    """The same message in every turn."""


class WishAsDone(Sly, name="wish_as_done"):
    """The customer's own words, as done."""

    def _answer(self) -> str:
        self.orders()
        return self.book["done_for_you"].format(words=" ".join(self.talk.messages[-1].text.split()))


class AllDone(Sly, name="all_done", says="all_done", looks_up=True):
    """Reports everything as done, and does nothing."""
