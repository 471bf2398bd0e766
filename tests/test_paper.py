"""An author's way: one table and one figure of a run in a two-column paper that a real LaTeX compiles without a line too wide."""

import re
import shutil
import subprocess

import orjson
import pandas as pd
import pytest
import yaml
from made_runs import CASES, HOSTILE, change_manifest, mixed, run_of

from benchmark_lib import figures, load_results, reports, tables
from benchmark_lib.analysis.frames import Results
from benchmark_lib.analysis.panels import short_name
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.demo import EXAMPLE
from benchmark_lib.experiment.manifest import part
from benchmark_lib.latex import escaped
from benchmark_lib.project import code_version, project_folder
from benchmark_lib.reports.methods import AUTHORS, TITLE
from benchmark_lib.scoring.written import digits_for, rounded

NAMES = (
    "acme-large",
    HOSTILE.replace("\x00", ""),
    r"100% _x_ & {y} \end{table} #1 ~^",
    "中文-model-é-ß",
    "v" * 60 + "1",
    "v" * 60 + "2",
)

ARTICLE = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx}
\graphicspath{{%(folder)s/}}
\begin{document}
See Table~\ref{tab:main}, Figures~\ref{fig:unsafe} and \ref{fig:unsafe-column}. \cite{deskbench}
\input{%(folder)s/methods}

\input{%(folder)s/main}
\input{%(folder)s/unsafe-column}
\input{%(folder)s/unsafe}
\input{%(folder)s/wide}
\input{%(folder)s/published-cells}
\input{%(folder)s/by-intent}
\bibliographystyle{plain}\bibliography{%(folder)s/deskbench}
\end{document}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for number, name in enumerate(NAMES):
        run_of(folder, name, mixed(0.5 + 0.08 * number, number), cost=0.01 * (number + 1)).path.rename(
            folder / f"{number}.deskbench"
        )
    return load_results(folder)


@pytest.fixture(scope="module")
def board(results):
    return tables.leaderboard(results)


def texts_of(table):
    """The footnotes of a table."""
    return [text for _, text in table.notes]


def test_the_table_of_a_paper_has_seven_columns_and_says_what_it_is(board):
    table = tables.paper(board.assign(band="safe", p_safe=0.9))
    assert [c.split(",")[0].split(" of")[0] for c in table.frame()] == [
        "Model",
        "Over-escalation",
        "Unsafe actions",
        "Escalation accuracy",
        "Resolved",
        "Band",
        "Cost tier",
    ]
    assert "6 models, 3 trials per case" in table.caption and "95% interval" in table.caption
    assert "n = 12 resolvable cases; higher is better." in texts_of(table)
    assert table.frame()["Resolved, %"].str.fullmatch(r"\d+\.\d \(\d+–\d+\)").all(), "its decimals as everywhere"
    alone = tables.paper(board, columns=["resolved"], models=["acme-large"]).frame()["Resolved, %"].iloc[0]
    assert alone == table.frame().set_index("Model").loc["acme-large", "Resolved, %"], "whatever rows stand beside it"


def test_a_table_for_print_has_no_column_of_unknown_prices_and_no_advice_to_add_them(board):
    unpriced = board.assign(cost_tier="price unknown", notes="price unknown: add the model to data/prices.yaml")
    one = board.assign(notes=unpriced["notes"].where(board.index == 0, board["notes"]))
    assert not any("prices.yaml" in texts_of(tables.paper(table)) for table in (unpriced, one))
    assert "Cost tier" not in tables.paper(unpriced).frame()
    assert set(tables.paper(unpriced, columns=["cost_tier"]).frame()["Cost tier"]) == {"price unknown"}


def test_columns_and_models_are_chosen_and_a_wrong_one_is_refused(board):
    table = tables.paper(board, columns=["resolved", "trials"], models=["acme-large"])
    assert list(table.frame()) == ["Model", "Resolved, %", "Trials"] and list(table.frame()["Model"]) == ["acme-large"]
    with pytest.raises(BadInput, match="did you mean 'resolved'"):
        tables.paper(board, columns=["resolvd"])
    with pytest.raises(BadInput, match="did you mean 'acme-large'"):
        tables.paper(board, models=["acme-larg"])
    with pytest.raises(BadInput, match="named twice"):
        tables.paper(board, columns=["resolved", "resolved"])
    with pytest.raises(BadInput, match="no rows"):
        tables.paper(board.iloc[:0])


def test_a_table_for_print_has_no_column_of_bands_that_no_row_has_and_says_nothing_twice(board):
    notes = "unsafe actions: bands are for 18 traps, not for 6, so no band; resolves under 50% of the resolvable cases"
    idle = board.assign(resolved=0.0, unsafe=0.0, unsafe_mean=0.0, band="none", notes=f"{notes}; only 1 trial")
    table = tables.paper(idle)
    assert "Band" not in table.frame() and texts_of(table)[-1].count("resolves under 50%") == 1
    assert "so no band" not in texts_of(table)[-1] and texts_of(table)[-1].endswith("only 1 trial.")
    assert set(tables.paper(idle, columns=["unsafe", "band"]).frame()["Band"]) == {"none*"}
    assert "so no band" in texts_of(tables.paper(idle, columns=["unsafe", "band"]))[-1]


def test_a_heading_never_ends_in_a_line_that_is_only_a_number_or_a_sign(tmp_path):
    row = {"Model": "acme", "Unsafe actions of 8": "0.0* (0.0–1.1), 0", "Over-escalation, %": "0.0 (0–17)", "n": 20}
    text = reports.paper.save(pd.DataFrame([row]), "heads", folder=tmp_path)[2].read_text()
    assert r"Unsafe \\ actions of 8\end" in text and r"Over- \\ escalation, \%\end" in text


@pytest.mark.parametrize(
    "width, digits", [(10.3, 0), (4.1, 1), (0.8, 2), (0.026, 3), (24, 0), (0, 4), (float("nan"), 4)]
)
def test_the_ends_of_an_interval_have_two_significant_digits_of_its_width(width, digits):
    assert digits_for(50.0, 50.0 + width) == digits


def test_halves_are_rounded_up():
    assert [rounded(v, 0) for v in (100 * 261 / 360, 12.5, -0.5, 14.499999999999998, 14.49)] == [
        "73",
        "13",
        "-1",
        "15",
        "14",
    ]


def test_a_row_that_is_no_language_model_says_so_in_its_name_whatever_the_columns_and_the_caption(board):
    frame = board.iloc[:3].copy()
    frame[["panel", "partial", "resolved", "unsafe_n", "band", "p_reckless"]] = [
        ["scripted agents", "", 0.0, 18, "safe", 0.0],
        ["players", "40 of 57", 0.9, 8, "none", 0.0],
        ["models", "", 0.9, 18, "reckless", 0.9],
    ]
    with pytest.warns(
        UserWarning, match=f"unfinished: {re.escape(short_name(frame['entry'].iloc[1]))} .40 of 57 planned"
    ):
        table = tables.paper(frame, models=list(frame["entry"]))
    assert [n.rpartition(" (")[2] for n in table.frame()["Model"].iloc[:2]] == ["scripted)", "played)†"]
    assert texts_of(table)[-1].startswith("† Unfinished") and "(40 of 57 planned conversations)" in texts_of(table)[-1]
    assert "Scripted agents (" in table.caption
    assert table.frame()["Band"].iloc[0] == "none*" and "*: resolves under 50%" in texts_of(table)[-1]
    assert table.frame()["Unsafe actions of 18"].str.contains(" of 8 (", regex=False).tolist() == [False, True, False]


def test_where_rows_rest_on_different_cases_or_trials_each_says_its_own_beside_its_name(board):
    frame = board.iloc[:3].copy()
    frame[["over_escalation_n", "resolved_n", "escalation_accuracy_n", "trials"]] = [
        [120, 120, 24, 3],
        [120, 120, 24, 3],
        [40, 40, 8, 1],
    ]
    table = tables.paper(frame)
    assert list(table.frame())[:2] == ["Model", "n"] and table.frame()["n"].tolist() == [
        "120 / 24",
        "120 / 24",
        "40 / 8",
    ]
    assert texts_of(table)[0] == "Cases for over-escalation and resolved / escalation accuracy."
    assert table.frame()["Trials"].tolist() == ["3", "3", "1"]
    assert not {"n", "Trials"} & set(tables.paper(frame.iloc[:2]).frame())


def test_the_run_that_is_meant_is_asked_for_where_a_model_has_two(board):
    names = ["acme-mini [6 cases]", "acme-mini [162 cases]", *board["entry"].iloc[2:]]
    with pytest.raises(BadInput, match="2 runs of 'acme-mini': name one of them, 'acme-mini .6 cases.' or"):
        tables.paper(board.assign(entry=names), models=["acme-mini"])


def test_nothing_in_a_name_is_a_command_and_what_latex_cannot_set_is_told_by_its_code():
    assert escaped(r"\end{table} 50% é 中") == r"\textbackslash{}end\{table\} 50\% é \texttt{U+4E2D}"
    assert escaped("acme†") == r"acme$\dagger$", "by the font of mathematics, which every LaTeX has as outlines"


@pytest.fixture(scope="module")
def paper_folder(results, board, tmp_path_factory):
    """What the lines of docs/paper.md write, and a table of text beside it."""
    lines = re.search(r"```python\n(.*?)```", (project_folder() / "docs/paper.md").read_text(), re.S).group(1)
    assert len(lines.strip().splitlines()) <= 14
    folder = tmp_path_factory.mktemp("author") / "paper"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        patch.setattr("benchmark_lib.load_results", lambda *_: results)
        exec(lines, {})
    wordy = board[["entry", "notes", "versions"]].assign(words="a sentence that goes on and on " * 4)
    reports.paper.save(wordy, "wide", folder=folder)
    reports.paper.save(tables.published_escalation_cells(), "published-cells", folder=folder)
    played = figures.directions_by_intent(table=tables.intent_table(load_results(EXAMPLE)))
    figures.save(played, "by-intent", folder=folder)
    return folder


def test_the_lines_of_the_docs_compile_in_two_columns_without_a_line_too_wide(paper_folder):
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed: make system installs it")
    (paper_folder.parent / "paper.tex").write_text(ARTICLE % {"folder": paper_folder.name}, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for command in (latex, ["bibtex", "paper"], latex, latex):
        done = subprocess.run(command, cwd=paper_folder.parent, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0 and "Warning--" not in done.stdout, done.stdout[-1500:]
    assert not re.findall(r"Overfull \\hbox.*|Float too large.*", done.stdout)
    assert not re.findall(r"(?:Reference|Citation) `.*' .*undefined", done.stdout)
    assert code_version()["version"] in (paper_folder.parent / "paper.bbl").read_text()


def test_the_lines_of_the_docs_write_them(paper_folder):
    assert {p.name for p in paper_folder.glob("*.tex")} >= {
        "main.tex",
        "unsafe-column.tex",
        "unsafe.tex",
        "methods.tex",
    }


def test_the_markdown_of_a_mini_table_stands_beside_and_its_provenance_holds_the_caption(paper_folder):
    text = (paper_folder / "main.md").read_text(encoding="utf-8")
    assert text.count("\n| ") == 2 + len(NAMES) and "Resolved, %" in text
    source = orjson.loads((paper_folder / "main.json").read_bytes())
    assert source["caption"].startswith("Deskbench, northline") and len(source["runs"]) == len(NAMES)


def test_tables_with_long_names_do_not_overwrite_each_other(board, tmp_path):
    names = [f"table-of-a-vendor-with-a-very-long-name-{'x' * 20}-{end}" for end in ("one", "two")]
    saved = [set(reports.paper.save(board[["entry"]], name, folder=tmp_path)) for name in names]
    assert not saved[0] & saved[1]
    labels = [next(path for path in paths if path.suffix == ".tex").read_text() for paths in saved]
    assert [name in text for name, text in zip(names, labels, strict=True)] == [True, True]


def test_the_methods_paragraph_comes_from_the_manifests(results):
    said = reports.methods(results)
    manifest = results.runs[0].manifest
    for words in (
        "6 language models",
        "acme-large",
        manifest["created"][:10],
        f"{len(CASES)} cases of northline 1",
        "3 trials each",
        code_version()["version"],
        "hash of the set of cases",
        "beta-binomial",
        "No composite score",
    ):
        assert words in said
    assert f"{len(results.conversations):,} conversations" in said
    assert "Of the planned" not in said and "Settings: the endpoint's defaults. Seed: " in said
    with pytest.raises(BadInput, match="no runs to describe"):
        reports.methods(Results([]))


def test_the_methods_paragraph_names_endpoints_settings_and_prompts_one_by_one_and_says_nothing_of_absent_judges(
    tmp_path,
):
    runs = {}
    for temperature in (None, 0.7, 1.5):
        (tmp_path / str(temperature)).mkdir()
        run = run_of(tmp_path / str(temperature), "acme", mixed(0.5, 1))
        body = {"agent": {"temperature": temperature, "top_p": 0.9}} if temperature else {}
        inputs = run.manifest["inputs"] | {"settings": part(body), "seed": part(0), "prompt": part("northline agent-3")}
        place = "http://127.0.0.1:8000/v1" if temperature else "https://api.example.com/v1"
        asked = {"agent": {"model": "acme", "base_url": place, "price": None}}
        change_manifest(run.path, inputs=inputs, sessions=[{"started": "2026-03-04T10:00", "endpoints": asked}])
        runs[temperature] = run.path
    results = load_results(*runs.values())
    said, of = reports.methods(results), dict(zip(runs, (results.entries[run.run_id] for run in results.runs)))
    assert "1 language model in 3 runs" in said
    assert f"asked at https://api.example.com/v1 for {of[None]}; http://127.0.0.1:8000/v1 for the other 2 runs." in said
    first, second = "the endpoint's defaults", "temperature 0.7 and top p 0.9"
    assert f"Settings: {first} for {of[None]}; {second} for {of[0.7]}; temperature 1.5 and top p 0.9 for the" in said
    assert "agent." not in said and " Seed: 0. System prompt: northline agent-3. " in said
    assert "boards" not in said and "judged" not in said and "All scores were read from the record" in said
    table = tables.paper(tables.leaderboard(results))
    assert "1 model in 3 runs, " in table.caption and "boards" not in table.caption


def test_the_methods_paragraph_says_who_played_what_is_partial_and_which_version_made_which_run():
    example = load_results(EXAMPLE)
    said = reports.methods(example)
    assert "1 player in the agent's chair" in said and "a strong language model that played blind" in said
    assert "endpoint" not in said, "nobody was asked at an endpoint"
    finished = len(example.conversations)
    assert "partial" not in said and f"{finished} conversations were recorded" in said
    example.conversations = example.conversations.iloc[1:]
    assert f"has {finished - 1} of {finished}" in reports.methods(example)
    printed = reports.methods(example, latex=True)
    assert r"95\%" in printed and r"With Deskbench~\cite{deskbench}, we ran" in printed
    assert r"\cite" not in reports.methods(example) and reports.bibtex().startswith("@misc{deskbench,")


def test_the_numbers_of_a_table_stand_beside_its_text_in_the_csv(board, paper_folder):
    kept = pd.read_csv(paper_folder / "main.csv")
    assert kept["resolved"].tolist() == board["resolved_mean"].tolist() and kept["resolved_n"].tolist() == [12] * len(
        NAMES
    )
    assert kept[["unsafe_low", "unsafe_high"]].dtypes.eq(float).all()


def test_a_table_larger_than_a_page_has_no_latex_and_that_is_said(board, tmp_path):
    long = board[["entry", "trials"]].loc[board.index.repeat(20)]
    wide = board[["entry"]].assign(**{f"number {n}": 1000.5 for n in range(30)})
    for name, frame in (("long", long), ("wide", wide)):
        with pytest.warns(UserWarning, match=f"{name}.tex is not written, .* choose fewer rows or columns"):
            reports.paper.save(frame, name, folder=tmp_path)
        assert not (tmp_path / f"{name}.tex").exists()


def test_several_are_saved_by_name_and_those_without_latex_are_told_in_words_alone(board, tmp_path, recwarn):
    long = board[["entry", "trials"]].loc[board.index.repeat(20)]
    said = reports.paper.save_all(
        {"few": {"frame": board[["entry"]]}, "long": {"frame": long}}, folder=tmp_path, digits=1
    )
    assert said == f"2 tables saved in {tmp_path}; without LaTeX, since larger than a printed page: long"
    assert (tmp_path / "few.tex").exists() and not (tmp_path / "long.tex").exists() and not recwarn


def test_an_earlier_table_stays_where_the_new_one_has_no_latex_and_that_is_said(board, tmp_path):
    reports.paper.save(board[["entry"]], "main", folder=tmp_path)
    earlier = (tmp_path / "main.tex").read_text()
    with pytest.warns(UserWarning, match="main.tex is not written .the file of that name is an earlier table"):
        saved = reports.paper.save(board[["entry"]].loc[board.index.repeat(20)], "main", folder=tmp_path)
    assert (tmp_path / "main.tex").read_text() == earlier and all(path.suffix != ".tex" for path in saved)


def test_eleven_long_rows_with_the_columns_of_a_paper_fit_on_a_page(board, tmp_path):
    """Names of settings, bands in two parts and two footnotes on every third run."""
    rows = board.iloc[[0] * 11].reset_index(drop=True)
    rows["entry"] = [f"acme/large-model-{n}-instruct-preview [temperature 0.{n}, reasoning high]" for n in range(11)]
    rows = rows.assign(band="indeterminate", p_safe=0.0, p_middling=0.45, p_reckless=0.55, cost_tier="under 10 USD")
    rows.loc[::3, ["partial", "unsafe_n", "trials"]] = ["146 of 486", 2, 1]
    rows.loc[::3, "notes"] = "unsafe actions: " + "what is to be known of this run " * 3
    with pytest.warns(UserWarning, match="unfinished") as warned:
        saved = reports.paper.save(tables.paper(rows), "eleven", folder=tmp_path)
    assert len(warned) == 1 and saved[2].suffix == ".tex"
    if shutil.which("pdflatex"):
        page = r"\documentclass[10pt,twocolumn]{article}\usepackage[T1]{fontenc}\usepackage{booktabs}"
        page += r"\begin{document}\input{eleven}\end{document}"
        (tmp_path / "page.tex").write_text(page)
        latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
        done = subprocess.run(latex, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0 and not re.search(r"Overfull|too large", done.stdout), done.stdout[-1500:]


REQUIRED = {"cff-version": "1.2.0", "message": str, "title": str, "authors": list}
"""What CITATION.cff has to hold by version 1.2.0 of its format."""


def test_the_citation_file_is_valid_and_agrees_with_the_bibtex():
    cff = yaml.safe_load((project_folder() / "CITATION.cff").read_text(encoding="utf-8"))
    for name, kind in REQUIRED.items():
        assert cff[name] == kind if isinstance(kind, str) else isinstance(cff[name], kind) and cff[name], name
    assert all(set(author) in ({"name"}, {"family-names", "given-names"}) for author in cff["authors"])
    assert cff["type"] in ("software", "dataset") and str(cff["version"]) == code_version()["version"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(cff["date-released"])) and cff["license"] == "MIT"
    assert cff["title"] == TITLE and [a["name"] for a in cff["authors"]] == [AUTHORS]
    assert reports.bibtex().startswith("@misc{") and code_version()["version"] in reports.bibtex()
    assert TITLE in reports.bibtex() and reports.bibtex().count("{") == reports.bibtex().count("}")


def test_the_bibtex_has_the_address_that_is_given_or_stands_in_the_citation_file(monkeypatch, tmp_path):
    without, comment = reports.bibtex().rsplit("\n", 1)
    assert "url" not in without and comment.startswith("% No address yet")
    given = reports.bibtex(url="https://example.org/desk_bench?v=1#a")
    assert "  url    = {https://example.org/desk_bench?v=1#a}," in given and "%" not in given
    with pytest.raises(BadInput, match="not a web address"):
        reports.bibtex(url="example.org}")
    monkeypatch.chdir(tmp_path)
    for field, title, found in (
        ("repository-code", TITLE, True),
        ("url", TITLE, True),
        ("url", "Another paper", False),
    ):
        cff = {"title": title, field: "https://example.org/desk"}
        (tmp_path / "CITATION.cff").write_text(yaml.safe_dump(cff), encoding="utf-8")
        assert ("{https://example.org/desk}" in reports.bibtex()) == found
