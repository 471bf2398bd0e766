"""Tables for a paper: LaTeX that compiles, CSV that keeps every digit, Markdown and HTML that show what is there."""

import re

import numpy as np
import orjson
import pandas as pd
import pytest
from browser import open_browser, open_page

from benchmark_lib import reports, tables
from benchmark_lib.analysis.cell import Cell, Heading, Table
from benchmark_lib.analysis.estimators.estimate import Estimate
from benchmark_lib.analysis.tables.board_cells import board_table
from benchmark_lib.errors import BadInput
from benchmark_lib.latex import breakable
from benchmark_lib.reports import paper
from benchmark_lib.reports.html import table_html, unbroken
from benchmark_lib.scoring.metrics import METRICS


class TestTables:
    FRAME = pd.DataFrame(
        {
            "Model": ["a_b & 5% $x$ #1 {y} ~^\\", "=1+1", "a|b\n*c* <i>", "[x]"],
            "Resolved (%, n = 120)": [93.456, np.nan, 0.0, -0.0001],
            "n": [120, 1200, 3, 4],
        }
    )

    @pytest.fixture
    def saved(self, tmp_path):
        paths = paper.save(
            self.FRAME,
            "My table!",
            caption="100% of it & more",
            footnotes=["mean over cases", "all of it"],
            folder=tmp_path,
            parameters={"k": 3},
        )
        assert [p.name for p in paths] == [f"my-table.{s}" for s in ("csv", "md", "tex", "html", "json")]
        return {p.suffix: p.read_text(encoding="utf-8") for p in paths} | {"path": paths[0]}

    def test_latex_is_sound(self, saved):
        text = saved[".tex"]
        for block in ("table", "table*", "minipage"):
            assert text.count(rf"\begin{{{block}}}") == text.count(rf"\end{{{block}}}") == (block != "table*")
        rules = (r"\caption", r"\begin{tabular}", r"\toprule", r"\midrule", r"\bottomrule")
        order = [*map(text.index, rules), text.rindex(r"\end{tabular}"), text.index("all of it")]
        assert order == sorted(order) and r"\usepackage{booktabs}" in text and r"\hline" not in text
        body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
        rows = [line for line in body.splitlines() if line.endswith(r"\tabularnewline")]
        columns = text.split(r"\begin{tabular}{")[1].split("}")[0]
        assert columns == "lrr" and len(rows) == 1 + len(self.FRAME)
        for row in rows:
            bare = (
                row.replace(r"\&", "")
                .replace(r"\%", "")
                .replace(r"\$", "")
                .replace(r"\#", "")
                .replace(r"\_", "")
                .replace(r"\{", "")
                .replace(r"\}", "")
            )
            assert bare.count("&") == len(columns) - 1
            assert not set(bare.removesuffix(r"\tabularnewline").replace(r"$\times$", "")) & set("%$#_"), bare
            assert bare.count("{") == bare.count("}")
            assert not row.startswith(("[", "*")), "it would be taken for an argument of the row break before"
        assert "(\\%, n = 120)" in rows[0].replace(r"\\ ", "") and "1,200" in text

    def test_a_column_of_sentences_becomes_paragraphs_in_latex(self, tmp_path):
        paths = paper.save(
            pd.DataFrame({"a": ["x"], "why": ["a sentence that goes on and on " * 4]}), "long", folder=tmp_path
        )
        assert re.search(r"\\begin\{tabular\}\{lp\{0\.\d{3}\\linewidth\}\}", paths[2].read_text())

    def test_csv_keeps_every_digit_and_runs_no_formula(self, saved):
        back = pd.read_csv(saved["path"])
        assert list(back.columns) == ["Model", "Resolved (%, n = 120)", "n"]
        assert back["Resolved (%, n = 120)"].iloc[0] == 93.456 and back["Resolved (%, n = 120)"].isna().tolist() == [
            False,
            True,
            False,
            False,
        ]
        assert back["Model"].tolist() == [self.FRAME["Model"][0], "'=1+1", self.FRAME["Model"][2], "[x]"]

    def test_markdown_shows_what_is_there_and_nothing_else(self, saved):
        from html.parser import HTMLParser

        from markdown_it import MarkdownIt

        page, cells, tags = MarkdownIt("commonmark").enable("table").render(saved[".md"]), [], set()

        class Reader(HTMLParser):
            def handle_starttag(self, tag, attributes):
                tags.add(tag)
                if tag in ("td", "th"):
                    cells.append("")

            def handle_data(self, data):
                if cells:
                    cells[-1] += data

        Reader().feed(page)
        texts = [c.strip() for c in cells]
        assert texts[:3] == ["Model", "Resolved (%, n = 120)", "n"]
        assert texts[3::3][:4] == ["a_b & 5% $x$ #1 {y} ~^\\", "=1+1", "a|b *c* <i>", "[x]"]
        assert not tags & {"em", "i", "code", "a"}, "nothing in a cell is taken for markup"

    def test_html_is_escaped_and_has_its_notes(self, saved):
        page = saved[".html"]
        assert "&lt;i&gt;" in page and "<i>" not in page and "100% of it &amp; more" in page
        assert "mean over cases" in page and "all of it" in page and paper.MISSING_NOTE in page

    def test_where_it_comes_from_stands_beside_it(self, saved):
        source = orjson.loads(saved[".json"])
        assert source["parameters"] == {"k": 3} and source["code"]["hash"]
        assert {"mark": "", "text": "mean over cases"} in source["footnotes"]

    def test_a_wrong_column_and_two_of_one_name_are_refused(self, tmp_path):
        with pytest.raises(BadInput, match="no column 'Resolvd'"):
            paper.save(self.FRAME, "x", digits={"Resolvd": 1}, folder=tmp_path)
        with pytest.raises(BadInput, match="two columns named 'a'"):
            paper.save(pd.DataFrame([[1, 2]], columns=["a", "a"]), "x", folder=tmp_path)

    def test_the_same_table_gives_the_same_files(self, tmp_path):
        first, second = (paper.save(self.FRAME, "x", folder=tmp_path / name) for name in "ab")
        assert [p.read_bytes() for p in first[:4]] == [p.read_bytes() for p in second[:4]]


def test_a_long_word_is_broken_with_a_hyphen_and_a_number_never():
    text = breakable("indeterminate: reasoningpreviews 0.52, gpt-5.5-mini-preview")
    assert text.startswith(r"indeterminate: reasoningp\-reviews 0.52, ") and r"\allowbreak{}5.5-\allowbreak{}" in text
    assert r"xxxxxxxxxx\allowbreak{}xxxxx9" in breakable("xxxxxxxxxxxxxxx9"), "a name has no hyphen of ours in it"


def test_an_interval_a_number_and_its_unit_stand_on_one_line():
    assert unbroken("0.0% (0.0 to 16.8%), n = 120") == "0.0% (0.0\u00a0to\u00a016.8%), n\u00a0=\u00a0120"
    page = paper.show(pd.DataFrame({"Share, % (95%)": ["85.3% (80.1 to 89.2%)"]})).html
    assert "(95%)" in page and "85.3% (80.1\u00a0to\u00a089.2%)" in page


def test_wide_tables_fit_a_notebook_page():
    columns = {f"Metric {n}, mean (95%)": ["100.0% (83.2 to 100.0%)"] * 2 for n in range(6)}
    name, note = "rule_forgetter [rules ticket_first and 5 more]", "not compared: no case " * 4
    wide = pd.DataFrame({"Model": [name] * 2, **columns, "Note": [note] * 2})
    with open_browser() as browser, open_page(browser) as (page, _):
        look = "margin:0 33px;font:13px DejaVu Sans"  # as in an executed notebook
        page.set_content(f'<!doctype html><body style="{look}">{paper.show(wide).html}</body>')
        assert page.evaluate("[...document.querySelectorAll('div')].every(d => d.scrollWidth <= d.clientWidth)")
        page.set_content(f'<!doctype html><body style="{look}">{paper.show(wide[[*columns][:3]]).html}</body>')
        rows = page.evaluate("[...document.querySelectorAll('td')].map(td => td.getClientRects()[0].height)")
        assert max(rows) < 30, "cells stay on one line where there is room"


def test_a_board_of_cells_is_saved_with_a_column_for_each_cell_and_the_numbers_behind_them(talks, tmp_path):
    board = tables.leaderboard(talks)
    table = board_table(board)
    paths = paper.save(table, "board", caption="All of it", folder=tmp_path, footnotes=["a note"])
    back = pd.read_csv(paths[0])
    assert len(back) == len(board) and list(back["Model"]) == list(board["entry"])
    assert back["unsafe_mean"].to_numpy() == pytest.approx(board["unsafe_mean"].to_numpy(), nan_ok=True)
    assert back["unsafe_mean_n"].tolist() == board["unsafe_n"].fillna(0).astype(int).tolist()
    assert "unsafe_median" in back and "unsafe_median_low" not in back, "a median has no interval"
    assert "a note" in paths[1].read_text() and "All of it" in paths[1].read_text()


def test_a_board_without_entries_is_refused_in_one_sentence(talks, tmp_path):
    with pytest.raises(BadInput, match="no columns"):
        paper.save(board_table(tables.leaderboard(talks).head(0)), "board", folder=tmp_path)


def test_a_denominator_of_one_is_singular():
    assert METRICS["agent_words"].denominator(1) == "1 case" and METRICS["agent_words"].denominator(2) == "2 cases"
    assert METRICS["unsafe"].denominator(1) == "of 1 trap" and METRICS["resolved"].denominator(1) == "1 resolvable"


def test_a_mean_without_an_interval_keeps_its_denominator():
    some = Cell(number="1.0", label="median"), Cell(number="mean 1.0", label="", note="n = 1")
    shown = table_html(Table(columns=(Heading(key="m", title="M"),), rows=({"m": some},)))
    assert "mean 1.0" in shown and "n\xa0=\xa01" in shown and "()" not in shown


def test_a_table_of_some_numbers_keeps_each_in_its_row():
    table = Table(
        columns=(Heading(key="who", title="Who"), Heading(key="x", title="X")),
        rows=({"who": "a", "x": "-"}, {"who": "b", "x": Cell(number="1", estimate=Estimate(estimate=1.0, n=3))}),
    )
    numbers = table.numbers()
    assert np.isnan(numbers["x"][0]) and numbers["x"][1] == 1 and numbers["x_n"][1] == 3
    assert reports.readable_board(pd.DataFrame(columns=["entry", "notes"])).empty
