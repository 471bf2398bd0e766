"""JupyterLab in a real browser.

The transcripts notebook is opened, run, filtered, read and labelled; nothing hostile runs.
"""

import asyncio
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
import pytest
from browser import open_browser, open_page
from hostile import FLAG, MODELS, write_hostile_runs
from made_runs import made_run
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from test_explorer import hostile_rows

from benchmark_lib import Experiment
from benchmark_lib.reports.explorer import read_labels
from benchmark_lib.reports.explorer.widgets import PAGE

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "21_transcripts.ipynb"
KNOWN = ("set_or_remove_dark_class", "/lsp/status")
"""Page errors that are not ours: itables throws the first when it is set up for a whole notebook; where the package jupyter-lsp is there without its
extension of the server, the page asks for the second in vain."""
SHOW_HOSTILE = """from benchmark_lib.reports.fetch import Shelf
from benchmark_lib.reports.transcript import Html

made = results.conversations.query("run_id == 'made-1'")[["run_id", "case_id", "trial"]]
Html("".join(Shelf(results).dossier(*key).html(css=False) for key in made.itertuples(index=False)))
"""
ROWS = ".db-table tbody tr"
FOREIGN = '.db-talk :is(script, img, svg, math, iframe, a:not([href^="#"]), form, object, embed, input, select, link, meta, base, template, video, audio)'
"""Elements that no transcript has of itself."""
FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)
QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


class Lab:
    """A JupyterLab on a folder, and what its server says of its kernels."""

    def __init__(self, folder, port, token):
        self.folder, self.base, self.token = folder, f"http://127.0.0.1:{port}", token

    def ask(self, path):
        with urllib.request.urlopen(f"{self.base}/api/{path}?token={self.token}", timeout=30) as answer:
            return json.load(answer)

    def address(self, notebook):
        return f"{self.base}/lab/tree/{notebook}?reset&token={self.token}"

    def is_up(self):
        try:
            return bool(self.ask("status"))
        except OSError:
            return False

    def has_idle_kernel(self):
        kernels = [s["kernel"] for s in self.ask("sessions")]
        return any(k["connections"] >= 1 and k["execution_state"] == "idle" for k in kernels)


def until(holds, what, page=None):
    """Wait for something that no event tells of."""
    for _ in range(300):
        if holds():
            return
        page.wait_for_timeout(200) if page else time.sleep(0.2)
    raise AssertionError(f"waited in vain for {what}")


@contextmanager
def running_lab(folder):
    """A JupyterLab server of its own, with nothing of the machine's settings, ended at the end."""
    own = folder / "jupyter"
    overrides = own / "JUPYTER_CONFIG_DIR" / "labconfig"
    overrides.mkdir(parents=True)
    (overrides / "default_setting_overrides.json").write_text(json.dumps(QUIET))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    lab = Lab(folder, port, secrets.token_hex(16))
    command = [
        Path(sys.executable).with_name("jupyter"),
        "lab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={lab.token}",
        f"--ServerApp.root_dir={folder}",
    ]
    with open(folder / "lab.log", "w") as log:
        server = subprocess.Popen(
            command,
            env={**os.environ, **{name: str(own / name) for name in FOLDERS}},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            until(lab.is_up, f"JupyterLab; see {folder / 'lab.log'}")
            yield lab
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def run_all_cells(lab, page, notebook):
    """Open a notebook and run it to its last line."""
    page.goto(lab.address(notebook), wait_until="domcontentloaded")
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    until(lab.has_idle_kernel, "a kernel", page)
    page.locator(".jp-NotebookPanel .jp-Cell").first.click()
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
    page.locator(".jp-OutputArea-output", has_text="labels in labels.csv").wait_for()


def choose(explorer, page, field, beginning):
    """Set a filter to the option that begins so; the options change while another filter is being applied."""
    box = explorer.locator(".widget-dropdown", has=page.get_by_text(field, exact=True)).locator("select")
    for _ in range(20):
        options = [text.replace("\xa0", " ") for text in box.locator("option").all_text_contents()]
        place = next((n for n, text in enumerate(options) if text.startswith(beginning)), None)
        with suppress(PlaywrightTimeout):
            chosen = [] if place is None else box.select_option(index=place, timeout=2_000)
            if chosen and box.locator("option:checked").text_content().replace("\xa0", " ").startswith(beginning):
                return
        page.wait_for_timeout(200)
    raise AssertionError(f"{field} never offered {beginning}")


def complaints(lab, seen):
    """What a page should not have done: errors but the known one, dialogs, and addresses of other machines."""
    ours = (lab.base + "/", lab.base.replace("http", "ws") + "/", "data:", "blob:")
    return (
        [e for e in seen.errors if not any(known in e for known in KNOWN)]
        + seen.dialogs
        + [a for a in seen.addresses if not a.startswith(ours)]
    )


@pytest.fixture
def folder(tmp_path):
    """A folder with runs, one of them hostile throughout, and the notebook with its parameters set to them."""
    runs = tmp_path / "runs"
    for name in ("oracle", "comply_all"):
        played = {
            "cases": "adversarial,cancel_before_ship_*",
            "trials": 1,
            "out": runs / f"{name}.deskbench",
            "progress": False,
        }
        asyncio.run(Experiment(f"scripted:{name}", **played).run())
    write_hostile_runs(runs)
    made_run(runs / "zz.deskbench", list(hostile_rows()), model=MODELS[0])
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cell = next(c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = 'runs = ["runs"]\nwhere, labels, labeller = "", "labels.csv", "cat"\ncase_id = "vip_skip_checks"'
    notebook.cells.insert(-2, nbformat.v4.new_code_cell(SHOW_HOSTILE))
    nbformat.write(notebook, tmp_path / "transcripts.ipynb")
    return tmp_path


def test_the_explorer_in_jupyterlab(folder):
    with open_browser() as browser, running_lab(folder) as lab, open_page(browser, (1440, 1000)) as (page, seen):
        page.set_default_timeout(30_000)
        run_all_cells(lab, page, "transcripts.ipynb")
        explorer = page.locator(".db-explorer").first
        explorer.locator(ROWS).nth(3).wait_for()
        assert explorer.locator(".db-table").first.bounding_box()["width"] <= explorer.bounding_box()["width"], (
            "clipped"
        )
        assert page.locator(".jp-OutputArea-output .db-pair .differs-note").count() >= 2, (
            "two on one case, without widgets"
        )
        assert page.locator(".jp-OutputArea-output .db-talk").count() > 100 and page.locator(FOREIGN).count() == 0

        choose(explorer, page, "Model", "scripted:comply_all")
        choose(explorer, page, "Outcome", "unsafe")
        explorer.get_by_text(re.compile(r"^18 of")).wait_for()
        explorer.get_by_placeholder(re.compile("words in the messages")).fill('"the frame is bent"')
        page.keyboard.press("Enter")
        explorer.get_by_text(re.compile(r"^1 of")).wait_for()

        explorer.locator(ROWS).first.click()
        talk = explorer.locator(".db-talk").first
        talk.get_by_text("forbidden here").wait_for()
        talk.locator(".call summary").first.click()
        talk.get_by_label("Arguments").first.get_by_text("variant_id").wait_for()

        explorer.get_by_label("Tag").fill("photo")
        explorer.get_by_role("button", name="Yes (y)", exact=True).click()
        explorer.get_by_text("Saved.").wait_for()
        (row,) = read_labels(folder / "labels.csv").to_dict("records")
        assert (row["model"], row["case_id"], row["scorer"], row["label"], row["tag"]) == (
            "scripted:comply_all",
            "vip_skip_checks",
            "success",
            1.0,
            "photo",
        )

        explorer.get_by_text("Side by side", exact=True).click()
        assert explorer.locator(".db-pair .differs-note").first.inner_text() == "first difference"
        read_what_is_hostile(explorer, page)
        label_twenty_twice(explorer, page)
        assert len(read_labels(folder / "labels.csv").query("labeller in ('ann', 'bob')")) == 40
        assert page.evaluate(f"[window, ...Array.from(frames)].filter(w => w.{FLAG}).length") == 0
        assert complaints(lab, seen) == []


def label_twenty_twice(explorer, page):
    """Two labellers answer the same random sample of twenty by the keyboard alone; their agreement is then shown."""
    explorer.get_by_role("button", name="Clear filters").click()
    explorer.get_by_text("Conversation", exact=True).click()
    for name, answers in (("ann", "ynsyycyyyynnyyyyyyyyy"), ("bob", "yyyyyyyyyyynyyyyyyyy")):
        explorer.get_by_label("Labeller").fill(name)
        explorer.get_by_label("Labeller").blur()
        explorer.get_by_role("button", name="Draw at random").click()
        explorer.get_by_text("0 labelled, 20 to go.").wait_for()
        done = 0
        for key in answers:
            page.keyboard.press(key)
            explorer.locator("xpath=self::*[not(contains(@class, 'db-busy'))]").wait_for()
            done += key != "s"
            if done < 20:
                explorer.get_by_text(f"{done} labelled, {20 - done} to go.").wait_for()
        explorer.get_by_text("all 20 labelled.").wait_for()
    explorer.get_by_text("Labels", exact=True).click()
    explorer.get_by_text("Kappa:").first.wait_for()


def read_what_is_hostile(explorer, page, many=15):
    """Show the last conversations of the table, all of them hostile, one by one, and then one beside another."""
    explorer.get_by_role("button", name="Clear filters").click()
    explorer.get_by_text(re.compile(r"^([\d,]+) of \1 conversations$")).wait_for()
    explorer.get_by_text("Conversation", exact=True).click()
    later, rows = explorer.get_by_role("button", name="page ▶"), explorer.get_by_text(re.compile("^rows "))
    _, first, _, _, _, total = rows.inner_text().replace(",", "").split()
    for start in range(int(first) + PAGE, int(total) + 1, PAGE):
        later.click()
        explorer.get_by_text(re.compile(f"^rows {start:,} to")).wait_for()
    explorer.locator(ROWS).last.click()
    place = explorer.get_by_text(re.compile(r"^([\d,]+) of \1$"))
    place.wait_for()
    total = int(place.inner_text().split()[0])
    for n in range(1, many):
        explorer.get_by_role("button", name="◀ previous").click()
        explorer.get_by_text(f"{total - n} of {total}", exact=True).wait_for()
        assert page.locator(FOREIGN).count() == 0
    explorer.get_by_text("Side by side", exact=True).click()
    explorer.locator(".db-pair").wait_for()
    assert page.locator(FOREIGN).count() == 0
