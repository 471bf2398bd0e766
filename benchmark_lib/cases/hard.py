"""Make the arms of hard cases, and say what differs in how hard cases are played and scored."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..store import Store
from ..store.desk import CALLS_OF_HARD_CASES, CALLS_PER_TURN
from ..store.files import merged

HARD, CLEAN, TOLD = "hard", "clean", "told"
"""Arms of a hard case: with the difficulty, the twin without it, and with the deciding articles in the prompt. The
first is also the name of a store's hard set."""
HANDED_OVER = "## The articles that decide this conversation"
"""Heading above the deciding articles in the prompt."""


@dataclass(frozen=True)
class Terms:
    """What differs between hard cases and others, besides their texts and worlds."""

    by_failures: bool = False
    """Success is the absence of failures, whatever the bucket, and a handover must state its outcome's facts, too."""
    full_answers: bool = False
    """A full answer gives many values: no message counts as a dump, and only a rival takes a value's place."""
    computed_days: bool = False
    """A required date may follow from the store in more ways than a kind of desk lists."""
    calls_per_turn: int = CALLS_PER_TURN
    """Maximum number of an agent's tool calls before one message."""
    agrees_to_lists: bool = False
    """A customer for whom an outcome has several calls agrees to everything that the agent lists."""
    changes_its_mind: bool = False
    """A follow-up of the second message changes the request, even if it also asks for facts."""
    keeps_at_it: bool = False
    """A customer brings up its next request before it leaves, and returns once to a request that is still open."""
    wants_several_options: bool = False
    """A customer that is offered several options may want more than one of them."""
    may_stay_unproved: bool = False
    """The oracle goes on without proof of identity if repeated requests bring none."""


USUAL = Terms()
OF_HARD_CASES = Terms(
    by_failures=True, full_answers=True, computed_days=True, calls_per_turn=CALLS_OF_HARD_CASES, agrees_to_lists=True,
    changes_its_mind=True, keeps_at_it=True, wants_several_options=True, may_stay_unproved=True,
)  # fmt: skip


def arms(raw: dict[str, Any], store: Store, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the cases of one entry of a file; raise `BadInput` if its difficulty is missing.

    An entry whose intent is a family has a clean twin with ``clean`` merged in, and a hard case with ``hard`` merged in
    or one for each of its ``languages``. If ``told`` names the deciding articles, a further hard case has them in its
    prompt. Any other entry is one case.
    """
    if not isinstance(raw, dict) or raw.get("intent") not in (store.info.get("families") or {}):
        yield raw
        return
    base = {key: value for key, value in raw.items() if key not in (HARD, "languages", CLEAN)}
    base |= {"family": raw["intent"], "pair": raw.get("id")}
    harder, languages = raw.get(HARD), raw.get("languages")
    if not (harder or languages):
        raise BadInput(f"{path}: case {raw.get('id')}: nothing makes the case hard: add the difficulty under 'hard'")
    clean = {**merged(base, raw.get(CLEAN) or {}), "id": f"{raw['id']}_{CLEAN}", "arm": CLEAN}
    if clean.get("library") == "deciding":
        clean["library"] = ", ".join(raw.get("told") or ())
    yield clean
    for name, texts in (languages or {}).items():
        spoken = {"language": name} if name in store.phrases else {}
        yield {**merged(base, texts), **spoken, "id": f"{raw['id']}_{name}", "arm": HARD}
    if harder:
        hard = {**merged(base, harder), "arm": HARD}
        yield hard
        if raw.get("told"):
            yield {**hard, "id": f"{raw['id']}_{TOLD}", "arm": TOLD}


def prompt_of(case: Any, store: Store, prompt: str, file: Path | None = None) -> str:
    """Return the agent's prompt for a case, with the case's own policy and briefing.

    `prompt` is the prompt of every case without texts of its own, and `file` its file, if not the store's.
    """
    view = store.of(case)
    parts = [view.prompt(file)[0] if "policy" in view.laid else prompt]
    if case.briefing:
        parts.append(f"## For this conversation\n{case.briefing.strip()}")
    if case.arm == TOLD:
        passages = [f"### {a['id']} {a['title']}\n{a['text']}" for a in view.articles if a["id"] in case.told]
        parts.append("\n\n".join([HANDED_OVER, *passages]))
    return "\n\n".join(parts)
