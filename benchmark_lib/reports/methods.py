"""Cite Deskbench, and write the methods paragraph of a paper (words: `methods.txt.j2`)."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from ..analysis.entries import flat_settings, own_prompt
from ..analysis.frames import Results
from ..analysis.panels import partial_words
from ..analysis.tables.pairs import chosen_cases
from ..errors import BadInput
from ..experiment.demo import EXAMPLE, HARD_EXAMPLE
from ..experiment.manifest import hashed
from ..latex import breakable
from ..project import code_version, project_folder
from ..records import OWN, TRIED_AGAIN, is_played, source_of
from ..runfile import RunFile
from ..scoring.written import counted, in_words
from ..textfiles import read_yaml
from .html import plain_text

TITLE = "Deskbench: an open benchmark of language models as customer-support agents"
AUTHORS = "The Deskbench authors"
YEAR = 2026

NOUNS = {"model": "language model", "scripted": "scripted agent", OWN: "own agent", "imported": "imported run"}
DEFAULTS = "the endpoint's defaults"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
ADDRESS = re.compile(r"https?://[^\s{}\\]+")


def bibtex(url: str | None = None) -> str:
    """Return the BibTeX entry, with the version and the source of this installation.

    `url` is where a reader finds this version, by default `repository-code` or `url` of CITATION.cff.

    Raises
    ------
    BadInput
        For anything but a web address.
    """
    # A paper's own folder may contain a CITATION.cff, too.
    path = project_folder() / "CITATION.cff"
    citation = read_yaml(path) if path.exists() else None
    ours = citation if isinstance(citation, dict) and citation.get("title") == TITLE else {}
    url = url or str(ours.get("repository-code") or ours.get("url") or "")
    if url and not ADDRESS.fullmatch(url):
        raise BadInput(f"{url!r} is not a web address: use one that begins with https://")
    return plain_text("citation.bib.j2", title=TITLE, author=AUTHORS, year=YEAR, url=url, here=code_version()).rstrip()


def methods(results: Results, *, latex: bool = False) -> str:
    """Return the methods paragraph of a paper.

    Every number in it comes from the manifests and records of `results`, which must be the paper's runs only. With
    `latex` it is escaped for LaTeX, where a bare ``_`` or ``%`` breaks the paragraph.

    Raises
    ------
    BadInput
        If there are no runs.
    """
    if not results.runs:
        raise BadInput("there are no runs to describe: pass the paper's run files to load_results")
    manifests, frame = {run.run_id: run.manifest for run in results.runs}, results.conversations
    ended = frame[~frame["ended_by"].isin(TRIED_AGAIN)].groupby("run_id").size()
    partial = {run: partial_words(ended.get(run, 0), sum(m["planned"].values())) for run, m in manifests.items()}
    played = any(is_played(source_of(m)) for m in manifests.values())
    ours = {RunFile(path).run_id for path in (EXAMPLE, HARD_EXAMPLE)} & manifests.keys() if played else set()
    hosted = {run: m for run, m in manifests.items() if m["source"] == "model"}
    text = plain_text(
        "methods.txt.j2",
        kinds=_kinds(results, manifests),
        days=days_played(manifests.values()),
        conversations=len(frame),
        examples=[results.entries[run] for run in ours],
        sets=_by_run(results, manifests, _set),
        partial=[f"{results.entries[run]} has {words}" for run, words in partial.items() if words],
        customers=_inputs(manifests, "customer"),
        messages=_inputs(manifests, "messages"),
        endpoints=_by_run(results, hosted, _endpoints),
        settings=_by_run(results, hosted, _settings),
        seeds=_inputs(hosted, "seed"),
        prompts=_by_run(results, manifests, _prompt),
        versions=_by_run(results, manifests, _versions),
        scored=sorted({str(s) for s in frame["scoring"].dropna()}) if "scoring" in frame else [],
        here=code_version(),
        judged=len(results.verdicts) > 0,
        listed=lambda names: in_words(list(names)) if names else "",
    )
    text = " ".join(text.split())
    cited = breakable(text).replace("With Deskbench,", r"With Deskbench~\cite{deskbench},", 1)
    return rf"{{\sloppy {cited}\par}}" if latex else text


def _kinds(results: Results, manifests: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    # A name with several settings counts as one model.
    runs_of: dict[str, list[str]] = defaultdict(list)
    for run, manifest in manifests.items():
        runs_of[source_of(manifest)].append(run)
    return [
        {
            "source": source,
            "played": is_played(source),
            "noun": NOUNS.get(source, "player"),
            "models": len({manifests[run]["model"] for run in runs}),
            "runs": len(runs),
            "entries": [results.entries[run] for run in runs],
        }
        for source, runs in sorted(runs_of.items())
    ]


def days_played(manifests: Iterable[dict[str, Any]]) -> list[str]:
    """Return the days, sorted, on which sessions of runs began or ended, or a run was created."""
    days: list[str] = []
    for manifest in manifests:
        ends = [session.get(end) for session in manifest.get("sessions") or () for end in ("started", "ended")]
        known, made = (
            [str(day)[:10] for day in some if DAY.match(str(day))] for some in (ends, [manifest.get("created")])
        )
        days += known or made
    return sorted(days)


def _set(manifest: dict[str, Any]) -> str:
    planned = sorted(set(manifest["planned"].values()))
    trials = " to ".join(map(str, dict.fromkeys([*planned[:1], *planned[-1:]]))) or "no"
    store, cases = manifest["inputs"]["store"]["value"], manifest["cases"]
    noun = "trial" if trials == "1" else "trials"
    played = chosen_cases(manifest) or counted(len(cases), "case")
    return f"{played} of {store} (hash of the set of cases {hashed(cases)}), {trials} {noun} each"


def _endpoints(manifest: dict[str, Any]) -> str:
    sides = [side for s in manifest["sessions"] for side in s.get("endpoints", {}).values()]
    asked = {side.get("base_url") for side in sides} - {None}
    return in_words(sorted(asked) or "an endpoint that is not recorded")


def _prompt(manifest: dict[str, Any]) -> str:
    return own_prompt(manifest) or _inputs({"": manifest}, "prompt")[0]


def _settings(manifest: dict[str, Any]) -> str:
    settings = manifest["inputs"].get("settings", {}).get("value") or {}
    return in_words([f"{name} {value}" for name, value in flat_settings(settings)] or DEFAULTS)


def _versions(manifest: dict[str, Any]) -> str:
    codes = {f"{s['code']['version']} (source {s['code']['hash'][:12]})" for s in manifest["sessions"] if "code" in s}
    return in_words(sorted(codes)) if codes else "a version that is not recorded"


def _inputs(manifests: dict[str, dict[str, Any]], name: str) -> list[str]:
    return sorted({str(m["inputs"].get(name, {}).get("value", "unknown")) for m in manifests.values()})


def _by_run(
    results: Results, manifests: dict[str, dict[str, Any]], words_of: Callable[[dict[str, Any]], str]
) -> list[tuple[str, str]]:
    # The commonest text comes last; a text that all runs share names none.
    runs_of: dict[str, list[str]] = defaultdict(list)
    for run, manifest in manifests.items():
        runs_of[words_of(manifest)].append(results.entries[run])
    if len(runs_of) < 2:
        return [(text, "") for text in runs_of]
    *rare, (usual, rest) = sorted(runs_of.items(), key=lambda group: len(group[1]))
    others = f"the other {len(rest)} runs" if len(rest) > 1 else "the other run"
    return [*((text, in_words(group)) for text, group in rare), (usual, others)]
