"""Group tickets into intents by their words, without personal data and without a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ...errors import BadInput
from ...outputs import FORMULA
from .draft_rules import first_of, slug, wording
from .tickets import read_cells, read_sheet

MOST, FAR, FEWEST = 2_000, 0.87, 2
"""Most tickets that are scrubbed and grouped, cosine distance between groups, fewest tickets of a group."""
WORD = r"(?u)\b[^\W\d_]{2,}\b"
EXAMPLES = ("example_1", "example_2", "example_3")
COLUMNS = ["id", "name", "count", "act", "queue", *EXAMPLES, "accepted"]


def table_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV by column, as people and spreadsheets save it."""
    heads, *rows = [*read_sheet(path).values()] or [[]]
    cells = ([cell[cell[:1] == "'" and cell[1:].startswith(FORMULA) :] for cell in row] for row in rows)
    return [dict(zip(map(slug, heads), row + [""] * len(heads))) for row in cells]


def read_tickets(path: Path) -> list[str]:
    """Return the texts of a CSV of tickets, each after its subject."""
    rows = read_cells(path)[0].values()
    found = (" ".join(filter(None, (row.get("subject"), row["email"]))) for row in rows if row.get("email"))
    return [*found]


def intents_of(texts: list[str]) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return a row for each group of alike tickets, and counts of what became of them.

    At most `MOST` tickets, spread over the file, are scrubbed and grouped; each other one counts with the nearest
    group. So does one in which something personal may be left, and no row shows it.
    """
    try:
        from sklearn.cluster import AgglomerativeClustering
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise BadInput("--tickets needs scikit-learn: install it with `make extras`, or omit --tickets") from None
    import numpy as np

    from benchmark_lib import Scrubber  # type: ignore[attr-defined]  # what another extra offers

    scrubber = Scrubber()
    chosen = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), MOST)).astype(int))
    done = [scrubber.texts([texts[place]]) for place in chosen]
    shown = [one.chat[0] for one in done if not one.left]
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=FEWEST, token_pattern=WORD)
    grouping = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=FAR)
    try:
        vectors = words.fit_transform(shown).toarray()
        shown = [text for text, vector in zip(shown, vectors) if vector.any()]
        vectors = vectors[vectors.any(axis=1)]
        groups = grouping.fit_predict(vectors)
    except ValueError:
        raise BadInput("the tickets share too few words to form groups: give more of them") from None
    centres = np.stack([vectors[groups == group].mean(0) for group in range(groups.max() + 1)])
    likes = words.transform(texts) @ centres.T
    counts = np.bincount(likes.argmax(1)[likes.max(1) > 0], minlength=len(centres))
    rows: list[dict[str, Any]] = []
    for group in np.argsort(-counts, kind="stable"):
        mine, lift = np.flatnonzero(groups == group), centres[group] - centres.mean(0)
        telling = [words.get_feature_names_out()[i] for i in np.argsort(-lift, kind="stable")[:3] if lift[i] > 0]
        if len(mine) >= FEWEST and telling:
            near = [shown[i] for i in mine[np.argsort(-(vectors[mine] @ centres[group]), kind="stable")[:3]]]
            row = dict.fromkeys(COLUMNS, "") | dict(zip(EXAMPLES, near))
            row |= {"id": f"{slug('_'.join(telling))}_{len(rows) + 1}", "name": ", ".join(telling), "accepted": "off"}
            act = first_of(wording()["acts"], " ".join(telling), *near)
            rows.append({**row, "count": int(counts[group]), "act": act})
    replaced = sum(sum(one.counts.values()) for one in done)
    back = sum(bool(one.left) for one in done)
    return rows, Counter(replaced=replaced, back=back, alone=len(texts) - sum(row["count"] for row in rows))
