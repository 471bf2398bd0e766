"""How to cite Deskbench, and what a paper says about how its numbers were made: read from the run files, never typed."""

import re
from collections.abc import Iterable
from typing import Any

from ..analysis.estimators.estimate import counted
from ..analysis.frames import Results
from ..errors import BadInput
from ..experiment.manifest import hashed
from ..project import code_version

TITLE = "Deskbench: an open benchmark of language models as customer-support agents"
AUTHORS = "The Deskbench authors"
YEAR = 2026

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def bibtex() -> str:
    """The entry for a bibliography, with the version of this installation."""
    return "\n".join(
        [
            "@software{deskbench,",
            f"  title   = {{{{{TITLE}}}}},",
            f"  author  = {{{{{AUTHORS}}}}},",
            f"  year    = {{{YEAR}}},",
            f"  version = {{{code_version()['version']}}},",
            "  license = {MIT}",
            "}",
        ]
    )


def methods(results: Results) -> str:
    """The methods paragraph of a paper: models and settings, dates, cases, trials, customer, versions and estimators of these runs.

    Parameters
    ----------
    results : Results
        The runs of the paper and no others.

    Returns
    -------
    str
        Plain text; every number in it comes from the manifests and records of the runs.

    Raises
    ------
    BadInput
        If there are no runs.
    """
    if not results.runs:
        raise BadInput("there are no runs to describe: give load_results the run files of the paper")
    manifests = {run.run_id: run.manifest for run in results.runs}
    sentences = [
        _models(results, manifests),
        _cases(manifests),
        _customer(manifests),
        _settings(results, manifests),
        _versions(results, manifests),
        "Unless stated otherwise, a reported number is the mean over cases of the mean over trials, and headlines are medians over trials. The 95 % "
        "intervals of shares come from a hierarchical beta-binomial model and those of other means from a cluster-robust t, both clustered by intent "
        "where a bucket has six intents or more; the interval of the count of unsafe actions is for the traps that were run, from a hierarchical "
        "beta-binomial posterior. All scores but those marked as judged were read from the record of calls, messages and the final state of the desk. "
        "No composite score was computed.",
    ]
    return " ".join(sentences)


def _models(results: Results, manifests: dict[str, dict[str, Any]]) -> str:
    names = [results.entries[run_id] for run_id in manifests]
    days = days_played(manifests.values())
    when = "on days that are not recorded"
    if days:
        when = f"on {days[0]}" if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
    conversations = len(results.conversations)
    kinds: dict[str, list[str]] = {}
    for m in manifests.values():
        kinds.setdefault(m["source"], []).append(m["model"])
    what = " and ".join(_counted_kind(source, models) for source, models in sorted(kinds.items()))
    return f"With Deskbench we ran {what} ({_listed(names)}) {when}; {conversations:,} conversations were recorded."


def _counted_kind(source: str, models: list[str]) -> str:
    """``2 language models in 3 runs``: one name at several settings is one model."""
    own = len(set(models))
    runs = f" in {len(models)} runs" if len(models) > own else ""
    return f"{own} {_kind(source)}{'s' * (own != 1)}{runs}"


def days_played(manifests: Iterable[dict[str, Any]]) -> list[str]:
    """The days on which sessions of some runs began or ended, the first one first; the day a run was made where it names none."""
    days: list[str] = []
    for manifest in manifests:
        told = [str(session.get(end)) for session in manifest.get("sessions") or () for end in ("started", "ended")]
        known = [day[:10] for day in told if DAY.match(day)]
        days += known or [day[:10] for day in [str(manifest.get("created"))] if DAY.match(day)]
    return sorted(days)


def _kind(source: str) -> str:
    kinds = {"model": "language model", "scripted": "scripted agent", "agent": "own agent", "imported": "imported run"}
    return kinds.get(source, f"run played by {source}")


def _cases(manifests: dict[str, dict[str, Any]]) -> str:
    """Store, number of cases and trials, with the hash of the set."""
    told: dict[tuple[str, int, str, str], int] = {}
    for m in manifests.values():
        planned = set(m["planned"].values())
        trials = f"{min(planned)}" if len(planned) == 1 else f"{min(planned)} to {max(planned)}" if planned else "no"
        key = (str(m["inputs"]["store"]["value"]), len(m["cases"]), trials, hashed(m["cases"]))
        told[key] = told.get(key, 0) + 1
    parts = [
        f"{n} cases of {store} (hash of the set of cases {digest}), {trials} {'trial' if trials == '1' else 'trials'} each"
        + (f" ({counted(runs, 'run')})" if len(told) > 1 else "")
        for (store, n, trials, digest), runs in told.items()
    ]
    return f"The runs covered {'; '.join(parts)}."


def _customer(manifests: dict[str, dict[str, Any]]) -> str:
    customers, messages = _inputs(manifests, "customer"), _inputs(manifests, "messages")
    players = sorted("scripted" if c == "scripted" else f"played by {c}" for c in customers)
    who = f"The customer was {_listed(players)}"
    if customers == ["scripted"]:
        who = "The customer was scripted: it follows an agenda and no language model is involved"
    return f"{who}; it sent at most {_listed(messages)} messages, the email included."


def _inputs(manifests: dict[str, dict[str, Any]], name: str) -> list[str]:
    """The distinct values of one input of some runs, sorted."""
    return sorted({str(m["inputs"].get(name, {}).get("value", "unknown")) for m in manifests.values()})


def _settings(results: Results, manifests: dict[str, dict[str, Any]]) -> str:
    """Settings and seeds, model by model where they differ."""
    told: dict[str, list[str]] = {}
    for run_id, m in manifests.items():
        settings = m["inputs"].get("settings", {}).get("value") or {}
        seed = m["inputs"].get("seed", {}).get("value")
        words = ", ".join(f"{name} {value}" for name, value in sorted(_flat(settings))) or "the endpoint's defaults"
        told.setdefault(f"{words}; seed {seed}", []).append(results.entries[run_id])
    parts = [words + (f" for {_listed(names)}" if len(told) > 1 else "") for words, names in told.items()]
    return f"Settings: {'; '.join(parts)}. System prompt: {_listed(_inputs(manifests, 'prompt'))}."


def _flat(settings: Any, name: str = "") -> list[tuple[str, Any]]:
    """Nested settings as pairs of a dotted name and a value."""
    if not isinstance(settings, dict):
        return [(name, settings)]
    return [pair for key, inner in settings.items() for pair in _flat(inner, f"{name}.{key}" if name else str(key))]


def _versions(results: Results, manifests: dict[str, dict[str, Any]]) -> str:
    coded = [s["code"] for m in manifests.values() for s in m["sessions"] if "code" in s]
    codes = sorted({(code["version"], code["hash"][:12]) for code in coded})
    frame = results.conversations
    scored = sorted({str(s) for s in frame["scoring"].dropna()}) if "scoring" in frame else []
    here = code_version()
    made = _listed([f"{number} (source {digest})" for number, digest in codes]) or "not recorded"
    return (
        f"Versions: run with Deskbench {made}, scored with {_listed(scored) or 'no scoring version'}, analysed with Deskbench {here['version']} "
        f"(source {here['hash'][:12]})."
    )


def _listed(names: Iterable[str]) -> str:
    """``a, b and c``."""
    every = list(names)
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)
