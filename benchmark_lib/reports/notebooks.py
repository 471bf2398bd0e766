"""Running a notebook with papermill, strictly.

An unknown parameter is refused, and the executed copy goes to reports/.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import BadInput
from ..outputs import writing

RUN_MODEL, LEADERBOARD = "01_run_model", "02_leaderboard"
_LINK = re.compile(r"\]\((\w+\.ipynb)\)")
_HREF = re.compile(r'href="(?:[^"]*/)?(\w+)\.ipynb"')


def run_notebook(
    notebook: str | Path,
    parameters: dict[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    html: bool = True,
    folder: str | Path = "reports",
) -> Path:
    """Execute a notebook with parameters.

    Parameters
    ----------
    notebook : path
        The notebook, or its name in ``notebooks/``.
    parameters : dict, optional
        Values for names of its parameters cell.
    out : str, optional
        Name of the executed copy without suffix; the notebook's own by default.
    html : bool
        Also write an HTML page next to it.
    folder : path
        Where the copies go.

    Returns
    -------
    Path
        The HTML page, or the executed notebook.

    Raises
    ------
    BadInput
        For an unknown notebook or parameter, or if a cell failed; the executed copy then shows where.
    """
    from ..project import in_project, slug

    path = _find(notebook)
    _check_parameters(path, parameters or {})
    _check_secrets(parameters or {})
    folder = in_project(folder)
    done = folder / f"{slug(out or path.stem)}.ipynb"
    with writing(folder, ""):
        folder.mkdir(parents=True, exist_ok=True)
        _execute(path, done, parameters or {})
        _relink(done, path.parent)
        if not html:
            return done
        page = _to_html(done)
        link_pages(page)
        return page


def run_every_notebook() -> Iterator[Path]:
    """Execute every notebook with its defaults, two at a time, over what lies in ``data/runs``; yields the pages as they are done.

    The notebook that runs a model plays a slice of the cases; the leaderboard is linked to and not run, as ``deskbench
    demo`` makes it.
    """
    from concurrent.futures import ThreadPoolExecutor

    from ..project import project_folder, slug

    few = {"cases": "slice", "trials": 1, "out": str(project_folder() / "data" / "runs" / "old" / "slice.deskbench")}
    pages = [run_notebook(RUN_MODEL, few)]
    yield pages[0]
    with ThreadPoolExecutor(2) as pool:
        for page in pool.map(run_notebook, [name for name in notebook_names() if name not in (RUN_MODEL, LEADERBOARD)]):
            pages.append(page)
            yield page
    link_pages(*pages, pages[0].with_name(f"{slug(LEADERBOARD)}.html"))


def notebook_names() -> list[str]:
    """The names of the notebooks, those of the project and those that came with Deskbench."""
    return sorted({path.stem for shelf in _shelves() for path in shelf.glob("*.ipynb")})


def _shelves() -> list[Path]:
    from ..project import NOTEBOOKS, project_folder

    return [project_folder() / "notebooks", NOTEBOOKS]


def _execute(path: Path, done: Path, parameters: dict[str, Any]) -> None:
    import papermill
    from papermill.exceptions import PapermillExecutionError

    try:
        papermill.execute_notebook(
            str(path),
            str(done),
            parameters=parameters,
            progress_bar=False,
            kernel_name="python3",
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
            log_output=False,
        )
    except PapermillExecutionError as error:
        raise BadInput(
            f"{path.name} stopped at cell {error.exec_count}: {error.ename}: {error.evalue}; see {done}"
        ) from None


def link_pages(*pages: Path) -> None:
    """Make links between notebooks lead to their pages if those are in the same folder, and otherwise to the notebook."""
    from ..project import slug

    for page in pages:
        there = {p.stem for p in page.parent.glob("*.html")}
        text = page.read_text(encoding="utf-8")
        linked = _HREF.sub(
            lambda m, there=there: f'href="{slug(m.group(1))}.html"' if slug(m.group(1)) in there else m.group(), text
        )
        if linked != text:
            page.write_text(linked, encoding="utf-8")


def _relink(done: Path, shelf: Path) -> None:
    """Make the executed copy's links to other notebooks lead back to their folder."""
    import nbformat

    book = nbformat.read(done, as_version=4)
    up = quote(Path(os.path.relpath(shelf, done.parent)).as_posix())
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(rf"]({up}/\1)", cell.source)
    nbformat.write(book, done)


def _find(notebook: str | Path) -> Path:
    for path in (Path(notebook), *(shelf / name for shelf in _shelves() for name in (notebook, f"{notebook}.ipynb"))):
        with suppress(OSError):  # a name longer than any file's
            if path.is_file():
                return path
    known = notebook_names()
    near = difflib.get_close_matches(str(notebook), known, 1, 0.3)
    hint = (
        f"did you mean {near[0]}?"
        if near
        else f"there are {', '.join(known)}"
        if known
        else "run this in the project folder"
    )
    raise BadInput(f"no notebook {str(notebook)!r}: {hint}")


def _check_parameters(path: Path, parameters: dict[str, Any]) -> None:
    known = parameter_names(path)
    for name in parameters:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise BadInput(f"{path.name} has no parameter {name!r}: {hint}")


def _check_secrets(value: Any, name: str = "") -> None:
    """Refuse what everyone could read in the executed copy: addresses with a password or query, and keys."""
    from ..endpoint import scrub
    from ..endpoint.address import check_base_url

    if isinstance(value, dict):
        for key, inner in value.items():
            _check_secrets(inner, f"{name}.{key}" if name else f"the parameter {key}")
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_secrets(inner, name)
    elif isinstance(value, str) and value and (name.endswith("base_url") or value.startswith(("http:", "https:"))):
        check_base_url(value, name)
    elif isinstance(value, str) and scrub(value) != value:
        raise BadInput(
            f"{name} holds a key and would be written into the executed notebook: put the key into an environment variable"
        )


def parameter_names(path: Path) -> list[str]:
    """The names that the notebook's parameters cell sets.

    Raises
    ------
    BadInput
        If the file is not a notebook, or its parameters cell is not Python.
    """
    import nbformat

    try:
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        tagged = [c.source for c in book.cells if "parameters" in c.metadata.get("tags", [])]
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        nbformat.ValidationError,
    ) as error:
        why = str(error).strip().split("\n")[0][:80] or type(error).__name__
        raise BadInput(f"{path} is not a notebook ({why}): give the path of an .ipynb file") from None
    try:
        return _assigned(tagged)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise BadInput(f"the parameters cell of {path} is not valid Python ({error}): correct it") from None


def _assigned(tagged: list[str]) -> list[str]:
    return [
        t.id
        for source in tagged
        for n in ast.parse(source).body
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
    ]


def _to_html(notebook: Path) -> Path:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True, embed_images=True)
    exporter.exclude_input = True
    exporter.mathjax_url = ""
    exporter.require_js_url = ""
    page, _ = exporter.from_notebook_node(_without_widgets(notebook))
    target = notebook.with_suffix(".html")
    target.write_text(page, encoding="utf-8")
    return target


def _without_widgets(notebook: Path) -> Any:
    """The executed notebook with its widgets as plain HTML.

    A page with live widgets would load code over the network.
    """
    import nbformat

    book = nbformat.read(notebook, as_version=4)
    book.metadata.pop("widgets", None)
    for cell in book.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    return book
