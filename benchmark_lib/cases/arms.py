"""The arms of a hard case: with the hard thing, without it, and with the deciding passages handed over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..store import Store
from ..store.laid import merged

CLEAN, TOLD = "clean", "told"
HANDED_OVER = "## The articles that decide this conversation"
"""Heads the passages that are handed over."""


def arms(raw: dict[str, Any], store: Store, path: Path) -> Iterator[dict[str, Any]]:
    """The cases that one entry of a file stands for.

    An entry whose intent is a family of the store stands for its clean twin (the entry as it is written, with what
    stands under ``clean`` laid over it), for the hard
    case (what stands under ``hard`` laid over it, or one for each of its ``languages``), and, where it names under
    ``told`` the articles that decide it, for the hard case with these handed over. Any other entry stands for itself.
    `BadInput` if a family's entry has nothing that makes it hard.
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
    """The agent's prompt for a case: the store's as the case's own policy fills it in, and what holds for this conversation alone.

    Parameters
    ----------
    prompt : str
        The prompt of every case that has nothing of its own.
    file : Path, optional
        Where it was read from, if not from the store.
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
