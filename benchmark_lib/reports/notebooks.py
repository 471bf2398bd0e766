"""Running a notebook with papermill, strictly: an unknown parameter is refused, and the executed copy goes to reports/."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path
from typing import Any

from ..errors import BadInput


def run_notebook(
    notebook: str | Path, parameters: dict[str, Any] | None = None, *, out: str | Path | None = None, html: bool = True, folder: str | Path = "reports"
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
        Write an HTML page beside it.
    folder : path
        Where the copies go.

    Returns
    -------
    Path
        The HTML page, or the executed notebook.

    Raises
    ------
    BadInput
        For an unknown notebook or parameter, or when a cell failed; the executed copy then shows where.
    """
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from ..experiment.manifest import in_project, slug

    path = _find(notebook)
    _check_parameters(path, parameters or {})
    folder = in_project(folder)
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / f"{slug(out or path.stem)}.ipynb"
    try:
        papermill.execute_notebook(str(path), str(done), parameters=parameters or {}, progress_bar=False, kernel_name="python3",
                                   extra_arguments=["--IPKernelApp.log_level=ERROR"], log_output=False)  # fmt: skip
    except PapermillExecutionError as error:
        raise BadInput(f"{path.name} stopped at cell {error.exec_count}: {error.ename}: {error.evalue}; see {done}") from None
    return _to_html(done) if html else done


def _find(notebook: str | Path) -> Path:
    from ..experiment.manifest import project_folder

    shelf = project_folder() / "notebooks"
    for path in (Path(notebook), shelf / notebook, shelf / f"{notebook}.ipynb"):
        if path.is_file():
            return path
    known = sorted(p.stem for p in shelf.glob("*.ipynb"))
    near = difflib.get_close_matches(str(notebook), known, 1, 0.3)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}" if known else "call it in the project's folder"
    raise BadInput(f"no notebook {str(notebook)!r}: {hint}")


def _check_parameters(path: Path, parameters: dict[str, Any]) -> None:
    known = parameter_names(path)
    for name in parameters:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise BadInput(f"{path.name} has no parameter {name!r}: {hint}")


def parameter_names(path: Path) -> list[str]:
    """The names that the notebook's parameters cell sets."""
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    tagged = [c.source for c in cells if "parameters" in c.metadata.get("tags", [])]
    return [t.id for source in tagged for n in ast.parse(source).body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]


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
    """The executed notebook with what its widgets show as plain HTML; a page with live widgets would load code over the network."""
    import nbformat

    book = nbformat.read(notebook, as_version=4)
    book.metadata.pop("widgets", None)
    for cell in book.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    return book
