"""How to cite Deskbench, and what a paper says about how its numbers were made: read from the run files, never typed."""

import re
from collections.abc import Iterable
from typing import Any

from ..analysis.frames import Results
from ..analysis.panels import partial_words
from ..analysis.tables.leaderboard import RESTS_ON_INTENTS
from ..errors import BadInput
from ..experiment.demo import EXAMPLE, HARD_EXAMPLE
from ..experiment.manifest import hashed
from ..latex import breakable
from ..project import code_version, project_folder
from ..records import OWN, TRIED_AGAIN, is_played, source_of
from ..runfile import RunFile
from ..textfiles import read_yaml

TITLE = "Deskbench: an open benchmark of language models as customer-support agents"
AUTHORS = "The Deskbench authors"
YEAR = 2026

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
ADDRESS = re.compile(r"https?://[^\s{}\\]+")


def bibtex(url: str | None = None) -> str:
    """The entry for a bibliography of BibTeX, with the version and the source of this installation.

    Parameters
    ----------
    url : str, optional
        Where the reader of the paper finds this version; by default `repository-code` or `url` of CITATION.cff.

    Raises
    ------
    BadInput
        For anything but a web address.
    """
    here, url = code_version(), url or _address()
    if url and not ADDRESS.fullmatch(url):
        raise BadInput(f"{url!r} is not a web address: give one that begins with https://")
    lines = [
        "@misc{deskbench,",
        f"  title  = {{{{{TITLE}}}}},",
        f"  author = {{{{{AUTHORS}}}}},",
        f"  year   = {{{YEAR}}},",
        *([f"  url    = {{{url}}},"] if url else []),
        f"  note   = {{Version {here['version']}, source {here['hash'][:12]}, MIT licence}}",
        "}",
        *([] if url else ["% No address yet: bibtex(url=...) adds one, or repository-code in CITATION.cff."]),
    ]
    return "\n".join(lines)


def _address() -> str:
    """The address in the CITATION.cff of this project, if it has one; a paper's own folder may hold a file of that name too."""
    path = project_folder() / "CITATION.cff"
    told = read_yaml(path) if path.exists() else None
    if not isinstance(told, dict) or told.get("title") != TITLE:
        return ""
    return str(told.get("repository-code") or told.get("url") or "")


def methods(results: Results, *, latex: bool = False) -> str:
    """The methods paragraph of a paper: models and settings, dates, cases, trials, customer, versions and estimators of these runs.

    Parameters
    ----------
    results : Results
        The runs of the paper and no others.
    latex : bool
        Whether it is written for LaTeX, where a bare ``_`` or ``%`` breaks the paragraph.

    Returns
    -------
    str
        Plain text, or LaTeX; every number in it comes from the manifests and records of the runs.

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
        _cases(results, manifests),
        _customer(manifests),
        *_settings(results, manifests),
        _versions(results, manifests),
        "Tables for print and figures give the mean over cases of the mean over trials; the boards of the terminal, the notebooks and the site lead with "
        "the median over trials; where both stand, each is named. The 95 % "
        "intervals of shares come from a hierarchical beta-binomial model (exact where all or none succeed) and those of other means from a cluster-robust t, both clustered by intent "
        "where a bucket has six intents or more; the interval of the count of unsafe actions is for the traps that were run, from a hierarchical "
        f"beta-binomial posterior. {RESTS_ON_INTENTS}. All scores but those marked as judged were read from the record of calls, messages and the final state of the desk. "
        "No composite score was computed.",
    ]
    text = " ".join(sentences)
    return rf"{{\sloppy {breakable(text)}\par}}" if latex else text


def _models(results: Results, manifests: dict[str, dict[str, Any]]) -> str:
    days = days_played(manifests.values())
    when = "on days that are not recorded"
    if days:
        when = f"on {days[0]}" if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
    conversations = len(results.conversations)
    kinds: dict[str, list[str]] = {}
    for run_id, m in manifests.items():
        kinds.setdefault(source_of(m), []).append(run_id)
    what = [
        f"{_counted_kind(source, [manifests[i]['model'] for i in runs])} ({_listed(results.entries[i] for i in runs)})"
        for source, runs in sorted(kinds.items())
    ]
    ours = any(map(is_played, kinds)) and {RunFile(path).run_id for path in (EXAMPLE, HARD_EXAMPLE)} & manifests.keys()
    who = (
        f" The example that ships, {_listed(results.entries[i] for i in ours)}, is a strong language model that played blind."
        if ours
        else ""
    )
    return f"With Deskbench we ran {_listed(what)} {when}; {conversations:,} conversations were recorded.{who}"


def _counted_kind(source: str, models: list[str]) -> str:
    """``2 language models in 3 runs``: one name at several settings is one model."""
    own = len(set(models))
    runs = f" in {len(models)} runs" if len(models) > own else ""
    chair = f" in the agent's chair instead of a hosted model, recorded as {source}" if is_played(source) else ""
    return f"{own} {_kind(source)}{'s' * (own != 1)}{runs}{chair}"


def days_played(manifests: Iterable[dict[str, Any]]) -> list[str]:
    """The days on which sessions of some runs began or ended, the first one first; the day a run was made where it names none."""
    days: list[str] = []
    for manifest in manifests:
        told = [str(session.get(end)) for session in manifest.get("sessions") or () for end in ("started", "ended")]
        known = [day[:10] for day in told if DAY.match(day)]
        days += known or [day[:10] for day in [str(manifest.get("created"))] if DAY.match(day)]
    return sorted(days)


def _kind(source: str) -> str:
    kinds = {"model": "language model", "scripted": "scripted agent", OWN: "own agent", "imported": "imported run"}
    return kinds.get(source, "player")


def _cases(results: Results, manifests: dict[str, dict[str, Any]]) -> str:
    """Store, number of cases and trials, with the hash of the set; and of runs that are not whole, how far they are."""
    told: dict[tuple[str, int, str, str], list[str]] = {}
    for run_id, m in manifests.items():
        planned = set(m["planned"].values())
        trials = f"{min(planned)}" if len(planned) == 1 else f"{min(planned)} to {max(planned)}" if planned else "no"
        key = (str(m["inputs"]["store"]["value"]), len(m["cases"]), trials, hashed(m["cases"]))
        told.setdefault(key, []).append(results.entries[run_id])
    sets = {
        f"{n} cases of {store} (hash of the set of cases {digest}), {trials} {'trial' if trials == '1' else 'trials'} each": runs
        for (store, n, trials, digest), runs in told.items()
    }
    ended = results.conversations[~results.conversations["ended_by"].isin(TRIED_AGAIN)].groupby("run_id").size()
    partial = [
        f"{results.entries[run_id]} has {words}"
        for run_id, m in manifests.items()
        if (words := partial_words(ended.get(run_id, 0), sum(m["planned"].values())))
    ]
    whose = "its" if len(partial) == 1 else "their"
    lacking = f" Of the planned conversations {_listed(partial)}, so {whose} numbers are partial." if partial else ""
    return f"The runs were planned to cover {_by_run(sets)}.{lacking}"


def _customer(manifests: dict[str, dict[str, Any]]) -> str:
    customers, messages = _inputs(manifests, "customer"), _inputs(manifests, "messages")
    players = sorted("scripted" if c == "scripted" else f"played by {c}" for c in customers)
    who = f"The customer was {_listed(players)}"
    if customers == ["scripted"]:
        who = "The customer was scripted: it follows an agenda and no language model is involved"
    return f"{who}; it sent at most {_listed(messages)} messages, its first email among them."


def _inputs(manifests: dict[str, dict[str, Any]], name: str) -> list[str]:
    """The distinct values of one input of some runs, sorted."""
    return sorted({str(m["inputs"].get(name, {}).get("value", "unknown")) for m in manifests.values()})


def _settings(results: Results, manifests: dict[str, dict[str, Any]]) -> list[str]:
    """Settings and seeds of what was reached at an endpoint, model by model where they differ; a scripted agent or a player has none."""
    told: dict[str, list[str]] = {}
    for run_id, m in manifests.items():
        if m["source"] == "model":
            settings = m["inputs"].get("settings", {}).get("value") or {}
            seed = m["inputs"].get("seed", {}).get("value")
            words = ", ".join(f"{name} {value}" for name, value in sorted(_flat(settings))) or "the endpoint's defaults"
            told.setdefault(f"{words}; seed {seed}", []).append(results.entries[run_id])
    parts = _by_run(told)
    return [*([f"Settings: {parts}."] if parts else []), f"System prompt: {_listed(_inputs(manifests, 'prompt'))}."]


def _by_run(told: dict[str, list[str]]) -> str:
    """What holds for runs, in words; of which runs where it is not the same for all."""
    if len(told) < 2:
        return next(iter(told), "")
    ordered = sorted(told.items(), key=lambda group: len(group[1]))
    names = [_listed(group) for _, group in ordered[:-1]] + [
        f"the other {n} runs" if (n := len(ordered[-1][1])) > 1 else "the other run"
    ]
    return "; ".join(f"{words} for {whose}" for (words, _), whose in zip(ordered, names, strict=True))


def _flat(settings: Any, name: str = "") -> list[tuple[str, Any]]:
    """Nested settings as pairs of a dotted name and a value."""
    if not isinstance(settings, dict):
        return [(name, settings)]
    return [pair for key, inner in settings.items() for pair in _flat(inner, f"{name}.{key}" if name else str(key))]


def _versions(results: Results, manifests: dict[str, dict[str, Any]]) -> str:
    told: dict[str, list[str]] = {}
    for run_id, m in manifests.items():
        codes = {(s["code"]["version"], s["code"]["hash"][:12]) for s in m["sessions"] if "code" in s}
        words = (
            _listed(f"{number} (source {digest})" for number, digest in sorted(codes))
            or "a version that is not recorded"
        )
        told.setdefault(words, []).append(results.entries[run_id])
    frame = results.conversations
    scored = sorted({str(s) for s in frame["scoring"].dropna()}) if "scoring" in frame else []
    here = code_version()
    return (
        f"Versions: run with Deskbench {_by_run(told)}; scored with {_listed(scored) or 'no scoring version'}, analysed with Deskbench {here['version']} "
        f"(source {here['hash'][:12]})."
    )


def _listed(names: Iterable[str]) -> str:
    """``a, b and c``."""
    every = list(names)
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)
