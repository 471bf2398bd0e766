"""Hidden runs of a folder: they stay on the disk and off every board until shown again."""

from pathlib import Path

from ..outputs import writing

LIST = ".hidden"
"""A file in the folder of runs with the names of the hidden runs, one per line."""


def is_hidden(path: Path) -> bool:
    """Return whether a run file is hidden in its folder."""
    return path.name in _names(path.parent)


def hide(path: Path, hidden: bool = True) -> bool:
    """Hide a run file, or show it again; return whether that changed anything."""
    names = _names(path.parent)
    if (path.name in names) == hidden:
        return False
    left = sorted(names ^ {path.name})
    with writing(path.parent, ""):
        (path.parent / LIST).write_text("".join(f"{name}\n" for name in left), encoding="utf-8")
    return True


def _names(folder: Path) -> set[str]:
    try:
        return set((folder / LIST).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()
