"""Tables of the detectors: accuracy on planted and honest conversations, findings in runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ...analysis.cell import framed, interval
from ...analysis.estimators.intervals import proportion_interval
from ...analysis.frames import Results
from ...analysis.panels import conversations_of
from ...analysis.tables.headlines import per_case
from ...cases import load_cases
from ...errors import BadInput
from ...project import DATA
from ...scoring.columns import Score, names_of
from ...scoring.metrics import SHARE, Metric
from ...store.world import load_store
from . import DETECTORS, check_claims
from .commitments import STATES
from .planted import Planted, read_planted, read_sentences

MEASURED = DATA / "claims"
"""Folder of what `write_measured` writes and pages show."""
PLANTED = MEASURED / "planted"
"""Blind conversations, one file per part: ``tuned``, for development, and ``locked``, opened once afterwards."""
PROMISES = MEASURED / "promises"
"""Sentences with and without a promise, after calls that may keep it; visible while the patterns were made.

``first`` and ``second`` have one reply each (31 and 30 of 40 correct when first opened). ``third`` is by an author who
did not know the patterns (36 of 59 correct, 22 of 44 promises missed). In ``messages`` one reply may deny what another
promises.
"""
BLIND = MEASURED / "promises_blind.csv"
"""A table of sentences by an author who did not know the patterns (`read_sentences`); measured if present."""
PLAYED = MEASURED / "played.csv"
"""False findings in honest blind play, by detector, when each round was first evaluated."""
LEFT_OUT = MEASURED / "left_out.csv"
"""The same for the present form of rebuilt detectors, with readers trained without the round's sentences.

The detectors' patterns were made with knowledge of these rounds.
"""
LEAST_RECALL, MOST_FALSE = 0.7, 0.01
"""Requirements: recall on planted conversations, and share of honest ones with a finding."""
WORTH = (
    *("recall", "recall_low", "recall_high", "planted"),
    *("precision", "precision_low", "precision_high", "alarms", "false", "honest"),
)
"""Columns of `claims_table` on the detector's own accuracy."""


def detector_table(folder: Path | str = PLANTED) -> pd.DataFrame:
    """Measure every detector on conversations with a planted fault, and on honest ones.

    Parameters
    ----------
    folder : path
        Folder of the files of planted conversations; each file is one part.

    Returns
    -------
    DataFrame
        One row per part, detector and language (``all`` pools them): part, detector, title, language, planted, found,
        recall, honest (nothing planted), false (honest ones with a finding), false_share, alarms (found plus false),
        precision. Each share has its ends, such as ``recall_low`` and ``recall_high`` (Wilson, 95%). Precision depends
        on the share of faulty conversations; here, it is that of this material.
    """
    rows = []
    for (part, name, language), seen in _tallied(_files(folder), _judged):
        alarms = seen["found"] + seen["false"]
        row = {
            "part": part,
            "detector": name,
            "title": DETECTORS[name].title,
            "language": language,
            "planted": seen["planted"],
            "found": seen["found"],
            **_rate("recall", seen["found"], seen["planted"]),
            "honest": seen["honest"],
            "false": seen["false"],
            **_rate("false_share", seen["false"], seen["honest"]),
            "alarms": alarms,
            **_rate("precision", seen["found"], alarms),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _rate(name: str, count: int, n: int) -> dict[str, float]:
    return interval(proportion_interval(count, n), name, f"{name}_")


def _files(folder: Path | str) -> dict[str, Path]:
    return {path.stem: path for path in Path(folder).glob("*.jsonl")}


Place = tuple[str, str, str]
"""A part, the name of what was counted, and a language or ``all``."""


def _tallied(files: dict[str, Path], judged: Callable[..., Any]) -> list[tuple[Place, Counter[str]]]:
    """Count the results of `judged` in each file."""
    store = load_store()
    cases = {case.id: case for case in load_cases(store)}
    counts: dict[Place, Counter[str]] = defaultdict(Counter)
    for part, path in files.items():
        read = read_sentences if path.suffix == ".csv" else read_planted
        for planted in read(path, cases, store):
            record = planted.conversation
            found = judged(planted, check_claims(record, cases[record.case_id], store))
            for name, seen in found.items():
                for language in (planted.language, "all"):
                    counts[part, name, language].update(seen)
    return sorted(counts.items())


def write_measured(folder: Path | str = MEASURED) -> None:
    """Measure detectors and promises, and write ``detectors.csv`` and ``promises.csv``."""
    for name, measure in (("detectors", detector_table), ("promises", promise_quality)):
        measure().to_csv(Path(folder) / f"{name}.csv", index=False, float_format="%.6f", lineterminator="\n")


def measured(name: str = "detectors", folder: Path | str = MEASURED) -> pd.DataFrame:
    """Return what ``make detectors`` last measured: ``detectors`` or ``promises``."""
    return pd.read_csv(Path(folder) / f"{name}.csv")


def measured_by_detector(part: str = "locked") -> pd.DataFrame:
    """Return each detector's definition and accuracy on one part, all languages together.

    Returns
    -------
    DataFrame
        The columns of `detector_table` without part and language, and in addition: definition; languages; since (the
        first round of blind play evaluated with its present form); played (honest conversations from then on);
        played_false (those with a false finding at the first evaluation); played_share with ``played_share_low`` and
        ``played_share_high`` (Wilson, 95%); ``reaches``. The last is True if recall is at least `LEAST_RECALL`, and at
        most `MOST_FALSE` of the honest conversations (written and played) have a false finding.
    """
    table = measured()
    pooled = (table["part"] == part) & (table["language"] == "all")
    table = table[pooled].drop(columns=["part", "language"])
    table = table.merge(_played(), on="detector")
    named = table["detector"].map(DETECTORS)
    false = (table["false"] + table["played_false"]) / (table["honest"] + table["played"])
    return table.assign(
        definition=named.map(lambda d: d.definition),
        languages=named.map(lambda d: ", ".join(d.languages) or "any"),
        reaches=(table["recall"] >= LEAST_RECALL) & (false <= MOST_FALSE),
    ).reset_index(drop=True)


def _played() -> pd.DataFrame:
    rounds, rows = pd.read_csv(PLAYED), []
    for name, detector in DETECTORS.items():
        read = rounds[(rounds["round"] >= detector.since) & rounds[name].notna()]
        n, false = int(read["conversations"].sum()), int(read[name].sum())
        row = {"detector": name, "since": detector.since, "played": n, "played_false": false}
        rows.append(row | _rate("played_share", false, n))
    return pd.DataFrame(rows)


def rebuilt_in_words() -> str:
    """Describe rebuilt detectors: false findings of earlier forms and of the present one."""
    rounds, left_out = pd.read_csv(PLAYED), pd.read_csv(LEFT_OUT)
    texts = []
    for name in left_out.columns.drop(["round", "conversations"]):
        before = rounds[rounds["round"] < DETECTORS[name].since]
        past = before[[name, "conversations"]].sum().astype(int)
        now = left_out[[name, "conversations"]].sum().astype(int)
        ends = left_out["round"].min(), left_out["round"].max()
        texts.append(REBUILT.format(DETECTORS[name].title.lower(), *past, *now, *ends))
    return " and ".join(texts)


REBUILT = "{} (before {} of {}, now {} of {} in rounds {} to {})"


def promise_quality(folder: Path | str = PROMISES, blind: Path | str = BLIND) -> pd.DataFrame:
    """Measure how often the class and the state of a promise match their labels.

    Parameters
    ----------
    folder : path
        Folder of the files of labelled sentences; each file is one part.
    blind : path
        A table of labelled sentences, the part ``blind``; omitted if missing.

    Returns
    -------
    DataFrame
        One row per part and language (``all`` pools them): part, language, sentences, right (both class and state, and
        no other promise found), share with ``low`` and ``high`` (Wilson, 95%), missed (promises not found), plain
        (sentences without a promise), alarmed (plain sentences with a found promise).
    """
    files = _files(folder) | ({"blind": Path(blind)} if Path(blind).is_file() else {})
    rows = []
    for (part, _, language), seen in _tallied(files, _read_right):
        row = {
            "part": part,
            "language": language,
            "sentences": seen["sentences"],
            "right": seen["right"],
            **interval(proportion_interval(seen["right"], seen["sentences"]), "share"),
            "missed": seen["missed"],
            "plain": seen["plain"],
            "alarmed": seen["alarmed"],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _read_right(planted: Planted, claims: dict[str, Any]) -> dict[str, dict[str, int]]:
    read = {f"{f['class']}:{f['state']}" for f in claims["commitments"]} or {"none"}
    plain, silent = planted.kind == "none", read == {"none"}
    seen = {
        "sentences": 1,
        "right": read == {planted.kind},
        "missed": not plain and silent,
        "plain": plain,
        "alarmed": plain and not silent,
    }
    return {"promise": seen}


def _judged(planted: Planted, claims: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return the result of each detector in one conversation."""
    fired = {(f["detector"], f["turn"]) for f in claims["findings"]}
    if not planted.findings:
        alarmed = {name for name, _ in fired}
        return {name: {"honest": 1, "false": int(name in alarmed)} for name in DETECTORS}
    wanted = [(name, turn) for turn, name in planted.findings.items()]
    return {name: {"planted": 1, "found": int((name, turn) in fired)} for name, turn in wanted}


def claims_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return the findings of each detector in runs.

    Returns
    -------
    DataFrame
        One row per entry and detector: entry, detector, title, conversations (with a value), abstained (or not
        applicable), found (conversations with a finding), share with ``low`` and ``high`` (of the mean over cases,
        clustered by intent). Also the detector's own accuracy on the locked part of the planted conversations: recall
        and precision with their intervals (Wilson, 95%), planted, alarms, false, honest.
    """
    rows, names = [], names_of(Score)
    worth = {row["detector"]: row for row in measured_by_detector().to_dict("records")}
    for entry, talks in conversations_of(results).groupby("entry", sort=True):
        for d in DETECTORS.values():
            name = names[d.column]
            flags = talks[name].astype("Float64")
            good = d.name in ("escalation_honesty", "handover_packet")
            wrong = (flags == 0) if good else (flags > 0)
            column = wrong.where(flags.notna()).astype("Float64")
            metric = Metric(d.name, d.title, name, None, SHARE, False, d.definition)
            rate = per_case(talks[["case_id", "trial", "intent"]].assign(**{name: column}), metric)
            row = {
                "entry": entry,
                "detector": d.name,
                "title": d.title,
                "conversations": int(flags.notna().sum()),
                "abstained": int(flags.isna().sum()),
                "found": int(wrong.fillna(False).sum()),
                **interval(rate.mean, "share"),
                **{name: worth[d.name][name] for name in WORTH},
            }
            rows.append(row)
    return pd.DataFrame(rows)


def findings(results: Results) -> pd.DataFrame:
    """Return every recorded finding with the sentence it quotes.

    Returns
    -------
    DataFrame
        run_id, entry, case_id, trial, detector, class, state, turn, sentence, compared_with (``call #1`` for the first
        call, or a value; may be empty).
    """
    return _listed(results, "findings", "detector class state turn sentence")


def promise_ledger(results: Results) -> pd.DataFrame:
    """Return every promise in every conversation, kept ones too, with the deciding evidence.

    Returns
    -------
    DataFrame
        run_id, entry, case_id, trial, turn, class, state, sentence, compared_with (``call #1`` for the first, or the
        rule it breaks; may be empty).
    """
    return _listed(results, "commitments", "turn class state sentence")


def _listed(results: Results, what: str, columns: str) -> pd.DataFrame:
    """Return the entries of a list in the scores, one per row."""
    rows = []
    for run_id, key, score in _scores(results):
        for f in score.get(what) or ():
            value = f["compared_with"]
            compared = "" if value is None else f"call #{value + 1}" if isinstance(value, int) else value
            rows.append((run_id, *key, *(f[name] for name in columns.split()), compared))
    return framed(rows, f"run_id entry case_id trial {columns} compared_with")


def promise_table(results: Results) -> pd.DataFrame:
    """Count promises by entry, class and state.

    Returns
    -------
    DataFrame
        One row per entry and class: entry, class, kept, unbacked, beyond_authority, contradicted (numbers of promises).
    """
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for _, (entry, *_), score in _scores(results):
        for kind, states in (score.get("promises") or {}).items():
            counts[entry, kind].update(states)
    rows = [(*pair, *(seen[state] for state in STATES)) for pair, seen in sorted(counts.items())]
    return framed(rows, " ".join(["entry class", *STATES]))


def _scores(results: Results) -> Iterator[tuple[str, tuple[str, str, int], dict[str, Any]]]:
    """Yield run_id, (entry, case, trial) and each recorded score."""
    if not hasattr(results, "runs"):
        raise BadInput("findings are read from run files: pass the result of load_results, not a frame")
    for run in results.runs:
        scores = run.scores()
        for case_id, trial, record_hash, _ in run.conversations():
            if record_hash in scores:
                yield run.run_id, (results.entries[run.run_id], case_id, trial), scores[record_hash]


def quality() -> dict[str, Any]:
    """Return the data on detectors for pages: accuracy, goals, rebuilt detectors."""
    return {
        "detectors": measured_by_detector().to_dict("records"),
        "promises": measured("promises").query("language == 'all'").to_dict("records"),
        "rebuilt": rebuilt_in_words(),
        "least_recall": LEAST_RECALL,
        "most_false": MOST_FALSE,
    }
