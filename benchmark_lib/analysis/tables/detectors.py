"""How good the detectors of what was said and done are on labelled sentences, and what they found in runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...project import DATA
from ...scoring.claims import DETECTORS
from ...scoring.claims.consistency import asked_again, contradicts
from ...scoring.claims.reading import read
from ...scoring.columns import names_of
from ...scoring.metrics import Metric
from ...scoring.scales import SHARE
from ...scoring.score import Score
from ...store.world import load_store
from ...textfiles import read_yaml
from ..estimators.intervals import proportion_interval
from ..panels import conversations_of
from .headlines import per_case

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

LABELLED = DATA / "claims" / "labelled"
BLIND = DATA / "claims" / "blind.csv"
"""Precision and recall of the first patterns, written before any labelled file had been opened."""
LEAST = 0.8
"""A detector is kept off the board if the lower bound of its precision is below this in any language it claims."""
HELD_OUT = 3
"""Every third labelled sentence was held out: no pattern was written with it in view."""

SAYS: dict[str, Callable[[dict[str, Any]], set[str]]] = {
    "transfer_promise": lambda e: {"transfer"} if read(e["text"]).about("transfer") else set(),
    "done_claim": lambda e: {tool for tool, _ in read(e["text"]).about("done")},
    "commitments": lambda e: {f"{kind}_promise" for kind, _ in read(e["text"]).about("promise")},
    "leaks": lambda e: {"leak"} if read(e["text"]).about("leak") else set(),
    "asks_again": lambda e: {"again"} if asked_again(e["text"], e["given"], load_store()) else set(),
    "contradictions": lambda e: {"contradicts"} if contradicts(e["earlier"], e["text"]) else set(),
}
"""What a detector says about a labelled entry, by labelled file: a set of labels, empty for none."""


def labelled_sentences(name: str, folder: Path | str = LABELLED) -> list[dict[str, Any]]:
    """The entries of one labelled file.

    Language, text, label, near_miss, note, and whatever else its detector reads.
    """
    return read_yaml(Path(folder) / f"{name}.yaml")


def detector_table(folder: Path | str = LABELLED) -> pd.DataFrame:
    """Precision and recall of every detector that has labelled sentences, by language and part.

    Parameters
    ----------
    folder : path
        Where the labelled files are.

    Returns
    -------
    DataFrame
        detector, title, language (``all`` pools them), part (``all``, ``held out``, ``tuned on``), sentences, labelled
        (positives), right, wrong and missed, precision and recall with ``_low`` (Wilson, 95 %), and board (whether the
        detector stands on it).
    """
    rows = []
    for detector in DETECTORS.values():
        if detector.labels is None:
            continue
        counts: dict[tuple[str, str], Counter[str]] = {}
        for place, entry in enumerate(labelled_sentences(detector.labels, folder)):
            part = "held out" if place % HELD_OUT == HELD_OUT - 1 else "tuned on"
            for key in ((lang, p) for lang in (entry["language"], "all") for p in (part, "all")):
                counts.setdefault(key, Counter()).update(_judged(entry, SAYS[detector.labels](entry)))
        languages = [*detector.languages, *(["all"] if len(detector.languages) > 1 else [])]
        rows += [
            _row(detector, lang, p, counts[lang, p]) for lang in languages for p in ("all", "held out", "tuned on")
        ]
    return _frame(rows)


def blind_table(path: Path | str = BLIND) -> pd.DataFrame:
    """The same table for the first patterns, from the counts kept when the labelled files were first opened."""
    import pandas as pd

    by_labels = {d.labels: d for d in DETECTORS.values() if d.labels}
    rows = []
    for entry in pd.read_csv(path).to_dict("records"):
        counts = Counter(
            {"right": entry["tp"], "wrong": entry["fp"], "missed": entry["fn"], "labelled": entry["tp"] + entry["fn"]}
        )
        rows.append(_row(by_labels[entry["detector"]], entry["language"], entry["part"], counts))
    return _frame(rows).drop(columns=["sentences", "board"])


def unlabelled() -> pd.DataFrame:
    """Detectors without labelled sentences, which therefore stay off the board: detector, title, definition."""
    import pandas as pd

    names = ("detector", "title", "definition")
    return pd.DataFrame(
        [(d.name, d.title, d.definition) for d in DETECTORS.values() if d.labels is None], columns=names
    )


def said_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """What each detector found in runs.

    Returns
    -------
    DataFrame
        One row per entry and detector: entry, detector, title, board, conversations (with a value), abstained (or not
        applicable), found, share with ``low`` and ``high`` (of the mean over cases, clustered by intent), where found
        counts conversations with a finding.
    """
    import pandas as pd

    rows, names = [], names_of(Score)
    for entry, mine in conversations_of(results).groupby("entry", sort=True):
        for d in DETECTORS.values():
            name = names[d.column]
            flags = mine[name].astype("Float64")
            good = d.name in ("escalation_honesty", "handover_packet")
            wrong = (flags == 0) if good else (flags > 0)
            column = wrong.where(flags.notna()).astype("Float64")
            found = per_case(
                mine.assign(**{name: column}), Metric(d.name, d.title, name, None, SHARE, False, d.definition)
            )
            rows.append(
                {
                    "entry": entry,
                    "detector": d.name,
                    "title": d.title,
                    "board": not d.experimental,
                    "conversations": int(flags.notna().sum()),
                    "abstained": int(flags.isna().sum()),
                    "found": int(wrong.fillna(False).sum()),
                    "share": found.mean.estimate,
                    "low": found.mean.low,
                    "high": found.mean.high,
                }
            )
    return pd.DataFrame(rows)


def findings(results: Results) -> pd.DataFrame:
    """Every recorded finding with the sentence it quotes.

    Returns
    -------
    DataFrame
        run_id, entry, case_id, trial, detector, class, state, turn, sentence, compared_with (the index of a call, or a
        value, as text).
    """
    import pandas as pd

    names = ("run_id", "entry", "case_id", "trial", "detector", "class", "state", "turn", "sentence", "compared_with")
    rows = []
    for run, score, key in _scores(results):
        for f in score.get("findings") or ():
            rows.append(
                (
                    run.run_id,
                    *key,
                    f["detector"],
                    f["class"],
                    f["state"],
                    f["turn"],
                    f["sentence"],
                    str(f["compared_with"]),
                )
            )
    return pd.DataFrame(rows, columns=names)


def promise_table(results: Results) -> pd.DataFrame:
    """Promises by entry, class and state.

    Returns
    -------
    DataFrame
        One row per entry and class: entry, class, kept, unbacked, beyond_authority, contradicted (numbers of promises).
    """
    import pandas as pd

    counts: Counter[tuple[str, str, str]] = Counter()
    for _, score, key in _scores(results):
        for kind, states in (score.get("promises") or {}).items():
            counts.update({(key[0], kind, state): n for state, n in states.items()})
    states = ("kept", "unbacked", "beyond_authority", "contradicted")
    pairs = sorted({(entry, kind) for entry, kind, _ in counts})
    return pd.DataFrame(
        [(*pair, *(counts[*pair, s] for s in states)) for pair in pairs], columns=["entry", "class", *states]
    )


def _scores(results: Results) -> Any:
    """Each recorded run, score and (entry, case, trial)."""
    if not hasattr(results, "runs"):
        raise BadInput("findings are read from run files: pass what load_results gives, not a frame")
    for run in results.runs:
        scores = run.scores()
        for case_id, trial, record_hash, _ in run.conversations():
            if record_hash in scores:
                yield run, scores[record_hash], (results.entries[run.run_id], case_id, trial)


def _judged(entry: dict[str, Any], said: set[str]) -> dict[str, int]:
    positive = entry["label"] != "none"
    return {
        "sentences": 1,
        "labelled": int(positive),
        "right": int(entry["label"] in said),
        "wrong": len(said - {entry["label"]}),
        "missed": int(positive and entry["label"] not in said),
    }


def _row(detector: Any, language: str, part: str, counts: Counter[str]) -> dict[str, Any]:
    right, wrong, missed = counts["right"], counts["wrong"], counts["missed"]
    return {
        "detector": detector.name,
        "title": detector.title,
        "language": language,
        "part": part,
        "sentences": counts["sentences"],
        "labelled": counts["labelled"],
        "right": right,
        "wrong": wrong,
        "missed": missed,
        **_rate("precision", right, right + wrong),
        **_rate("recall", right, right + missed),
        "board": not detector.experimental,
    }


def _rate(name: str, count: int, n: int) -> dict[str, float]:
    found = proportion_interval(count, n) if n else None
    return {name: found.estimate if found else nan, f"{name}_low": found.low if found else nan}


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
