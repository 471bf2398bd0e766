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
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from browser import open_browser, open_page
from hostile import FLAG, MODELS, hostile_rows, write_hostile_runs
from made_runs import made_run

from benchmark_lib import Experiment
from benchmark_lib.reports.explorer import read_labels

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "21_transcripts.ipynb"
KNOWN = ("set_or_remove_dark_class", "/lsp/status")
"""Page errors that are not ours: itables throws the first when it is set up for a whole notebook; where the package jupyter-lsp is there without its
extension of the server, the page asks for the second in vain."""
SHOW_HOSTILE = """from benchmark_lib.reports.fetch import DossierStore
from benchmark_lib.reports.html import Html

made = results.conversations.query("run_id == 'made-1'")[["run_id", "case_id", "trial"]]
Html("".join(DossierStore(results).dossier(*key).html(css=False) for key in made.itertuples(index=False)))
"""
ROWS = "a.talk-link"
FOREIGN = ':is(.db-talk, #talk) :is(script, img, svg, math, iframe, a[href]:not([href^="#"]):not([href^="talk.html#"]):not([href^="beside.html#"]):not([href^="transcripts.html"]), form:not(.label), object, embed, input:not(.label *), select:not(.label *), link, meta, base, template, video, audio)'
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


def test_the_list_in_jupyterlab(folder):
    with open_browser() as browser, running_lab(folder) as lab, open_page(browser, (1440, 1000)) as (page, seen):
        page.set_default_timeout(40_000)
        run_all_cells(lab, page, "transcripts.ipynb")
        found = page.locator(".db-list").first
        found.locator(ROWS).nth(3).wait_for()
        assert page.locator(".jp-OutputArea-output .db-talk").count() > 100 and page.locator(FOREIGN).count() == 0

        found.locator("#talk-entry").select_option("scripted:comply_all")
        found.locator("#talk-outcome").select_option("unsafe")
        says(found, "#talk-status", "^18 conversations of 18 cases")
        found.locator("#talk-q").fill('"the frame is bent"')
        says(found, "#talk-status", "^1 conversation")
        assert found.locator("#talk-query").input_value().startswith("entry=scripted:comply_all outcome=unsafe q=")
        assert dark(page, found) != dark(page, found, "false"), "the colours follow JupyterLab's theme"

        found.locator("a.talk-link").first.click()
        found.locator(".tool.forbidden summary").first.click()
        found.locator(".tool.forbidden pre").first.get_by_text("variant_id").wait_for()
        found.get_by_label("Your name").last.fill("cat")
        found.get_by_label("Tag", exact=True).fill("photo")
        found.locator("h1").click()
        page.keyboard.press("y")
        says(found, "#label .status", "^You said: yes")
        assert page.locator(".jp-mod-selected .jp-InputArea-prompt").count(), "y is no key of JupyterLab here"
        (row,) = read_labels(folder / "labels.csv").to_dict("records")
        assert [row[name] for name in ("model", "case_id", "scorer", "label", "tag", "labeller")] == [
            *("scripted:comply_all", "vip_skip_checks", "success", 1.0, "photo", "cat")
        ]
        found.locator(".others .both-link").first.click()
        assert found.locator(".differs-note").first.inner_text() == "first difference"
        read_what_is_hostile(found, page)
        label_twenty_twice(found, page)
        assert len(read_labels(folder / "labels.csv").query("labeller in ('ann', 'bob')")) == 40
        assert page.evaluate(f"[window, ...Array.from(frames)].filter(w => w.{FLAG}).length") == 0
        assert complaints(lab, seen) == []


def says(within, place, pattern):
    within.locator(place, has_text=re.compile(pattern)).first.wait_for()


def dark(page, found, light="true"):
    """The colour behind the list in a theme of JupyterLab."""
    page.evaluate("light => { document.body.dataset.jpThemeLight = light; }", light)
    page.wait_for_timeout(100)
    return found.evaluate("element => getComputedStyle(element).backgroundColor")


def read_what_is_hostile(found, page, many=15):
    """Read the last conversations of the list, all of them hostile, one by one, and then one beside another."""
    found.get_by_role("button", name="× Close").first.click()
    found.locator("#talk-query").fill("run_id=made-1")
    found.locator("#talk-query").press("Enter")
    says(found, "#talk-status", r"^\d+ conversations of")
    total = int(found.locator("#talk-status").inner_text().split()[0])
    found.locator("a.talk-link").first.click()
    for n in range(1, many):
        says(found, ".siblings", rf"\({n} of {total}\)")
        page.keyboard.press(".")
        assert page.locator(FOREIGN).count() == 0
    page.keyboard.press("Escape")


def label_twenty_twice(found, page):
    """Two labellers answer the same random sample of twenty by the keyboard alone; their agreement is then shown."""
    found.get_by_role("button", name="× Close").first.click()
    for name, answers in (("ann", "ynsyycyyyynnyyyyyyyyy"), ("bob", "yyyyyyyyyyynyyyyyyyy")):
        found.locator("#talk-query").fill("source=scripted sample=20 seed=1")
        found.locator("#talk-query").press("Enter")
        found.locator("#talk-labeller").fill(name)
        says(found, "#talk-status", "^20 conversations.*Start labelling")
        found.locator("#talk-begin").click()
        done = 0
        for number, key in enumerate(answers):
            at = number + 1 if number < 20 else answers.index("s") + 1
            says(found, "#label .sample", f"Sample: {at} of 20, {done} labelled, {20 - done} left")
            page.keyboard.press(key)
            done += key != "s"
        says(found, "#talk-status", "All are labelled")
    found.get_by_role("button", name="Agreement").click()
    found.get_by_text("Kappa:").first.wait_for()
