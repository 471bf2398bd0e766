"""Every name that ``--cases`` takes is listed with the number of cases it stands for."""

from benchmark_lib.cases import load_cases
from benchmark_lib.cases.load import every_case, names_of
from benchmark_lib.cli import main


def listed(capsys, *words):
    assert main(["cases", *words]) == 0
    head, _, *rows, last = capsys.readouterr().out.splitlines()
    return head, [row.split() for row in rows], last


def test_each_name_stands_there_once_with_as_many_cases_as_it_names(store, capsys):
    head, rows, last = listed(capsys)
    assert head == f"{store.name} {store.version}: {len(load_cases(store))} cases" and "wildcards" in last
    counts = {
        words[at - 1]: int(words[at]) for words in rows for at in (2, 3) if words[at : at + 1] and words[at].isdigit()
    }
    names = {name for case in every_case(store) for name in names_of(case, store)} - {"all"}
    ids = {case.id for case in every_case(store)} - set(counts)
    assert names - ids <= set(counts) and len(counts) == len(rows)
    counts.pop("hard")
    assert all(len(load_cases(store, name)) == count for name, count in counts.items())


def test_the_names_of_the_hard_set_are_listed_as_they_are_given(capsys):
    head, rows, _ = listed(capsys, "hard")
    assert "northline:hard" in head and ["family", "hard:dense"] in [words[:2] for words in rows]
    assert main(["cases", "hard:dense_1"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["dense_1"]


def test_an_unknown_name_is_told_where_the_names_are(capsys):
    assert main(["run", "scripted:oracle", "--cases", "wismo_travle"]) == 2
    said = capsys.readouterr().err
    assert "did you mean wismo_travel" in said and "`deskbench cases` lists all names" in said
