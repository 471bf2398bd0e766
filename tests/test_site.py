"""The site, in a real browser.

It opens from disk, says what the frames say, can be used by everybody, and nothing gets in.
"""

import asyncio
import csv
import inspect
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from itertools import permutations
from urllib.parse import unquote
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from browser import DESKTOP, PHONE, open_browser, open_page, violations
from hostile import FLAG, LEAK, MODELS, NAMES, PAYLOADS, write_hostile_runs
from site_talks import talks_of

from benchmark_lib import BadInput, Experiment, load_results, tables
from benchmark_lib.analysis import Query, estimators
from benchmark_lib.analysis.tables.leaderboard import leaderboard
from benchmark_lib.cli import main
from benchmark_lib.experiment.demo import EXAMPLE
from benchmark_lib.language.sentences import fold
from benchmark_lib.reports.explorer.labels import import_labels, read_labels, save_label
from benchmark_lib.reports.html import LOADING_POLICY, POLICY, breaks, embedded, plural, tidy
from benchmark_lib.reports.one_model.conduct import WORST_FIRST
from benchmark_lib.reports.site import build_site
from benchmark_lib.reports.site.content import Content, page_name, stores_of_entries
from benchmark_lib.reports.site.conversations import asked_for
from benchmark_lib.reports.site.files import Folder, packed, site_folder
from benchmark_lib.reports.site.front import comparison
from benchmark_lib.reports.site.method import in_words
from benchmark_lib.reports.site.pages import Pages

CASES = "tracking,return_used,abusive,adversarial"
PAGES = (
    "index",
    "answers",
    "traps",
    "cases",
    "transcripts",
    "search",
    "beside",
    "talk",
    "compare",
    "methodology",
    "downloads",
    "dictionary",
)
TAGS = (
    "html head meta title link script body a header div svg rect path nav button main section h1 h2 h3 p dl dt dd form label input "
    "select option fieldset legend span table caption thead tbody tr th td small circle line text figure figcaption ul ol li b em "
    "strong details summary footer bdi code pre q blockquote article aside iframe kbd wbr br noscript mark ins del g use defs clipPath "
)
"""Elements that the templates use; no text may bring another one."""

PLAIN = re.compile(r"[a-z0-9_-]+\.(html|css|js|svg|csv|parquet|json)")


class HandsOver:
    """An agent of one's own, which stands on the board as a model does."""

    def reply(self, talk):
        talk.call("hand_over_to_human", queue="general", reason="to be sure", summary="see the email")
        return "A colleague will take it from here."


@pytest.fixture(scope="module")
def browser():
    with open_browser() as running:
        yield running


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    agents = [
        ("scripted:oracle", None),
        ("scripted:tunable", None),
        ("scripted:comply_all", None),
        ("careful", HandsOver),
    ]
    with ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop running in this one
        for name, agent in agents:
            out = folder / f"{name.replace(':', '-')}.deskbench"
            experiment = Experiment(name, agent=agent, cases=CASES, trials=2, out=out, progress=False)
            thread.submit(asyncio.run, experiment.run()).result()
    return load_results(folder)


@pytest.fixture(scope="module")
def site(runs, tmp_path_factory):
    return build_site(runs, tmp_path_factory.mktemp("out") / "site", published=True)


def visit(page, site, name):
    page.goto(f"{site.path.as_uri()}/{name if '#' in name else f'{name}.html'}")
    if "#" in name:
        opened(page, name)


def opened(page, talk):
    """Wait until the page of transcripts shows the one of this address."""
    page.locator(f'#talk[data-at="{talk.partition("#")[2]}"]').wait_for()
    page.wait_for_selector("html[data-ready]")


def transcript(site, entry="", case=""):
    """The address of the first transcript whose entry and case begin like this."""
    return next(f"talk.html#{at}" for at in sorted(talks_of(site.path)) if re.match(f"{entry}[^/]*/{case}", at))


def first(site, folder, start=""):
    """The name of the first page in a folder."""
    found = sorted(p for p in site.path.glob(f"{folder}/**/{start}*.html"))
    return str(found[0].relative_to(site.path)).removesuffix(".html")


def index_of(site):
    return (site.path / "index.html").read_text(encoding="utf-8")


def names(page):
    return page.locator("#board tr.row:visible th > a").all_inner_texts()


# --- what is built
# -----------------------------------------------------------------------------------------------------


def test_every_conversation_case_and_model_has_a_page_and_the_index_is_small(site, runs):
    assert site.transcripts == len(runs.conversations) == len(talks_of(site.path))
    assert site.pages["case"] == runs.conversations["case_id"].nunique() and site.pages["model"] == 4
    assert (site.path / "index.html").stat().st_size < 500_000
    assert site.bytes == sum(p.stat().st_size for p in site.path.rglob("*") if p.is_file())


def test_no_page_shows_a_value_as_python_writes_it(site):
    raw = re.compile(r"[{\[](&#39;|')[\w-]+(&#39;|')[:,\]]")
    assert not [p for p in site.path.rglob("*.html") if raw.search(p.read_text())]
    assert not [at for at, markup in talks_of(site.path).items() if raw.search(markup)]


def test_no_link_of_the_site_leads_nowhere(site):
    missing = set()
    talks, pages = talks_of(site.path), [(p.parent, p.read_text()) for p in site.path.rglob("*.html")]
    for folder, text in [*pages, *((site.path, markup) for markup in talks.values())]:
        for address, at in re.findall(r'(?:href|src)="([^"#]+)(?:#([^"]*))?"', text):
            to_talk = address.endswith("talk.html")
            if not (folder / address).resolve().is_file() or (to_talk and "/".join(at.split("/")[:2]) not in talks):
                missing.add((address, at))
    assert not missing


def test_every_page_stands_under_the_strict_policy_and_carries_no_inline_style_or_code(site):
    for page in site.path.rglob("*.html"):
        text = page.read_text()
        policy = {"beside.html": LOADING_POLICY, "talk.html": LOADING_POLICY}.get(page.name, POLICY)
        assert f'<meta http-equiv="Content-Security-Policy" content="{policy.replace(chr(39), "&#39;")}">' in text, page
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text), page
        scripts = re.findall(r"<script(?! type=\"application/json\")([^>]*)>", text)
        assert all(re.fullmatch(r' src="[a-z0-9/.-]+\.js"( defer)?', attributes) for attributes in scripts)
        assert scripts[0].endswith('assets/common.js"') and len(scripts) <= (6 if page.name != "search.html" else 12)


def test_the_files_to_take_away_agree_with_the_frames(site, runs):
    import hashlib

    import pandas as pd

    rows = list(csv.DictReader((site.path / "downloads" / "conversations.csv").open()))
    assert len(rows) == len(runs.conversations)
    assert len(pd.read_parquet(site.path / "downloads" / "messages.parquet")) == len(runs.messages)
    page = (site.path / "downloads.html").read_text()
    assert all(hashlib.sha256(run.path.read_bytes()).hexdigest() in page for run in runs.runs)


def test_every_column_of_the_conversations_to_take_away_is_explained(site):
    told = (site.path / "dictionary.html").read_text()
    for name in pd.read_csv(site.path / "downloads" / "conversations.csv", nrows=0):
        assert f"<code>{name}</code>" in told or f", and {name}:" in told, name
    assert "<code>board.csv</code>" in told


def test_only_a_site_is_ever_replaced_and_a_failure_leaves_the_old_one(tmp_path, runs):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(BadInput, match="is not a site: choose another --out"):
        build_site(runs, mine)
    old = tmp_path / "old"
    with site_folder(old) as folder:
        folder.write("site.json", "{}", "asset")
    with pytest.raises(RuntimeError), site_folder(old) as folder:
        folder.write("index.html", "half", "page")
        raise RuntimeError("in the middle")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "old"] and [p.name for p in old.iterdir()] == [
        "site.json"
    ]


def test_the_command_says_what_it_built_and_refuses_an_empty_folder(runs, tmp_path, capsys):
    assert main(["site", str(runs.runs[0].path), "--out", str(tmp_path / "s")]) == 0
    said = capsys.readouterr().out
    assert f"{len(runs.conversations) // 4} transcripts" in said and "index.html" in said
    assert "grok" not in (tmp_path / "s" / "index.html").read_text()
    assert main(["site", str(tmp_path), "--out", str(tmp_path / "t")]) == 2
    assert "no run files in" in capsys.readouterr().err


def test_a_model_that_met_fewer_cases_says_so_on_the_front_page(runs, tmp_path):
    part = tmp_path / "part.deskbench"
    asyncio.run(
        Experiment(
            "careful", agent=HandsOver, cases="tracking_1,abusive_1,vip_skip_checks", trials=1, out=part, progress=False
        ).run()
    )
    others = [run for run in runs.runs if run.manifest["model"] == "scripted:oracle"]
    page = (build_site(load_results(others, part), tmp_path / "site").path / "index.html").read_text()
    assert "% of 1 must-escalate cases" in page


def test_a_name_is_broken_after_punctuation_and_not_within_a_word():
    assert breaks("scripted:refuse_all") == "scripted:<wbr>refuse_all"


def test_embedded_data_cannot_close_its_element_and_json_is_laid_out_for_reading():
    assert "<" not in embedded({"a": "</script><!--"}) and "\u2028" not in embedded(["\u2028"])
    assert tidy({"a": 1}) == '{"a":1}' and tidy({"a": "x" * 90, "b": [1]}).count("\n") == 3 and tidy("plain") == "plain"


# --- used
# ----------------------------------------------------------------------------------------------------------------


DRAWN = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const seen = [...document.querySelectorAll(".drawing :is(text, path, use)")].filter((e) => e.getClientRects().length);
  return { texts: seen.map((e) => e.textContent.trim()).filter(Boolean), data: seen.length };
}"""
"""What the pictures show, folded ones too: their texts, and how many texts and marks."""


def test_the_board_sorts_filters_and_finds(browser, site, runs):
    board = leaderboard(runs)
    with open_page(browser) as (page, seen):
        visit(page, site, "index")
        assert [name for name in names(page) if name in set(board["entry"])] == list(board["entry"])
        page.click("button[data-sort=resolved]")
        measured = page.locator("tbody[data-block=scripted] tr.row td[data-key=resolved] .value").all_inner_texts()
        assert [float(t.rstrip("%")) for t in measured] == sorted(
            (round(100 * v, 1) for v in board[board["block"] == "scripted"]["resolved"]), reverse=True
        )
        assert page.get_attribute("th[data-key=resolved]", "aria-sort") == "descending"
        page.click("button[data-sort=resolved]")
        assert page.get_attribute("th[data-key=resolved]", "aria-sort") == "ascending"
        page.select_option("#sort", "unsafe")
        assert "lowest first" in page.inner_text("#board-status")
        drawn = page.evaluate(DRAWN)
        theirs = set(tables.published_board()["model"])
        assert theirs & {*drawn["texts"]}
        page.click(".chip[data-value=published]")
        assert len(names(page)) == 4 and page.locator(".drawing [data-block=published]:visible").count() == 0
        left = page.evaluate(DRAWN)
        assert not theirs & {*left["texts"]}
        assert drawn["data"] - left["data"] >= 4 * len(theirs), "a mark, a name, and two bars with a number each"
        page.click('.chip[data-value="none (scripted)"]')
        assert names(page) == ["careful"]
        page.click('.chip[data-value="none (scripted)"]')
        page.fill("#find", "tunab")
        assert names(page) == ["scripted:tunable"] and "1 row" in page.inner_text("#board-status")
        page.click("#columns")
        assert page.locator("tr.row:visible td[data-key=tool_calls]").is_visible()
        assert not seen.errors


def test_the_blocks_are_labelled(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, "index")
        heads = page.locator("#board tr.head .tag").all_inner_texts()
        assert heads == ["Scripted agents", "Published figures", "Set apart"]
        assert "not measured here" in page.inner_text("tbody[data-block=published] tr.head")
        assert not seen.errors


def test_the_pictures_are_reached_by_keyboard_and_say_their_numbers(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, "index")
        assert page.locator("#board tr.row").first.bounding_box()["y"] < DESKTOP[1], "a row is seen without scrolling"
        mark = page.locator(".drawing.wide a").first
        page.locator("#columns").focus()
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('.drawing a') !== null"):
                break
        assert page.evaluate("document.activeElement.closest('.drawing a') !== null")
        assert "unsafe" in page.inner_text(".tip")
        page.keyboard.press("Escape")
        assert not page.is_visible(".tip")
        assert mark.get_attribute("aria-label") == mark.get_attribute("data-tip")
        page.locator("#traps .drawing.wide a[href^=transcripts]").first.hover()
        assert "trap conversations" in page.inner_text(".tip")
        assert not seen.errors


def test_cases_and_transcripts_are_searched_and_opened(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, "cases")
        page.fill("#list-find", "TRACKING 1")
        assert page.locator(".cases li:visible").count() >= 1 and "tracking_1" in page.inner_text(
            ".cases li:visible >> nth=0"
        )
        visit(page, site, "transcripts")
        page.select_option("#talk-entry", "scripted:comply_all")
        page.select_option("#talk-outcome", "unsafe")
        page.fill("#talk-find", "vip")
        assert page.inner_text("#talk-status") == "2 conversations of 1 case."
        page.click("#talk-list a >> nth=0")
        page.wait_for_selector(".talk")
        assert "unsafe" in page.inner_text(".verdict") and page.locator(".tool.forbidden").count() >= 1
        page.locator(".tool summary").first.click()
        assert page.locator(".tool pre").first.is_visible()
        page.click(".crumb a >> nth=0")
        assert page.inner_text("h1").startswith("scripted:comply_all")
        assert not seen.errors


def test_the_comparison_opens_on_the_pair_that_other_places_choose_and_says_where_cases_are_few(runs):
    frame = runs.conversations
    ids = sorted(frame.loc[frame["bucket"] == "must_escalate", "case_id"].unique())[:4]
    data = comparison(Content(runs.only(Query.of(case_id=ids))), [])
    a, b = data["start"]
    assert [data["entries"][at]["name"] for at in (a, b)] == [*tables.choose_pair(runs)]
    said = [test[7] for test in data["pairs"]["escalation_accuracy"].values()]
    assert "4 clusters are few for an interval" in said


def test_two_models_are_compared_and_the_choice_is_kept_in_the_address(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, "compare")
        page.select_option("#first", label="scripted:oracle (scripted)")
        page.select_option("#second", label="scripted:comply_all (scripted)")
        row = page.locator("#compare-rows tr", has_text="Unsafe actions")
        assert [row.locator("td").nth(i).inner_text().split("\n")[0] for i in range(3)] == [
            "0.0 of 18",
            "18.0 of 18",
            "+18.0",
        ]
        said = page.inner_text("#compare-status")
        assert " planned measures (" in said and said.endswith("Both played the same 36 cases.")

        count = page.locator("#differ-list li:not(.names)").count()
        assert count >= 18 and f"{count} cases of the 36 that both played" in page.inner_text("#differ-note")
        assert "differ in: success, unsafe actions" in page.inner_text("#differ-list")
        address = page.url
        page.click("#swap")
        assert row.locator("td").nth(2).inner_text().startswith("−18.0") and page.inner_text("#compare-status") == said
        page.goto("about:blank")
        page.goto(address)
        assert page.inner_text("#name-a") == "scripted:oracle"
        page.locator("#differ-list").get_by_text("side by side").first.click()
        page.locator(".two-sides .differs-note").first.wait_for()
        page.go_back()
        page.click("#differ-list a.sq >> nth=0")
        page.wait_for_selector(".talk")
        page.goto(address)
        assert "Escape hatch" in page.inner_text("#compare-rows")
        row.locator("td a.n", has_text=re.compile("^18.0 of 18$")).click()
        page.wait_for_selector("#list-rows, .list", state="attached")
        assert "unsafe=yes" in page.url and "comply_all" in page.url
        assert not seen.errors


def test_a_mean_over_shared_cases_opens_just_these_and_a_dash_opens_nothing(browser, site, runs):
    fields = runs.facets
    apart = 0
    with open_page(browser) as (page, seen):
        visit(page, site, "compare")
        entries = json.loads(page.inner_text("#compare-data"))["entries"]
        for a, b in permutations(range(len(entries)), 2):
            page.select_option("#first", str(a))
            page.select_option("#second", str(b))
            links = page.locator("#compare-rows a.n").evaluate_all("found => found.map((a) => [a.textContent, a.hash])")
            assert not [text for text, _ in links if text == "–"]
            for address in page.locator("#compare-rows td:nth-child(2) > a.n").evaluate_all(
                "of => of.map((a) => a.hash)"
            ):
                chosen = Query.of(unquote(address[1:]))
                flags = {name: "known" for name, values in chosen.terms if values == ("yes",)}
                theirs = chosen.but(entry=entries[b]["name"], **flags)
                mine, other = (set(fields[one.mask(fields)]["case_id"]) for one in (chosen.but(**flags), theirs))
                assert mine and mine <= other, address
                apart += "case_id=" in str(chosen)
        assert not seen.errors
    assert apart > 0


def test_a_model_page_quotes_the_turn_that_decided_each_trap(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, first(site, "models", "scripted-comply"))
        assert (
            page.locator("article.trap").count() == 18
            and page.locator("article.trap.unsafe .quote .call").count() >= 16
        )
        assert "18" in page.inner_text(".cards") and page.locator("#metrics tbody tr").count() >= 11
        assert page.locator("#all a.sq").count() == int(page.inner_text(".lede").split()[0])
        for row in page.locator("#rules .plain").first.locator("tbody tr").all():
            cases = row.locator("td").last.locator("a").all_inner_texts()
            assert len(cases) == len(set(cases)), "a case stands there once, with the number of its trials"
        assert "(2 trials)" in page.inner_text("#rules") and "scripted agent, not a model" in page.inner_text("#words")
        assert not seen.errors


def test_the_traps_of_a_model_come_worst_first_and_say_how_they_went(site):
    for name in ("tunable", "comply"):
        page = (site.path / f"{first(site, 'models', f'scripted-{name}')}.html").read_text()
        went = re.findall(r'<p class="small">[^<]* · (\S) (\w+)</p><p class="squares">', page)
        order = [(WORST_FIRST.index(word), sign) for sign, word in went]
        assert len(went) == 18 and order == sorted(order), name


def test_the_theme_is_chosen_and_kept(browser, site):
    with open_page(browser, color_scheme="light") as (page, seen):
        visit(page, site, "index")
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.click("#theme")
        dark = page.evaluate(paper)
        visit(page, site, "cases")
        assert page.evaluate(paper) == dark != light and not seen.errors
    with open_page(browser, color_scheme="dark") as (page, seen):
        visit(page, site, "index")
        assert page.evaluate(paper) == dark and not seen.errors


def test_no_page_scrolls_sideways_on_a_phone(browser, site):
    with open_page(browser, PHONE) as (page, seen):
        for name in (*PAGES, first(site, "models"), first(site, "cases"), transcript(site)):
            visit(page, site, name)
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], name
        visit(page, site, "index")
        assert page.locator("#board td[data-label=Resolved]").first.is_visible()
        assert not seen.errors


def test_the_families_of_nine_entries_with_long_names_fit_a_laptop(browser, site):
    head = '<th><a href="#">scripted:<wbr>escalate_all</a><small>scripted agents, 1 trial</small></th>'
    cell = "<td>100%<small>of 10 cases; 69 to 100%</small><small>effect -100 points (-100 to 13)</small></td>"
    rows = f"<tr><th>Family</th>{9 * head}</tr><tr><th>Planted instructions</th>{9 * cell}</tr>"
    look = (site.path / "assets" / "site.css").read_text(encoding="utf-8")
    with open_page(browser, (1280, 900)) as (page, _):
        page.set_content(
            f'<style>{look}</style><main class="wrap"><div class="scroll"><table class="families">{rows}</table></div></main>'
        )
        assert page.evaluate("(x => x.scrollWidth <= x.clientWidth)(document.querySelector('.scroll'))")


def test_the_traps_of_fourteen_entries_fit_a_laptop_with_their_signs_explained(browser, site):
    with open_page(browser, (1280, 900)) as (page, _):
        visit(page, site, "traps")
        assert "On a trap, not being unsafe is not enough for success" in page.inner_text("main")
        page.evaluate(
            """for (const row of document.querySelectorAll(".traps tr")) while (row.children.length < 16)
            row.append(row.lastElementChild.cloneNode(true))"""
        )
        assert page.evaluate("[...document.querySelectorAll('.scroll')].every(x => x.scrollWidth <= x.clientWidth)")
        assert page.locator(".traps thead .model").count() >= 14


def test_a_tablet_shows_the_whole_board_with_what_a_thousand_conversations_cost(browser, site):
    with open_page(browser, (768, 1024)) as (page, _):
        visit(page, site, "index")
        box = page.eval_on_selector(".scroll:has(#board)", "e => [e.scrollWidth, e.clientWidth]")
        assert box[0] <= box[1] and "USD for 1,000 conversations" in page.inner_text("#board thead")


def test_long_pages_are_folded_on_a_phone_and_links_unfold_them(browser, site):
    model = first(site, "models", "scripted-tunable")
    with open_page(browser, PHONE) as (page, seen):
        for name in ("index", model, "methodology", "dictionary", "cases", "transcripts", first(site, "cases", "vip")):
            visit(page, site, name)
            page.wait_for_selector("html[data-ready]")
            assert page.evaluate("document.documentElement.scrollHeight") < 6 * PHONE[1], name
        visit(page, site, model)
        assert not page.locator("#traps .trap").first.is_visible()
        page.click(".contents a[href='#traps']")
        page.locator("#traps .trap").first.wait_for()
        visit(page, site, "index")
        published = page.locator("#board tbody[data-block=published]")
        assert not published.locator("tr.row").first.is_visible()
        page.fill("#find", "grok")
        assert published.locator("tr.row:visible").count() == 1
        visit(page, site, "cases")
        cases = page.locator(".list.cases > li:visible")
        assert cases.count() == 20
        page.click("text=Show all")
        assert cases.count() > 20 and not seen.errors
    with open_page(browser) as (page, _):
        visit(page, site, model)
        assert page.locator("#traps .trap").first.is_visible() and not page.locator("details.fold").count()


def test_the_band_of_an_agent_that_does_too_little_is_not_shown(site):
    text = (site.path / "index.html").read_text()
    rows = {name: row for row in text.split('<tr role="row"')[1:] for name in re.findall(r'data-name="([^"]+)"', row)}
    assert "– *" in rows["careful"] and 'class="band' in rows["scripted:oracle"]
    assert "reckless" in rows["scripted:comply_all"], "what it did, it did"
    assert "* Does too little for its band to mean anything" in text
    assert "does too little" in (site.path / f"{first(site, 'models', 'careful')}.html").read_text()


def test_a_set_without_traps_has_no_place_for_them(tmp_path):
    with ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop running in this one
        for name in ("oracle", "no_op"):
            out = tmp_path / f"{name}.deskbench"
            experiment = Experiment(f"scripted:{name}", cases="hard:salami", trials=1, out=out, progress=False)
            thread.submit(asyncio.run, experiment.run()).result()
    found = build_site(load_results(tmp_path), tmp_path / "site")
    text = (found.path / "index.html").read_text()
    assert re.search(r'<a class="n"[^>]*>100%</a>', text) and '<span class="value">0%</span>' in text, (
        "a zero is no link"
    )
    assert (
        "no adversarial" not in text
        and "Unsafe actions" not in text.partition('id="board"')[2].partition("</table>")[0]
    )
    assert 'href="traps.html"' not in text and ">Band<" not in text
    assert "a handover is one of the accepted outcomes" in text, "why success and resolved differ"
    model = next((found.path / "models").glob("*.html")).read_text()
    assert "Trap by trap" not in model and "0 of 0" not in model


def test_the_board_says_why_its_intervals_are_wide(site):
    text = (site.path / "index.html").read_text()
    assert "Cases with the same intent resemble each other. The interval allows for this" in text
    assert 'href="methodology.html#estimators"' in text


def test_a_page_is_printed_with_everything_unfolded(browser, site, tmp_path):
    with open_page(browser) as (page, seen):
        for name in ("index", transcript(site)):
            visit(page, site, name)
            data = page.pdf(path=str(tmp_path / "page.pdf"), prefer_css_page_size=True)
            assert data.startswith(b"%PDF") and len(data) > 5_000
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="print")
        assert not page.is_visible(".top") and not seen.errors


def test_axe_finds_nothing_serious(browser, site):
    own = (first(site, "models", "scripted-tunable"), first(site, "cases", "vip"), transcript(site))
    with open_page(browser) as (page, _):
        page.set_content("<img src=x><button></button>")
        assert violations(page), "axe is awake"
        for name in (*PAGES, *own):
            visit(page, site, name)
            page.evaluate(
                "for (const part of document.querySelectorAll('.wrap > section > details, .tool')) part.open = true"
            )
            assert violations(page) == [], name
    for scheme, size, pages in (("dark", DESKTOP, ("index", *own)), ("light", PHONE, ("index",))):
        with open_page(browser, size, color_scheme=scheme) as (page, _):
            for name in pages:
                visit(page, site, name)
                assert violations(page, rules=("color-contrast", "target-size")) == [], (name, scheme, size)


def test_nothing_is_asked_of_a_network(browser, site):
    with open_page(browser) as (page, seen):
        for name in (*PAGES, first(site, "models"), first(site, "cases"), transcript(site)):
            visit(page, site, name)
        assert seen.addresses and seen.outside(site.path) == []


# --- from a number to its conversations
# -----------------------------------------------------------------------------------------------------


def says(page, place, pattern):
    """Wait until an element says what the pattern says."""
    page.locator(place, has_text=re.compile(pattern, re.IGNORECASE)).first.wait_for()


def behind(page):
    """How many conversations the list shows, in all its pages."""
    page.wait_for_selector("html[data-ready]")
    says(page, "#talk-status", r"^[\d,]+ conversation")
    return int(page.inner_text("#talk-status").split()[0].replace(",", ""))


def test_every_number_that_links_lists_as_many_conversations_as_it_counts(site, runs):
    fields = runs.facets
    links = 0
    for page in (*site.path.glob("*.html"), *site.path.glob("models/*.html"), *site.path.glob("cases/*.html")):
        for address, tip in re.findall(
            r'<a class="n" href="[./]*transcripts\.html#([^"]+)" data-tip="([\d,]+) conversations?(?: of [^"]*)?"',
            page.read_text(),
        ):
            chosen = Query.of(unquote(unescape(address)))
            assert chosen.mask(fields).sum() == int(tip.replace(",", "")), (page.name, address)
            links += 1
    assert links > 500


def test_numbers_of_each_table_lead_to_their_conversations_in_the_browser(browser, site):
    model = first(site, "models", "scripted-tunable")
    tables = {
        "index": ["#board tbody[data-block=scripted] td .value a.n", "#board .name small a.n"],
        model: [
            f"{where} a.n"
            for where in (
                ".cards",
                "#metrics",
                "#scope td",
                "#intents",
                "#rules",
                "#tools",
                "#endings",
                "#endings .count",
                ".lede",
            )
        ],
        "traps": ["td a.n"],
        "cases": [".share a.n"],
        first(site, "cases", "vip"): [".lede a.n"],
    }
    with open_page(browser) as (page, seen):
        for name, places in tables.items():
            for place in places:
                visit(page, site, name)
                link = page.locator(f"{place}:visible").last
                says = re.search(r"\d[\d,]*", link.get_attribute("data-tip") or link.inner_text()).group()
                link.click()
                page.wait_for_url("**/transcripts.html#**")
                assert behind(page) == int(says.replace(",", "")) > 0, (name, place)
        visit(page, site, "index")
        page.click(".facts a.n")
        page.wait_for_url("**/transcripts.html")
        assert f"{behind(page):,}" == page.inner_text(".lede").split()[1]
        assert not seen.errors


def test_the_list_of_a_share_offers_the_others_and_a_zero_is_no_link(browser, site, runs):
    with open_page(browser) as (page, seen):
        page.goto(
            (site.path / "transcripts.html").as_uri() + "#entry=scripted:comply_all bucket=adversarial unsafe=yes"
        )
        found = behind(page)
        page.goto((site.path / "transcripts.html").as_uri() + "#entry=scripted:tunable bucket=resolvable resolved=yes")
        found = behind(page)
        (said,) = re.findall(r"the other (\d+)", page.inner_text("#talk-status"))
        page.click("#talk-status a >> nth=1")
        page.wait_for_url("**resolved=no")
        assert behind(page) == int(said) > 0 and found > 0
        assert not seen.errors
    assert not re.search(r'=yes"[^>]*>(?:mean )?0(?:\.0)?%?</a>', (site.path / "index.html").read_text())


def test_leaving_out_flagged_customers_also_leaves_them_out_of_how_many(browser, site):
    with open_page(browser) as (page, seen):
        page.goto((site.path / "transcripts.html").as_uri() + "#bucket=resolvable resolved=yes customer_flagged=no")
        behind(page)
        assert (
            page.locator("#talk-status a").first.get_attribute("href").endswith("resolved=known%20customer_flagged=no")
        )
        assert not seen.errors


def test_a_mark_opens_the_share_of_conversations_that_it_says(site, runs):
    """A bar is a mean over cases, all of which have two trials here: its share of the conversations is that of its tip."""
    marks = re.findall(r'<a data-tip="([^"]+)"[^>]* href="transcripts\.html#([^"]+)"', index_of(site))
    asked = {
        "human were not handed over": "handed_over",
        "cases were handed over": "needless_handover",
        "trap conv": "unsafe",
    }
    found = 0
    for tip, address in marks:
        query = Query.of(unquote(address))
        words, column = next((w, c) for w, c in asked.items() if w in unescape(tip))
        known = Query.of(entry=dict(query.terms)["entry"], bucket=dict(query.terms)["bucket"], **{column: "known"})
        share = query.mask(runs.facets).sum() / known.mask(runs.facets).sum()
        (percent,) = re.findall(r"(\d+)%", tip.partition(" (")[0]) or [None]
        if percent is None:
            k, n = map(int, re.search(r"(\d+) of (\d+) trap", tip).groups())
            percent = 100 * k / n if k else 100
        assert 100 * share == pytest.approx(float(percent), abs=0.5), tip
        found += 1
    assert found > 20


def test_no_number_of_a_model_opens_an_empty_list(site, runs):
    pages = [path.read_text() for path in (site.path / "models").glob("*.html")]
    asked = {unquote(unescape(q)) for page in pages for q in re.findall(r'href="\.\./transcripts\.html#([^"]+)"', page)}
    assert len(asked) > 100 and not [query for query in asked if not Query.of(query).mask(runs.facets).any()]


def test_a_drawing_needs_no_exception_from_the_policy_and_every_id_of_it_is_one_of_a_kind(site):
    text = index_of(site)
    drawings = re.findall(r"<svg viewBox.*?</svg>", text, re.S)
    assert len(drawings) >= 8 and not any(re.search(r"style|<metadata|xlink|<image|font-family", d) for d in drawings)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert all(f'id="{used}"' in d for d in drawings for used in re.findall(r'(?:url\(|<use href=")#([^")]+)', d))


def test_the_trial_of_a_median_is_opened_on_the_page_that_compares(runs):
    content = Content(runs, published=False)
    tuned = next(e for e in comparison(content, list(Pages(content, None).talks))["entries"] if "tunable" in e["name"])
    assert "%20trial=" in tuned["values"]["resolved"][2]


def test_the_filter_stays_in_the_address_through_back_and_when_shared(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, "transcripts")
        page.select_option("#talk-outcome", "unsafe")
        page.select_option("#talk-entry", "scripted:comply_all")
        found, address = behind(page), page.url
        assert "outcome=unsafe" in address and found == 36
        page.click("a.talk-link >> nth=0")
        page.wait_for_selector(".talk")
        page.go_back()
        assert behind(page) == found and page.input_value("#talk-outcome") == "unsafe"
        page.go_back()
        assert page.input_value("#talk-entry") == "" and page.input_value("#talk-outcome") == "unsafe"
        page.goto("about:blank")
        page.goto(f"{address} unsafe=yes handed_over=no")
        assert behind(page) <= found and page.locator("#talk-chosen button").count() == 2
        page.click("#talk-status a")
        assert "known" in page.url
        page.goto("about:blank")
        page.goto(f"{address} nonsense=1")
        assert page.inner_text("#talk-status") == "0 conversations: there is no field nonsense here."
        assert not seen.errors


def test_one_query_gives_the_rows_and_the_address_of_a_number(site, runs, browser):
    rows = runs.where("entry=scripted:comply_all bucket=adversarial", unsafe=True)
    assert len(rows) == 36 and rows["unsafe"].all()
    assert len(runs.where(rows.attrs["query"], unsafe="known")) == 36
    address = Query.of(entry="scripted:comply_all", unsafe=True).address("../reports/site")
    assert address == "../reports/site/transcripts.html#entry=scripted%3Acomply_all%20unsafe=yes"
    with open_page(browser) as (page, _):
        page.goto(f"{site.path.as_uri()}/{rows.attrs['query'].address()}")
        assert behind(page) == len(rows)
        page.goto("about:blank")
        page.goto(f"{site.path.as_uri()}/transcripts.html#bucket=adversarial and more")
        assert page.inner_text("#talk-status") == "0 conversations: there is no field and more here."
    with pytest.raises(BadInput, match="no field 'unsave'"):
        runs.where(unsave=True)


# --- search, keys, what was expected, labels
# -----------------------------------------------------------------------------------------------------


def test_messages_are_searched_from_disk_with_the_filters_and_the_pages_of_the_list(browser, site, runs):
    texts = runs.messages.assign(text=runs.messages["text"].map(fold))
    keys = ["run_id", "case_id", "trial"]
    whole = texts.groupby(keys)["text"].agg("\n".join)
    with open_page(browser) as (page, seen):
        visit(page, site, "transcripts")
        assert not any("search/" in a for a in seen.addresses)
        page.keyboard.press("/")
        page.keyboard.type("order number")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html#**")
        both = whole.str.contains("order", regex=False) & whole.str.contains("number", regex=False)
        says(page, "#talk-status", f"^{both.sum()} conv")
        page.fill("#talk-q", '"order number"')
        phrase = whole.str.contains("order number", regex=False).sum()
        says(page, "#talk-list mark", "^order number$")
        assert phrase and behind(page) == phrase
        page.fill("#talk-q", "you")
        page.wait_for_url("**q=you*")
        says(page, "#talk-list mark", "^you$")
        assert "**" not in page.inner_text("#talk-list")
        marked = "all => all.map(li => [...li.querySelectorAll('mark')].map(m => m.textContent + m.nextSibling.textContent[0]))"
        for around in page.eval_on_selector_all("#talk-list li", marked):
            parts = [re.fullmatch(r"you\w", text, re.I) is not None for text in around]
            assert around and all(parts) == any(parts), "a part of a word is marked where the word itself is nowhere"
        page.fill("#talk-q", "the")
        says(page, "#talk-status", f"^{whole.str.contains('the', regex=False).sum():,} conv")
        page.locator("h1").click()
        page.keyboard.press("n")
        says(page, "#talk-page", "^Page 2")
        assert "page=2" in page.url
        line = page.locator("a.hit-line").first
        anchor = line.get_attribute("href").split("#")[1]
        line.click()
        page.wait_for_selector(f"#{anchor.split('/')[2]}.aimed")
        assert "the" in page.inner_text(".aimed .pre").lower()
        assert seen.outside(site.path) == [] and not seen.errors


def test_keys_walk_the_messages_and_the_failures_and_are_listed(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, transcript(site, "scripted-comply"))
        page.keyboard.press("?")
        assert "next failure" in page.inner_text(".help") and "cannot tell" in page.inner_text(".help")
        page.keyboard.press("Escape")
        assert not page.is_visible(".help")
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.url.endswith("/m2") and page.evaluate("document.activeElement.id") == "m2"
        before = page.url.rpartition("/")[0]
        page.keyboard.press("f")
        page.wait_for_url(lambda at: not at.startswith(before))
        opened(page, page.url)
        after = page.url
        assert page.locator(".verdict:not(.good)").count()
        page.go_back()
        opened(page, before)
        assert "aimed" in page.get_attribute("#m2", "class")
        page.go_forward()
        opened(page, after)
        page.keyboard.press("F")
        page.wait_for_url(lambda at: at != after)
        assert not seen.errors


def test_a_transcript_leads_along_the_list_that_the_reader_came_from_and_back_to_it(browser, site):
    with open_page(browser) as (page, seen):
        asked = Query.of("entry=scripted:comply_all bucket=adversarial trial=2")
        address = f"{site.path.as_uri()}/{asked.address()}"
        page.goto(address)
        says(page, "#talk-status", "^18 conversations")
        names = [link.get_attribute("href") for link in page.locator("a.talk-link").all()]
        page.locator("a.talk-link").nth(1).click()
        page.wait_for_selector(".siblings")
        assert "Your list (2 of 18): previous next" in page.inner_text(".siblings")
        page.keyboard.press(".")
        opened(page, names[2])
        page.click("#previous-listed")
        opened(page, names[1])
        page.keyboard.press(",")
        opened(page, names[0])
        assert page.locator("#previous-listed").count() == 0, "the first of the list"
        page.click("#list")
        page.wait_for_url(address)
        visit(page, site, transcript(site, "scripted-oracle"))
        assert "Your list" not in page.inner_text(".siblings"), "a transcript that is not in it"
        kept = "{root: new URL('.', location.href).href, filter: '', talks: [location.href, 'javascript:2']}"
        page.evaluate(f"sessionStorage.setItem('deskbench-list', JSON.stringify({kept}))")
        page.reload()
        page.wait_for_selector(".siblings")
        assert "Your list (1 of 2)" in page.inner_text(".siblings") and page.locator("#next-listed").count() == 0
        assert not seen.errors


def test_a_transcript_shows_what_was_expected_beside_what_happened(browser, site):
    with open_page(browser) as (page, seen):
        visit(page, site, transcript(site, "scripted-comply", "tracking-1"))
        panel, talk = page.locator(".expected").bounding_box(), page.locator(".talk").bounding_box()
        assert panel["x"] >= talk["x"] + talk["width"] and "Facts to state" in page.inner_text(".expected")
        assert page.locator(".expected .broken").count() >= 1 and "not stated" in page.inner_text(".expected")
        visit(page, site, transcript(site, "scripted-comply", "vip"))
        page.click(".expected .broken a >> nth=0")
        page.locator(".tool.forbidden.aimed").wait_for()
        assert re.search(r"/c\d+$", page.url) and page.locator(".tool.forbidden.aimed").count() == 1
        page.locator(".others .both-link").first.click()
        page.wait_for_url("**/beside.html#a=**")
        page.locator(".two-sides .msg").nth(1).wait_for()
        tops = (
            page.locator(".two-sides")
            .nth(1)
            .locator(".msg.customer")
            .evaluate_all("all => all.map((e) => e.getBoundingClientRect().top)")
        )
        assert len(set(tops)) < len(tops), "the first turns begin on one line"
        assert page.locator(".differs .differs-note").all_inner_texts()[:2] == ["first difference"] * 2
        assert not seen.errors
        for wrong in ("a=javascript:1&b=../../x", "a=https://leak.example/&b=talk/../../x", "a=x&b=y/z.html"):
            page.goto("about:blank")
            page.goto(f"{(site.path / 'beside.html').as_uri()}#{wrong}")
            assert page.is_visible("#beside-none") and not page.is_visible("#beside")
        assert seen.outside(site.path) in ([], ["about:blank"])
    with open_page(browser, PHONE) as (page, _):
        visit(page, site, transcript(site, "scripted-comply", "tracking-1"))
        assert page.locator(".expected h2").first.bounding_box()["y"] < page.locator(".talk").bounding_box()["y"]


def test_labels_given_on_the_site_are_read_in_jupyterlab(browser, site, runs, tmp_path):
    with open_page(browser) as (page, seen):
        visit(page, site, transcript(site, "scripted-comply", "tracking-1"))
        page.keyboard.press("l")
        page.keyboard.type('=HYPERLINK("x"), "quoted"')
        page.keyboard.press("Escape")
        page.keyboard.press("y")
        assert page.inner_text("#label .status").startswith("Enter your name first")
        page.keyboard.type("Ana")
        page.keyboard.press("Escape")
        page.keyboard.press("y")
        assert page.inner_text("#label .status") == "You said: yes.", "and the note is still there"
        visit(page, site, transcript(site, "scripted-comply", "vip"))
        page.keyboard.press("n")
        visit(page, site, "transcripts")
        page.select_option("#talk-labelled", "yes")
        assert behind(page) == 2 and page.inner_text("#labels-count") == "2 labels"
        with page.expect_download() as download:
            page.click("#labels-export")
        path = tmp_path / "labels.csv"
        download.value.save_as(path)
        assert not seen.errors
    labels = read_labels(path)
    assert pd.read_csv(path)["label"].tolist() == [True, False] and labels["label"].tolist() == [1, 0]
    assert labels["note"][0] == '=HYPERLINK("x"), "quoted"'
    comply = runs.conversations.query("entry == 'scripted:comply_all'")
    assert set(labels["run_id"]) == set(comply["run_id"]) and set(labels["model"]) == set(comply["model"])
    row = labels.iloc[0]
    save_label(
        path,
        **row[["run_id", "model", "case_id", "trial", "scorer"]].to_dict(),
        label=0,
        note="looked again",
        labeller="Ana",
    )
    assert len(read_labels(path)) == 2, "JupyterLab replaces the label that the site gave"


def drawn(conversations, size, seed):
    """Draw as the list says it does: the smallest numbers, each the CRC-32 of seed and name, mixed as in MurmurHash3."""
    names = [tuple(map(str, key)) for key in conversations[["run_id", "case_id", "trial"]].to_numpy()]
    found = np.array([crc32(" ".join((str(seed), *name)).encode()) for name in names], np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        found = (found ^ (found >> np.uint32(shift))) * np.uint32(factor)
    return sorted(range(len(names)), key=lambda n: (found[n], names[n]))[:size]


def test_the_same_address_draws_the_same_sample_in_the_same_order(browser, site, runs):
    with open_page(browser) as (page, seen):
        for seed in (0, 1, 2**31 - 1):
            rows = runs.conversations.iloc[drawn(runs.conversations, 20, seed)]
            page.goto(f"{(site.path / 'transcripts.html').as_uri()}#sample=20 seed={seed}")
            says(page, "#talk-status", f"^20 conversations.*drawn at random with seed {seed}[.]")
            kept = page.evaluate(
                "JSON.parse(localStorage.getItem('deskbench-sample')).talks.map((talk) => talk.slice(1))"
            )
            assert kept == [
                [*key[:2], str(key[2])] for key in rows[["run_id", "case_id", "trial"]].itertuples(index=False)
            ]
        assert not seen.errors


def test_two_labellers_label_one_sample_by_keys_and_have_their_agreement(browser, site, runs, tmp_path):
    labels, address = tmp_path / "labels.csv", f"{(site.path / 'transcripts.html').as_uri()}#bucket=adversarial"
    for name, pressed in (("Ana", "yyyyyc"), ("Ben", "yynyyy")):
        with open_page(browser) as (page, seen):
            page.goto(address)
            page.click("#talk-sample")
            says(page, "#talk-status", "^20 conversations.*drawn at random with seed 0")
            address = page.url
            page.locator("#talk-status a", has_text="Start labelling").click()
            page.get_by_label("Your name").fill(name)
            page.locator("h1").click()
            for number, key in enumerate(pressed, 1):
                says(page, "#label .sample", f"of 20, {number - 1} labelled")
                page.keyboard.press(key)
            says(page, "#label .sample", "of 20, 6 labelled, 14 left")
            page.goto(address)
            says(page, "#talk-status", "Label the 14 left")
            assert page.get_by_label("Your name").input_value() == name
            assert set(page.locator("#talk-list .sq").all_inner_texts()) != {"?"}
            page.get_by_label("Your name").press("End")
            page.keyboard.type(" Lee")
            assert page.get_by_label("Your name").input_value() == f"{name} Lee"
            assert set(page.locator("#talk-list .sq").all_inner_texts()) == {"?"}, "the next labeller has not answered"
            page.locator("#talk-status a", has_text="Start labelling").click()
            says(page, "#label .sample", "Sample: 1 of 20, 0 labelled")
            assert not page.is_visible(".verdict") and page.get_by_label("Your name").input_value() == f"{name} Lee"
            visit(page, site, "transcripts")
            with page.expect_download() as download:
                page.click("#labels-export")
            download.value.save_as(tmp_path / f"{name}.csv")
            assert not seen.errors
        assert import_labels(labels, tmp_path / f"{name}.csv") == 6
        address = address.partition("%20seed")[0]
    found = tables.label_agreement_table(read_labels(labels), runs).set_index(["first", "second"]).loc["Ana", "Ben"]
    assert (found["n"], found["raw"]) == (5, 4 / 5), "the same address draws the same conversations in the same order"


def test_the_verdicts_are_hidden_in_a_sample_until_the_answer(browser, site):
    with open_page(browser) as (page, seen):
        page.goto(
            f"{(site.path / 'transcripts.html').as_uri()}#entry=scripted:comply_all bucket=adversarial sample=20 seed=0"
        )
        page.locator("#talk-status a", has_text="Start labelling").wait_for()
        assert set(page.locator("#talk-list .sq").all_inner_texts()) == {"?"}
        assert not re.search("unsafe|success|failed|comply_all", page.inner_text("#talk-list"))
        page.locator("#talk-status a", has_text="Start labelling").click()
        page.wait_for_selector("#label form")
        begun = page.url
        assert page.get_by_role("heading", name="Expected", exact=True).is_visible()
        assert page.locator(".told:visible").count() == 0 and page.locator(".told").count() > 5
        assert not re.search("The record:|Debatable", page.inner_text("#label"))
        assert asked_for("adversarial") in page.inner_text("#label"), "what success means is told"
        assert page.locator(".siblings a:visible").count() == 0, "nothing leads to another trial with its verdict"
        page.keyboard.press("f")
        assert page.url == begun
        assert "comply_all" not in page.inner_text("main") + page.title(), "who answers is hidden too"
        page.get_by_label("Your name").fill("Ana")
        page.locator("h1").click()
        page.keyboard.press("n")
        says(page, "#label .sample", "of 20, 1 labelled, 19 left")
        assert page.url != begun and not page.is_visible(".verdict")
        page.goto(begun)
        opened(page, begun)
        assert page.is_visible(".verdict") and "You said: no." in page.inner_text("#label")
        assert page.locator(".trials .both-link").first.is_visible()
        assert "The record:" in page.inner_text("#label")
        visit(page, site, transcript(site, "scripted-oracle"))
        assert page.is_visible(".verdict"), "what is not in the sample is shown as always"
        assert "The record:" not in page.inner_text("#label"), "but the answer is not suggested"
        page.keyboard.press("y")
        says(page, "#label", "The record: yes")
        assert not seen.errors


def test_no_label_is_lost_to_fast_keys_and_the_end_leads_to_those_left(browser, site, tmp_path):
    with open_page(browser) as (page, seen):
        page.goto(f"{(site.path / 'transcripts.html').as_uri()}#bucket=adversarial sample=20 seed=3")
        page.locator("#talk-status a", has_text="Start labelling").click()
        page.get_by_label("Your name").fill("Ana")
        page.locator("h1").click()
        twice = "for (const _ of [1, 2]) document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'y', bubbles: true}))"
        page.evaluate(twice)
        says(page, "#label .status", "^1 keystroke came before this conversation was on screen and did not count")
        says(page, "#label .sample", "of 20, 1 labelled, 19 left")
        page.keyboard.press("s")
        says(page, "#label .sample", "Sample: 3 of 20, 1 labelled")
        visit(page, site, "transcripts")
        page.goto(f"{(site.path / 'transcripts.html').as_uri()}#bucket=adversarial sample=20 seed=3")
        page.locator("#talk-status a", has_text="Label the 19 left").click()
        says(page, "#label .sample", "Sample: 2 of 20, 1 labelled")
        while "transcripts.html" not in page.url:
            page.keyboard.press("y")
        says(page, "#talk-status", "All are labelled")
        with page.expect_download() as download:
            page.click("#labels-export")
        download.value.save_as(tmp_path / "labels.csv")
        assert not seen.errors
    given = read_labels(tmp_path / "labels.csv")
    assert len(given) == len(given[["run_id", "case_id", "trial"]].drop_duplicates()) == 20


def test_scripted_floors_are_never_pooled_with_models(runs, tmp_path):
    scripted = [run for run in runs.runs if run.manifest["model"] in ("scripted:oracle", "scripted:comply_all")]
    site = build_site(load_results(scripted), tmp_path / "site", published=False)
    case = next(site.path.glob("cases/tracking-1*.html")).read_text()
    assert "Only scripted agents have played it." in case
    assert not re.search(r'<span class="count">', (site.path / "cases.html").read_text())


def test_a_number_and_its_noun_agree():
    assert [plural(n, "trap") for n in (0, 1, 1355)] == ["0 traps", "1 trap", "1,355 traps"]
    assert plural(2, "push", "pushes") == "2 pushes"


def test_no_page_says_nan_or_one_of_many(site):
    for page in site.path.rglob("*.html"):
        text = re.sub(r"<script.*?</script>|<[^>]+>", " ", page.read_text(), flags=re.S)
        assert not re.search(r"\bnan\b|\bNaN\b", text) or page.name == "dictionary.html", page
        assert not re.search(r"(?<![\d.,-])1 (traps|cases|trials|conversations|calls|runs)\b", text), page


# --- nothing gets in
# -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    runs = write_hostile_runs(folder / "runs")
    before = {p for p in folder.parent.rglob("*")}
    made = build_site(runs, folder / "site")
    new = {p for p in folder.parent.rglob("*")} - before
    return made, new


def test_no_name_becomes_a_path(hostile, tmp_path):
    made, new = hostile
    assert len(PAYLOADS) >= 60 and made.path in new
    assert all(p == made.path or p.is_relative_to(made.path) for p in new)
    assert all(PLAIN.fullmatch(p.name) if p.is_file() else re.fullmatch(r"[a-z0-9-]+", p.name) for p in new)
    assert not any(p.is_symlink() for p in new)
    pages = {page_name(n) for n in (*NAMES, *MODELS)}
    assert len(pages) == len({*NAMES, *MODELS}) and all(re.fullmatch(r"[a-z0-9-]{1,60}", p) for p in pages)
    for wrong in ("../x.html", "/tmp/x.html", "a/../../x"):
        with pytest.raises(ValueError):
            Folder(tmp_path).write(wrong, "x", "page")


def test_no_cell_of_a_csv_is_a_formula(hostile):
    made, _ = hostile
    for path in made.path.glob("downloads/*.csv"):
        cells = [cell for row in csv.reader(path.open(newline="")) for cell in row]
        assert not [c for c in cells if c.startswith(("=", "@", "\t", "\r")) or re.match(r"[+-](?![\d.])", c)], (
            path.name
        )
    assert any(c.startswith("'=cmd") for c in cells)


def test_nothing_hostile_runs_leaves_or_changes_a_page(hostile, browser):
    made, _ = hostile
    inspect = f"""() => {{
        for (const part of document.querySelectorAll("details")) part.open = true;
        const all = [...document.querySelectorAll("*")];
        return {{
            ran: window.{FLAG} !== undefined,
            handlers: all.filter((e) => [...e.attributes].some((a) => a.name.startsWith("on") || a.name === "style" || a.name === "srcdoc")).length,
            links: all.flatMap((e) => ["href", "src", "action"].map((name) => e.getAttribute(name))).filter((a) => a && /^[a-z0-9+.-]*:|^\\/\\//i.test(a.trim())),
            tags: [...new Set(all.map((e) => e.localName))],
        }};
    }}"""
    with open_page(browser) as (page, seen):
        talks = [f"{(made.path / 'talk.html').as_uri()}#{at}" for at in talks_of(made.path)]
        for address in [*(p.as_uri() for p in sorted(made.path.rglob("*.html"))), *talks]:
            page.goto(address)
            if "#" in address:
                opened(page, address)
            found = page.evaluate(inspect)
            assert not found["ran"] and not found["handlers"] and not found["links"], (address, found)
            assert set(found["tags"]) <= set(TAGS.split()), address
            assert page.url == address or address.endswith("compare.html")
        assert seen.dialogs == [] and seen.outside(made.path) == [] and seen.errors == []


def test_hostile_text_is_shown_as_text(hostile, browser):
    made, _ = hostile
    talks = [f"talk.html#{at}" for at in sorted(talks_of(made.path)) if "/case-" in at]
    with open_page(browser) as (page, _):
        shown = ""
        for name in talks:
            visit(page, made, name)
            shown += page.evaluate("document.querySelector('.talk').textContent")
    for name in [
        "script",
        "close_json",
        "img_onerror",
        "attribute",
        "javascript_link",
        "iframe_srcdoc",
        "style",
        "jinja",
        "jinja_globals",
        "angular",
        "js_template",
        "entities",
    ]:
        assert PAYLOADS[name] in shown, name
    assert "1337" not in shown
    hidden = re.findall(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]",
        shown,
    )
    assert (
        not hidden
        and "[U+202E]" in shown
        and "[U+0000]" in shown
        and "[U+061C]" in shown
        and "(1,000,003 characters)" in shown
    )


def test_a_script_of_transcripts_that_was_edited_runs_nothing_and_leads_nowhere(site, browser, tmp_path):
    made, name = tmp_path / "site", transcript(site, "scripted-comply", "vip")
    shutil.copytree(site.path, made)
    entry, talk = name.partition("#")[2].split("/")
    starts = json.loads(re.search(r'id="talk-starts">(.*?)</script>', (made / "talk.html").read_text())[1])[entry]
    script = made / "talks" / f"{entry}-{sum(first <= talk for first in starts) - 1}.js"
    link = '<a href="{}" class="bad">x</a>'
    leads = (
        "javascript:window.__in=1",
        "JAVASCRIPT:window.__in=1",
        LEAK,
        "//leak.example/",
        "data:text/html,x",
        "../../x.html",
        "/x.html",
    )
    markup = "".join(
        [
            *PAYLOADS.values(),
            *(
                link.format(address)
                for address in (*leads, " javascript:window.__in=1", "&#106;avascript:window.__in=1")
            ),
            '<div onclick="window.__in=1" style="color:red" class="talk" srcdoc="x"><p>words</p></div></div></div></main>',
            '<form action="talk.html"><input name="x"></form><svg><a href="index.html">y</a></svg>',
        ]
    )
    script.write_text(packed({talk: markup}))
    with open_page(browser) as (page, seen):
        page.goto(f"{(made / 'talk.html').as_uri()}#{entry}/{talk}")
        opened(page, name)
        assert "words" in page.inner_text("#talk")
        assert page.evaluate("[...document.querySelectorAll('#talk .bad')].every((a) => !a.hasAttribute('href'))")
        page.evaluate("for (const one of document.querySelectorAll('#talk :not(a[href])')) one.click()")
        tags = page.evaluate("[...new Set([...document.querySelectorAll('#talk *')].map((e) => e.localName))]")
        names = page.evaluate("[...document.querySelectorAll('#talk *')].flatMap((e) => e.getAttributeNames())")
        assert not {"script", "img", "iframe", "svg", "form", "input", "style", "object"} & set(tags)
        assert not [n for n in names if n.startswith("on") or n in ("style", "src", "srcdoc", "action")]
        assert page.evaluate("window.__in") is None and seen.dialogs == [] and seen.outside(made) == []
        for code in ("trustedTypes.createPolicy('talks', {})", "document.body.innerHTML = '<b>x</b>'"):
            with pytest.raises(Exception, match="TypeError|Trusted|policy"):
                page.evaluate(code)
        script.write_text("deskbench.packed.push('no');")
        page.reload()
        says(page, "#talk-note", "^The file of this conversation is missing or damaged")


def test_an_address_that_names_no_conversation_says_so(site, browser):
    right = transcript(site)
    with open_page(browser) as (page, seen):
        entry, case = right.split("#")[1].split("/")
        wrong = (
            "",
            "nothing",
            f"{entry}/nothing",
            f"{entry}/{case}0",
            "x/y",
            "__proto__/x",
            "<b>/x",
            f"{entry}/../../x",
            "%",
        )
        for at in wrong:
            visit(page, site, right)
            page.evaluate("at => { location.hash = at; }", at)
            says(page, "#talk-note", "^There is no conversation at this address")
            assert page.locator(".talk").count() == 0, at
        page.go_back()
        opened(page, right)
        assert page.locator(".talk .msg").count() and page.is_hidden("#talk-note")
        assert seen.errors == []


def test_a_transcript_is_built_as_its_markup_says(site, browser):
    """The page makes the elements of a transcript itself, and they are those that a browser makes of the template's markup."""
    tree = """(top) => { const say = (e) => [e.localName, e.getAttributeNames().filter((n) => n !== "href" && n !== "target").sort().map((n) => [n, e.getAttribute(n)]),
        [...e.childNodes].filter((c) => !c.matches?.(".both-link, form, #label > h2")).map((c) => (c.data === undefined ? say(c) : c.data)).join("").trim().replace(/\\s+/g, " ")]; return say(top); }"""
    tree = tree.replace("\\\\", "\\")
    talks = talks_of(site.path)
    with open_page(browser) as (page, _), open_page(browser) as (plain, _):
        for at in sorted(talks)[:: len(talks) // 12]:
            visit(page, site, f"talk.html#{at}")
            mine = page.evaluate(f"({tree})(document.querySelector('#talk .reading'))")
            theirs = plain.evaluate(
                f"markup => ({tree})(new DOMParser().parseFromString(markup, 'text/html').querySelector('.reading'))",
                talks[at],
            )
            assert mine == theirs, at


def test_hostile_names_are_chosen_searched_and_compared_without_harm(hostile, browser):
    made, _ = hostile
    with open_page(browser) as (page, seen):
        visit(page, made, "index")
        page.select_option("#sort", "name")
        page.fill("#find", "<script>")
        assert len(names(page)) == 1
        page.locator(".drawing.wide a").first.hover()
        visit(page, made, "transcripts")
        for index in range(len(MODELS)):
            page.select_option("#talk-entry", index=index + 1)
        page.select_option("#talk-entry", "")
        page.fill("#talk-find", "onerror")
        page.click("#talk-list a >> nth=0")
        page.wait_for_selector(".talk")
        visit(page, made, "compare")
        for index in range(len(MODELS)):
            page.select_option("#second", str(index))
        page.goto(
            (made.path / "compare.html").as_uri() + "#a=javascript:window.__in=1&b=<img src=x onerror=window.__in=1>"
        )
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.evaluate(f"window.{FLAG}") is None
        assert seen.dialogs == [] and seen.outside(made.path) == [] and seen.errors == []


def test_the_policy_holds_even_where_something_got_in(site, browser):
    attempts = {
        "inline script": "const s = document.createElement('script'); s.text = 'window.__in=1'; document.head.append(s);",
        "handler": "const b = document.createElement('button'); b.setAttribute('onclick', 'window.__in=1'); document.body.append(b); b.click();",
        "markup": "document.body.innerHTML = '<img src=x onerror=window.__in=1>';",
        "eval": "setTimeout('window.__in=1', 0);",
        "picture": "new Image().src = 'https://leak.example/p.gif';",
        "fetch": "fetch('https://leak.example/').catch(() => {});",
        "frame": "const f = document.createElement('iframe'); f.src = 'https://leak.example/'; document.body.append(f);",
        "form": "const f = document.createElement('form'); f.action = 'https://leak.example/'; document.body.append(f); f.submit();",
        "style": "const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = 'https://leak.example/a.css'; document.head.append(l);",
        "base": "const b = document.createElement('base'); b.href = 'https://leak.example/'; document.head.append(b);",
    }
    with open_page(browser) as (page, seen):
        for name, code in attempts.items():
            visit(page, site, "methodology")
            page.evaluate(f"() => {{ try {{ {code} }} catch (error) {{ console.error(String(error)); }} }}")
            page.evaluate("() => new Promise((done) => setTimeout(done, 30))")
            assert page.evaluate("window.__in") is None, name
            assert page.evaluate("document.baseURI").startswith("file:"), name
        assert len(seen.errors) >= len(attempts) and len(seen.blocked) >= 2 and seen.outside(site.path) == []


def test_the_footer_says_who_played_on_which_version():
    frame = pd.DataFrame(
        {"store_version": ["northline 1.2.10", "northline 1.2.9", "northline 1.2.9"], "entry": ["b", "a", "c"]}
    )
    assert stores_of_entries(frame) == ["Played on northline 1.2.9: a, c.", "Played on northline 1.2.10: b."]
    assert stores_of_entries(frame[1:]) == ["Cases of northline 1.2.9."] and stores_of_entries(frame[:0]) == []


def test_too_few_trials_for_a_median_are_told_once(site):
    for path in site.path.glob("models/*.html"):
        assert path.read_text(encoding="utf-8").count("the median of fewer than 3 says no more than the mean") == 1, (
            path.name
        )
    assert "Where the row is of a run on file, every number above zero opens" in (site.path / "index.html").read_text(
        encoding="utf-8"
    )


def test_the_method_page_explains_every_estimator_in_words():
    functions = {name for name in estimators.__all__ if inspect.isfunction(getattr(estimators, name))}
    assert functions == {name for *_, name in in_words()}


def test_a_site_of_shop_runs_loads_only_the_extras_that_it_shows(tmp_path):
    made = (
        "import sys; from benchmark_lib import load_results; from benchmark_lib.reports.site import build_site\n"
        f"build_site(load_results({str(EXAMPLE)!r}), {str(tmp_path / 'site')!r})\n"
        "print({name.split('.')[2] for name in sys.modules if name.startswith('benchmark_lib.extras.')})"
    )
    out = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "{'claims'}"
