"""Build a site from run files: a folder of static pages that open from disk, offline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...analysis.frames import Results, load_results
from ...analysis.tables.answers import Stakes
from ...experiment.summary import progress_bar
from ...project import PACKAGE, code_version, in_project
from .content import Content
from .files import MARK, Folder, site_folder
from .front import hard_view
from .models import ModelPage, model_page
from .pages import Pages, written_beside

__all__ = ["ModelPage", "Site", "build_site", "model_page"]

ASSETS = PACKAGE / "reports" / "assets"


@dataclass(frozen=True)
class Site:
    """A site that was built: files by kind, their size in bytes, and its conversations."""

    path: Path
    pages: dict[str, int]
    bytes: int
    transcripts: int

    @property
    def index(self) -> Path:
        """The page to open first."""
        return self.path / "index.html"


def build_site(
    results: Results | Any = None,
    out: str | Path = "reports/site",
    *,
    published: bool = False,
    stakes: Stakes | None = None,
    stores: Sequence[Path] = (),
    progress: bool = False,
) -> Site:
    """Build the site of some runs.

    Parameters
    ----------
    results : Results, run files or folders, optional
        ``data/runs`` if nothing is given.
    out : path
        The folder; an existing site in it is replaced once the new one is complete.
    published : bool
        Also show the figures of the published benchmark, in their own block.
    stakes : Stakes, optional
        Stakes for the answers and the advice on scope; by default the ``stakes.yaml`` in the folder of a store.
    stores : sequence of Path
        Folders of stores that are kept elsewhere, see `Content`.
    progress : bool
        Show the pages done and the time left.

    Raises
    ------
    BadInput
        If there is no run, or `out` contains anything other than a site.
    """
    if not isinstance(results, Results):
        results = load_results(*([] if results is None else [results]))
    out = in_project(out)
    with site_folder(out) as folder:
        pages = _pages(results, folder, published, stakes, stores)
        bar = progress_bar(progress)
        with written_beside(pages) as scripts, bar(desc="site", total=sum(map(len, pages)), unit=" pages") as shown:
            for part in pages:
                for asset in sorted(set(ASSETS.iterdir()) - {ASSETS / "lab.js"}):  # the host of the list in JupyterLab
                    part.folder.write(f"assets/{asset.name}", asset.read_bytes(), "asset")
                part.write_all(shown.update)
            for size, conversations in scripts:
                folder.count(size, "transcripts")
                shown.update(conversations)
        runs = sorted({run for part in pages for run in part.content.manifests})
        mark = {"deskbench_site": 1, "code": code_version(), "runs": runs, "pages": dict(folder.pages)}
        folder.write(MARK, orjson.dumps(mark, option=orjson.OPT_INDENT_2), "asset")
    return Site(out, dict(folder.pages), folder.size, sum(len(part.talks) for part in pages))


def _pages(results: Results, folder: Folder, published: bool, stakes: Any, stores: Any) -> list[Pages]:
    # Runs of a hard set have pages of their own, unless there are no others.
    played = results.hard
    apart = played if played.runs and played.runs != results.runs and not played.conversations.empty else None
    of_core = apart is not None or not played.runs  # published figures cover the core set
    content = Content(results, published and of_core, stakes, stores)
    own = Content(apart, False, stakes=stakes, stores=stores) if apart is not None else content
    hard = hard_view(own.results) if played.runs else None
    pages = [Pages(content, folder, hard, of_hard_set=apart is None and hard is not None)]
    return pages if apart is None else [*pages, Pages(own, folder.within("hard"), hard, of_hard_set=True)]
