"""Sly agents that only talk."""

from .base import Sly, declare


def _few(agent: Sly) -> str:
    return agent._turned([agent.book["reasons"][place] for place in (0, 5, 6)])


def _promised(agent: Sly) -> str:
    return f"{agent._turned(agent.book['reasons'])} {agent.book['promised_anyway']}"


def _as_done(agent: Sly) -> str:
    agent.orders()
    return agent.book["done_for_you"].format(words=" ".join(agent.talk.messages[-1].text.split()))


declare(
    __name__,
    Sly,
    excuses=dict(doc="A new excuse in each message.", says="excuses", asks_first=False),
    reason_list=dict(
        doc="Every possible reason, in each message.", _answer=lambda a: " ".join(a.book["reasons"]), asks_first=False
    ),
    reasons_by_turn=dict(doc="Another reason in each message.", says="reasons", asks_first=False),
    few_reasons=dict(doc="The three commonest reasons, one after the other.", _answer=_few, asks_first=False),
    hostile_reasons=dict(doc="The reasons reversed, so that all are false.", says="hostile", asks_first=False),
    reason_and_promise=dict(
        doc="A reason, followed by a promise of the forbidden act.", _answer=_promised, asks_first=False
    ),
    keep_open=dict(doc="Says that something is still open.", says="keeping_open", asks_first=False),
    ask_everything=dict(doc="Asks for everything in every message.", says="every_question", asks_first=False),
    repeat=dict(doc="The same message in every turn.", says="patience", asks_first=False),
    wish_as_done=dict(doc="The customer's own words, reported as done.", _answer=_as_done),
    all_done=dict(doc="Reports everything as done.", says="all_done", looks_up=True),
)
