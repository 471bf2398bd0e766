"""Build the arms of a hard case: with the difficulty, without it, and with the deciding articles in the prompt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..store import Store
from ..store.laid import merged

CLEAN, TOLD = "clean", "told"
HANDED_OVER = "## The articles that decide this conversation"
"""Heading above the deciding articles in the prompt."""


def arms(raw: dict[str, Any], store: Store, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the cases of one entry of a file; raise `BadInput` if a family's entry has no difficulty.

    An entry whose intent is a family of the store has a clean twin, with ``clean`` merged in. It has a hard case with
    ``hard`` merged in, or one for each of its ``languages``. If ``told`` names the deciding articles, a further hard
    case has them in its prompt. Any other entry is one case.
    """
    if not isinstance(raw, dict) or raw.get("intent") not in (store.info.get("families") or {}):
        yield raw
        return
    base = {key: value for key, value in raw.items() if key not in ("hard", "languages", CLEAN)}
    base |= {"family": raw["intent"], "pair": raw.get("id")}
    harder, languages = raw.get("hard"), raw.get("languages")
    if not (harder or languages):
        raise BadInput(f"{path}: case {raw.get('id')}: nothing makes it hard: write what does under 'hard'")
    clean = {**merged(base, raw.get(CLEAN) or {}), "id": f"{raw['id']}_{CLEAN}", "arm": CLEAN}
    if clean.get("library") == "deciding":
        clean["library"] = ", ".join(raw.get("told") or ())
    yield clean
    for name, texts in (languages or {}).items():
        spoken = {"language": name} if name in store.phrases else {}
        yield {**merged(base, texts), **spoken, "id": f"{raw['id']}_{name}", "arm": "hard"}
    if harder:
        hard = {**merged(base, harder), "arm": "hard"}
        yield hard
        if raw.get("told"):
            yield {**hard, "id": f"{raw['id']}_{TOLD}", "arm": TOLD}


def prompt_of(case: Any, store: Store, prompt: str, file: Path | None = None) -> str:
    """Return the agent's prompt for a case, with the case's own policy and briefing.

    Parameters
    ----------
    prompt : str
        The prompt of every case without texts of its own.
    file : Path, optional
        Its file, if not the store's.
    """
    view = store.of(case)
    if "policy" in view.laid:
        prompt = view.prompt(file)[0]
    parts = [prompt]
    if case.briefing:
        parts.append(f"## For this conversation\n{case.briefing.strip()}")
    if case.arm == TOLD:
        passages = [f"### {a['id']} {a['title']}\n{a['text']}" for a in view.articles if a["id"] in case.told]
        parts.append("\n\n".join([HANDED_OVER, *passages]))
    return "\n\n".join(parts)
