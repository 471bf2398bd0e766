"""Every kind of page at three widths, light and dark: no box overlaps another in a row, and nothing leaves its container."""

import asyncio
from dataclasses import replace

import pytest
from browser import open_browser, open_page
from made_runs import OTHER, TUNED, add_rows, call_row, made_run
from run_server import copy_store
from site_talks import talks_of

from benchmark_lib import Experiment, load_results
from benchmark_lib.reports.site import build_site
from benchmark_lib.runfile import RunFile

CASES, HARD = "tracking,abusive,adversarial", "hard:dense_1,dense_2"
SHORT, LONG = "orbit-mini", "lumen-4-instruct-preview-2026-06"
LISTS = [
    "index",
    "answers",
    "traps",
    "cases",
    "transcripts",
    "search",
    "compare",
    "methodology",
    "dictionary",
    "downloads",
    "hard/index",
]
WIDTHS = (360, 768, 1440)

FAULTS = """() => {
  const LEAST = 0.5;
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const fold of document.querySelectorAll(".folded")) fold.classList.remove("folded");
  document.querySelector("#columns[aria-pressed=false]")?.click();
  const found = [], style = (e) => getComputedStyle(e), box = (e) => e.getBoundingClientRect();
  const name = (e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute("class") ?? ""}"> ${e.textContent.trim().replace(/\\s+/g, " ").slice(0, 60)}`;
  const drawn = (e) => e.checkVisibility({ visibilityProperty: true }) && box(e).width > 1 && box(e).height > 1;
  const placed = (e) => ["absolute", "fixed", "sticky"].includes(style(e).position);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`the page scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}`);
  for (const row of document.body.querySelectorAll("*")) {
    if (row.closest("svg") || !/flex|grid|table-row$/.test(style(row).display)) continue;
    const items = [...row.children].filter((e) => drawn(e) && !placed(e)).map((e) => [e, box(e)]);
    items.forEach(([one, a], i) => {
      for (const [other, b] of items.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 1) found.push(`${name(one)} overlaps ${name(other)}`);
      }
    });
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let all = 0, read = 0;
  for (let text; (text = texts.nextNode());) {
    if (!text.data.trim() || text.parentElement.closest("svg, script, style, template, select, option, [hidden]")) continue;
    all += 1;
    if (!drawn(text.parentElement)) continue;
    read += 1;
    let holder = text.parentElement;
    while (style(holder).display === "inline" || style(holder).display === "contents") holder = holder.parentElement;
    if (style(holder).overflowX !== "visible") continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const within = box(holder), hangs = style(holder).whiteSpace.startsWith("pre") ? 6 : 1;  // a blank at the end of a line hangs
    for (const part of range.getClientRects()) {
      if (part.width > 1 && (part.left < within.left - 1 || part.right > within.right + hangs)) {
        found.push(`text leaves ${name(holder)} by ${Math.round(Math.max(within.left - part.left, part.right - within.right))} px`);
        break;
      }
    }
  }
  if (read < LEAST * all) found.push(`only ${read} of ${all} texts were read`);
  return [...new Set(found)].slice(0, 8);
}"""
"""What is wrong with the layout of a page, as lines; folds are opened, so that nearly every text is read."""


def as_model(path, folder, model):
    """Write a scripted run again as if an endpoint's model had played it, with a price."""
    run = RunFile(path)
    scores = run.scores()
    rows = [
        (replace(record, model=model, source="model"), scores[digest], [])
        for (_, _, digest, _), record in zip(run.conversations(), run.records(), strict=True)
    ]
    manifest = {**run.manifest, "model": model, "source": "model", "run_id": f"{model}-{path.stem}"}
    made = made_run(folder / path.name, rows, manifest=manifest)
    calls = [call_row(record.case_id, record.trial, model=model) for record, *_ in rows]
    add_rows(made.path, calls=calls)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of two models on both sets and of one on a store of its own."""
    played, folder = tmp_path_factory.mktemp("played"), tmp_path_factory.mktemp("runs")
    own = {"store": str(copy_store(tmp_path_factory.mktemp("store"), files=1)), "trials": 1}
    for kind, agent, model, options in (
        ("core", TUNED, SHORT, {"cases": CASES}),
        ("core", OTHER, LONG, {"cases": CASES}),
        ("hard", TUNED, SHORT, {"cases": HARD}),
        ("hard", OTHER, LONG, {"cases": HARD}),
        ("own", TUNED, "own-store-1", own),
    ):
        path = played / f"{model}-{kind}.deskbench"
        asyncio.run(Experiment(agent, out=path, progress=False, **{"trials": 2, **options}).run())
        as_model(path, folder, model)
    results = load_results(folder)
    return build_site(results, tmp_path_factory.mktemp("out") / "site", published=True).path


def addresses(site):
    """One address of each kind of page, and every page of a model."""
    models, cases = (
        [path.relative_to(site).as_posix() for path in sorted((site / kind).glob("*.html"))]
        for kind in ("models", "cases")
    )
    one, other = sorted(talks_of(site))[:2]
    return [
        *(f"{name}.html" for name in LISTS),
        *models,
        cases[0],
        f"talk.html#{one}",
        f"beside.html#a={one}&b={other}",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_box_overlaps_another_and_nothing_leaves_its_container(site, width):
    wrong = {}
    with open_browser() as browser, open_page(browser, (width, 900)) as (page, seen):
        for address in addresses(site):
            page.goto(f"{site.as_uri()}/{address}")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                if found := page.evaluate(FAULTS):
                    wrong[address, scheme] = found
        assert not seen.errors
    assert not wrong, "\n".join(f"{' '.join(key)}: {line}" for key, lines in wrong.items() for line in lines)


def test_the_faults_that_are_looked_for_are_found():
    cells = (
        '<th>orbit</th><td>0.3</td><td style="display:block;margin-left:-40px;width:90px">12.97 (9.31 to 16.64)</td>'
    )
    wide = f'<div style="width:2000px">wide</div><p style="width:40px;white-space:nowrap">{"long " * 9}</p>'
    with open_browser() as browser, open_page(browser, (768, 900)) as (page, _):
        page.set_content(f'<table><tr style="display:flex">{cells}</tr></table>{wide}')
        said = " ".join(page.evaluate(FAULTS))
    assert all(words in said for words in ("scrolls sideways", "0.3 overlaps", "text leaves"))
