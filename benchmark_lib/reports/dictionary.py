"""The data dictionary as a page, from the declarations of the columns."""

from ..analysis.dictionary import DICTIONARY

HEAD = """# Data dictionary

`load_results(...)` gives these frames. `make dictionary` writes this page from the declarations in `benchmark_lib/scoring/score.py` (the
columns of the score) and `benchmark_lib/analysis/dictionary.py` (all others). A flag is true, false or unknown; a number is NaN where it is
unknown, and so is a count."""


def dictionary_page() -> str:
    """The data dictionary as Markdown, a table for each frame."""
    parts = [HEAD]
    for frame, columns in DICTIONARY.items():
        rows = [f"| `{c.name}` | {c.kind} | {c.unit} | {c.words} |" for c in columns.values()]
        parts += [
            f"## {frame} ({len(columns)} columns)",
            "\n".join(["| column | kind | unit | meaning |", "|---|---|---|---|", *rows]),
        ]
    return "\n\n".join(parts) + "\n"
