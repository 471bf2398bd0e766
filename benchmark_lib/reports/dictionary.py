"""The data dictionary as a page, from the declarations of the columns."""

from ..analysis.dictionary import DICTIONARY

HEAD = """# Data dictionary

`load_results(...)` gives these frames. `make dictionary` writes this page from the declarations in `benchmark_lib/scoring/score.py` (the
columns of the score) and `benchmark_lib/analysis/dictionary.py` (all others). A flag is true, false or unknown; a number is NaN where it is
unknown, and so is a count."""

DOWNLOADS = {
    "conversations.csv": "As the frame, and `panel`: which panel the run belongs to, such as models or scripted agents.",
    "board.csv": "A row per entry: its panel, name, settings and versions; of each metric the median over trials under its name, "
    "the mean with its 95% interval (`_mean`, `_low`, `_high`) and the cases (`_n`), and the same without flagged customers "
    "(`_without`); the band of unsafe actions with the probability of each (`p_`).",
}
"""What the files of the site's downloads have that the frames have not."""


def dictionary_page() -> str:
    """The data dictionary as Markdown, a table for each frame."""
    parts = [HEAD]
    for frame, columns in DICTIONARY.items():
        rows = [f"| `{c.name}` | {c.kind} | {c.unit} | {c.words} |" for c in columns.values()]
        parts += [
            f"## {frame} ({len(columns)} columns)",
            "\n".join(["| column | kind | unit | meaning |", "|---|---|---|---|", *rows]),
        ]
    files = [f"- `{name}`: {words}" for name, words in DOWNLOADS.items()]
    parts += ["## Files of the site", "\n".join(files)]
    return "\n\n".join(parts) + "\n"
