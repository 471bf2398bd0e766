"""Execute notebooks with papermill: refuse unknown parameters, save copies in ``reports/``."""

import ast
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..analysis import load_results
from ..analysis.panels import NO_MODELS, panel_of
from ..analysis.query import Query
from ..endpoint import scrub
from ..endpoint.http import check_base_url
from ..errors import BadInput
from ..extension import offer
from ..project import NOTEBOOKS, in_project, project_folder, safe_name, slug, writing
from ..records import content_hash
from .html import TEXTS, render

RUN_MODEL, LEADERBOARD = "01_run_model", "02_leaderboard"
SUBJECTS = ("model", "entry", "a", "b")
SETTINGS = (
    *("base_url", "customer", "customer_base_url", "store", "prompt", "rules", "tools"),
    *("settings", "cases", "trials", "messages", "seed", "metric"),
)
"""Parameters that say how a page's model was run; like its subjects, they are part of the page's name."""
NO_NOTEBOOK = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Exceptions raised by reading a file that is not a notebook."""
KEY = ["entry", "model", "source"]
LONGEST_NAME, LONGEST_WHY, KERNEL_START_S = 160, 300, 300
_LINK = re.compile(r"\]\((\w+\.ipynb)\)")
_HEADING = re.compile(r"^# (.+)", re.M)
_HREF = re.compile(r'(href="(?:[^"]*/)?(\w+)\.ipynb")')
_WARNED = re.compile(r"^\S*ipykernel_\d+\S*:\d+: \w+: (.*\n).*\n", re.M)
"""A warning from a cell, after the cell's path in a temporary folder and before the line that caused it."""


def run_notebook(
    notebook: str | Path,
    parameters: dict[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    html: bool = True,
    folder: str | Path = "reports",
    progress: bool = False,
) -> Path:
    """Execute a notebook with parameters.

    Parameters
    ----------
    notebook : path
        The notebook, or its name in ``notebooks/``.
    parameters : dict, optional
        Values for names of its parameters cell.
    out : str, optional
        Name of the executed copy without suffix; by default that of `page_name`.
    html : bool
        Also write an HTML page next to it.
    progress : bool
        Show the cells done and the time left.

    Returns
    -------
    Path
        The HTML page, or the executed notebook.

    Raises
    ------
    BadInput
        For an unknown notebook or parameter, or if a cell failed: the executed copy then shows where.
    """
    path, folder = _find(notebook), in_project(folder)
    _check_parameters(path, parameters or {})
    parameters = {name: _plain(value, name) for name, value in (parameters or {}).items()}
    _check_secrets(parameters)
    done = folder / f"{slug(str(out)) if out else page_name(path.stem, parameters)}.ipynb"
    with writing(folder, ""):
        folder.mkdir(parents=True, exist_ok=True)
        _execute(path, done, parameters, progress)
        _relink(done, path.parent)
        if not html:
            return done
        page = _to_html(done, _whose_conversations(done, parameters), _subjects(parameters))
        link_pages(page)
        return page


def page_name(notebook: str, parameters: dict[str, Any]) -> str:
    """Return the name of an executed copy, made of its notebook, models and settings.

    ``20-model-report-gpt-5.5`` and ``01-run-model-gpt-5.5-seed-7`` never replace each other; no name is a path.
    """
    words = [safe_name(subject) for subject in _subjects(parameters)]
    given = {name: parameters[name] for name in SETTINGS if words and parameters.get(name) is not None}
    words += [f"{slug(name)}-{safe_name(str(value))}" for name, value in given.items()]
    text = "-".join([slug(notebook), *words])
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}-{content_hash(text.encode())[:6]}"


def _subjects(parameters: dict[str, Any]) -> list[str]:
    return [str(parameters[name]) for name in SUBJECTS if parameters.get(name) is not None]


def run_for_each_model(
    notebook: str | Path,
    parameters: dict[str, Any] | None = None,
    *,
    executor: str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
) -> Iterator[Path]:
    """Execute a notebook once for each model, two at a time or on a cluster; yield the pages.

    Without models, it is executed for players, scripted agents and imported runs. executor, scheduler and workers are
    as in `Experiment`; workers on other machines need the same folder at the same path.

    Raise `BadInput` if the notebook is not about one entry, or a page of a model cannot be made.
    """
    parameters = dict(parameters or {})
    path = _find(notebook)
    if "entry" not in parameter_names(path) or parameters.get("entry") is not None:
        mend = "choose a notebook with the parameter entry, and leave it unset"
        raise BadInput(f"{path.name} cannot be run for each model: {mend}")
    played = load_results(*parameters.get("runs") or ("data/runs",)).conversations.drop_duplicates("entry")
    panels = {name: panel_of(model, source) for name, model, source in played[KEY].itertuples(index=False)}
    entries = [name for name, panel in panels.items() if panel not in NO_MODELS] or [*panels]
    make = partial(_page_of, path, parameters)
    if executor is None and scheduler is None and workers is None:
        yield from _two_at_a_time(make, entries)
    else:
        spread = offer("executors", "spread")
        yield from spread(make, entries, executor=executor, scheduler=scheduler, workers=workers)


def _page_of(notebook: Path, parameters: dict[str, Any], entry: str) -> Path:
    return run_notebook(notebook, {**parameters, "entry": entry})


def _two_at_a_time(make: Callable[[str], Path], names: Iterable[str]) -> Iterator[Path]:
    # After a failure or an interrupt, no further page is started.
    pool = ThreadPoolExecutor(2)
    try:
        yield from pool.map(make, names)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def run_every_notebook() -> Iterator[Path]:
    """Execute every notebook with its defaults over ``data/runs``, two at a time; yield pages.

    The notebook that runs a model plays a slice of the cases; ``deskbench demo`` makes the leaderboard.
    """
    few = {"cases": "slice", "trials": 1, "out": str(project_folder() / "data" / "runs" / "old" / "slice.deskbench")}
    others = [name for name in notebook_names() if name not in (RUN_MODEL, LEADERBOARD)]
    pages = []
    for page in chain([run_notebook(RUN_MODEL, few)], _two_at_a_time(run_notebook, others)):
        pages.append(page)
        yield page
    link_pages(*pages, pages[0].with_name(f"{slug(LEADERBOARD)}.html"))


def notebook_names() -> list[str]:
    """Return the names of the notebooks of the project and of Deskbench."""
    return sorted({path.stem for folder in _folders() for path in folder.glob("*.ipynb")})


def _folders() -> list[Path]:
    return [project_folder() / "notebooks", NOTEBOOKS]


def _execute(path: Path, done: Path, parameters: dict[str, Any], progress: bool) -> None:
    import papermill
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError
    from papermill.log import logger

    logger.setLevel("ERROR")  # it warns of parameters it cannot parse; ours are checked
    try:
        papermill.execute_notebook(
            str(path),
            str(done),
            parameters=parameters,
            progress_bar=progress,
            kernel_name="python3",
            language="python",
            start_timeout=KERNEL_START_S,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
            log_output=False,
        )
    except PapermillExecutionError as error:
        why = " ".join("".join(c if c.isprintable() else " " for c in error.evalue).split())
        if error.ename == BadInput.__name__:  # already a sentence for the user
            done.unlink(missing_ok=True)
            raise BadInput(f"{path.name}: {why}") from None
        why = f": {why if len(why) <= LONGEST_WHY else f'{why[:LONGEST_WHY]}…'}" if why else ""
        raise BadInput(f"{path.name} stopped at cell {error.exec_count}: {error.ename}{why}; see {done}") from None
    except DeadKernelError:
        why = "its kernel died, as happens when memory runs out or a cell ends the process"
        raise BadInput(f"{path.name}: {why}; {done} shows how far it got") from None
    except (NoSuchKernel, FileNotFoundError, RuntimeError) as error:
        mend = "run `python -m ipykernel install --sys-prefix` in the environment of Deskbench"
        raise BadInput(f"{path.name}: the Jupyter kernel python3 does not start ({error}): {mend}") from None


def link_pages(*pages: Path) -> None:
    """Redirect links between notebooks to their pages, if these are in the same folder."""
    for page in pages:
        text = linked = page.read_text(encoding="utf-8")
        for address, name in set(_HREF.findall(text)):
            if page.with_name(f"{slug(name)}.html").exists():
                linked = linked.replace(address, f'href="{slug(name)}.html"')
        if linked != text:
            page.write_text(linked, encoding="utf-8")


def _relink(done: Path, folder: Path) -> None:
    import nbformat

    book = nbformat.read(done, as_version=4)
    up = quote(Path(os.path.relpath(folder, done.parent)).as_posix())
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(rf"]({up}/\1)", cell.source)
    nbformat.write(book, done)


def _find(notebook: str | Path) -> Path:
    names = (notebook, f"{notebook}.ipynb")
    for path in (Path(notebook), *(folder / name for folder in _folders() for name in names)):
        with suppress(OSError):  # the name may be too long for a file
            if path.is_file():
                return path
    known = notebook_names()
    near = difflib.get_close_matches(str(notebook), known, 1, 0.3)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise BadInput(f"no notebook {str(notebook)!r}: {hint}")


def _check_parameters(path: Path, parameters: dict[str, Any]) -> None:
    known = parameter_names(path)
    for name in parameters:
        if name not in known:
            subject = [n for n in SUBJECTS if n in known] if name in (*SUBJECTS, "models", "name") else []
            near = subject or difflib.get_close_matches(name, known, 1, 0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise BadInput(f"{path.name} has no parameter {name!r}: {hint}")


def _plain(value: Any, name: str) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    try:
        if isinstance(value, dict):
            return {str(_plain(key, name)): _plain(inner, name) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [_plain(inner, name) for inner in (value if isinstance(value, list | tuple) else sorted(value))]
        convert = getattr(value, "isoformat", None) or getattr(value, "item", None)
        if convert is not None:
            return _plain(convert(), name)
    except (RecursionError, TypeError, ValueError):
        pass
    kind = type(value).__name__
    raise BadInput(f"the parameter {name} contains a {kind}: use text, numbers, lists or mappings")


def _check_secrets(value: Any, name: str = "") -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_secrets(inner, f"{name}.{key}" if name else f"the parameter {key}")
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_secrets(inner, name)
    elif isinstance(value, str) and value and (name.endswith("base_url") or value.startswith(("http:", "https:"))):
        check_base_url(value, name)
    elif isinstance(value, str) and scrub(value) != value:
        mend = "put the key in an environment variable"
        raise BadInput(f"{name} contains a key and would be written into the executed notebook: {mend}")


def parameter_names(path: Path) -> list[str]:
    """Return the names that the notebook's parameters cell sets.

    Raise `BadInput` if the file is not a notebook, or its parameters cell is not Python.
    """
    # Skip a grammar of web addresses that takes a second to build and that no notebook needs.
    absent = {"rfc3987_syntax"} - sys.modules.keys()
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    import nbformat

    for name in absent:
        sys.modules.pop(name, None)
    try:
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        tagged = [c.source for c in book.cells if "parameters" in c.metadata.get("tags", [])]
    except (*NO_NOTEBOOK, nbformat.ValidationError) as error:
        why = str(error).strip().split("\n")[0][:80] or type(error).__name__
        raise BadInput(f"{path} is not a notebook ({why}): name an .ipynb file") from None
    try:
        nodes = [node for source in tagged for node in ast.parse(source).body]
    except (SyntaxError, ValueError, RecursionError) as error:
        raise BadInput(f"the parameters cell of {path} is not valid Python ({error}): correct it") from None
    kinds = (ast.Assign, ast.AnnAssign)
    targets = [
        t for n in nodes if isinstance(n, kinds) for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
    ]
    return [t.id for t in targets if isinstance(t, ast.Name)]


def _whose_conversations(done: Path, parameters: dict[str, Any]) -> str:
    said = TEXTS["notebook pages"]
    if not (done.parent / "site" / "transcripts.html").is_file():
        return str(said["alone"])
    about = parameters.get("entry")
    which = "all of them" if about is None else "those of this entry"
    return str(said["site"].format(which=which, listed=Query.of(entry=about).address("site")))


def _to_html(notebook: Path, where: str, subjects: Iterable[str] = ()) -> Path:
    import nbformat
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True, embed_images=True)
    exporter.exclude_input, exporter.mathjax_url, exporter.require_js_url = True, "", ""
    book = _without_widgets(notebook)
    heading = _HEADING.search("\n".join(c.source for c in book.cells if c.cell_type == "markdown"))
    book.metadata["title"] = ": ".join([heading[1] if heading else notebook.stem, *subjects])
    book.cells.insert(1, nbformat.v4.new_markdown_cell(where, id="where-conversations-are-read"))
    page, _ = exporter.from_notebook_node(book)
    themes = (Path(folder) / "static" / "theme-dark.css" for folder in exporter.template_paths)
    theme = next(path for path in themes if path.is_file()).read_text(encoding="utf-8")
    head, target = render("notebook_head.html.j2", theme=theme), notebook.with_suffix(".html")
    target.write_text(page.replace("</head>", f"{head}</head>", 1), encoding="utf-8")
    return target


def _without_widgets(notebook: Path) -> Any:
    # A page with live widgets would load code over the network.
    import nbformat

    book = nbformat.read(notebook, as_version=4)
    book.metadata.pop("widgets", None)
    for cell in book.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
            if output.get("name") == "stderr":
                output["text"] = _WARNED.sub(r"\1", output["text"])
    return book
