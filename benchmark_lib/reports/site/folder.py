"""Where pages are written.

Names made safe, nothing outside the folder, and a site that appears complete or not at all.
"""

import hashlib
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import BadInput
from ...outputs import folder_made, writing

MARK = "site.json"
"""The file that marks a folder as a site; a folder without it is never replaced."""


def page_name(name: str) -> str:
    """A name as part of an address: a readable slug of ASCII letters, digits and dashes, and a hash that distinguishes similar names.

    Whatever the name holds (slashes, dots, control characters, reserved names), the result is one plain file name.
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()[:200]).split("-")
    slug = "-".join(w for w in words if w)[:40].strip("-")
    return f"{slug or 'page'}-{digest}"


class Folder:
    """A folder that is being filled; counts what is written, by kind of page."""

    def __init__(self, path: Path):
        self.path = path
        self._real = os.path.realpath(path)
        self.pages: Counter[str] = Counter()
        self.bytes = 0

    def place(self, relative: str) -> Path:
        """Where a file goes; its folder is created. Raises `ValueError` if that would be outside the folder."""
        target = os.path.realpath(os.path.join(self._real, relative))
        if os.path.commonpath((target, self._real)) != self._real:
            raise ValueError(f"{relative!r} is outside the site")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return Path(target)

    def write(self, relative: str, text: str | bytes, kind: str) -> None:
        """Write one file and count it as `kind`."""
        self.count(self.put(relative, text), kind)

    def put(self, relative: str, text: str | bytes) -> int:
        """Write one file without counting it; its size in bytes."""
        return self.place(relative).write_bytes(text.encode("utf-8", "replace") if isinstance(text, str) else text)

    def count(self, size: int, kind: str) -> None:
        """Count a file of `size` bytes written at its `place`."""
        self.pages[kind] += 1
        self.bytes += size


class Subfolder:
    """A folder within a folder that is being filled; it counts as a part of it."""

    def __init__(self, folder: Folder, name: str):
        self._folder, self._name = folder, name

    def place(self, relative: str) -> Path:
        """Where a file goes, as in `Folder`."""
        return self._folder.place(f"{self._name}/{relative}")

    def write(self, relative: str, text: str | bytes, kind: str) -> None:
        """Write one file, as in `Folder`."""
        self._folder.write(f"{self._name}/{relative}", text, kind)

    def put(self, relative: str, text: str | bytes) -> int:
        """Write one file without counting it, as in `Folder`."""
        return self._folder.put(f"{self._name}/{relative}", text)

    def count(self, size: int, kind: str) -> None:
        """Count a file, as in `Folder`."""
        self._folder.count(size, kind)


@contextmanager
def site_folder(out: Path) -> Iterator[Folder]:
    """A new folder next to `out` that takes its place once everything is written.

    Raises `BadInput` if `out` exists and holds anything other than a site, or cannot be written, or the disk is full.
    """
    with writing(out):
        if out.exists() and not (out.is_dir() and ((out / MARK).is_file() or not any(out.iterdir()))):
            raise BadInput(f"{out} exists and does not hold a site: give another --out, or move it away")
    building = out.with_name(f".{secrets.token_hex(8)}.new")
    old = building.with_suffix(".old")
    with writing(out), folder_made(out.parent):
        try:
            building.mkdir()
            yield Folder(building)
            if out.exists():
                os.replace(out, old)
            os.replace(building, out)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            if old.exists() and not out.exists():
                os.replace(old, out)
            shutil.rmtree(building, ignore_errors=True)
