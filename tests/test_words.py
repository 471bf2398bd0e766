"""The words of docstrings, pages and notebooks: verbs first, short sentences, one word for a thing."""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "benchmark_lib"
NOUN = re.compile(
    r"(The|A|An|What|Whether|How|Who|Where|When|Which|One|Of|All|Each|Every|Its|Their|None|No|That|Those|In|For|By|With"
    r"|From|As|If|Words|Number|Names|Text)\b"
)
LONG = {"store": 9}
"""By room, the most docstrings with a first line over 90 characters: those of tools, which a model reads as they are."""
NOUNS = {"store": 6}
"""By room, the most docstrings of functions that open with no verb; those of the store are rules that pages show."""
LONG_SENTENCES = {"docs/limits.md": 1, "limits.yaml.j2": 2, "methods.txt.j2": 1}
"""By page or template, the most sentences of over 25 words; a template's branches may look like one sentence."""
OTHERS = re.compile(r"\b(tasks?|episodes?|rollouts?|samples?)\b", re.I)
"""Other words for a case, a conversation or a trial; only tau2 has tasks."""
POSTURE = re.compile(r"\b(stands?|stood|lies?|lay|laid|sits?|sat)\b|\bbeside\b", re.I)
"""Words of posture and place for what is, has or contains."""
PERCENT = re.compile(r"(?:^|[\d)])[ \u00a0]+%(?!})")
"""A percent sign apart from its number; a number that is filled in is written as 0."""


def prose(markdown):
    """Return the paragraphs of a text without code blocks, tables, headings, pictures, code and addresses."""
    text = re.sub(r"```.*?```", "", markdown, flags=re.S)
    text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(("|", "#", "!")))
    text = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)]


def shown(template):
    """Return the text of a template that a reader may see, in paragraphs."""
    text = re.sub(r"{#.*?#}|<(style|script)\b.*?</\1>|<!--.*?-->", "", template, flags=re.S)
    text = re.sub(r"{{.*?}}", "0", re.sub(r"{%.*?%}", " ", text, flags=re.S), flags=re.S)
    text = re.sub(r"</?(?:a|b|bdi|br|code|em|i|q|strong)\b[^>]*>", " ", text)
    return re.sub(r"<[^>]*>", "\n\n", text)


def strings(source):
    """Return the strings of a program; what an f-string fills in is written as 0."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def apart(texts):
    """Return the texts with a percent sign apart from its number, also from one that is filled in."""
    return [text for text in texts if PERCENT.search(re.sub(r"{{.*?}}|{[^{}%]*}", "0", text))]


def sentences(parts):
    return [s for part in parts for s in re.split(r"(?<=[.!?])[)*\"”]*\s+| · ", part) if s]


def cells(path):
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in found if cell["cell_type"] == "markdown")


PAGES = {f"docs/{path.name}": path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
PAGES |= {"README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
NOTEBOOKS = {f"notebooks/{path.name}": cells(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
TEMPLATES = {
    str(path.relative_to(ROOT)): shown(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.j2"))
}
TEXTS = PAGES | NOTEBOOKS | TEMPLATES


def room_of(path):
    parts = path.relative_to(PACKAGE).parts
    if len(parts) == 1 or parts == ("extras", "__init__.py"):
        return "files of their own"
    return "/".join(parts[:2]) if parts[0] == "extras" else parts[0]


def is_property(node):
    names = {getattr(one, "id", getattr(one, "attr", "")) for one in getattr(node, "decorator_list", ())}
    return bool(names & {"property", "cached_property"})


def test_docstrings_have_a_short_first_line_that_opens_with_a_verb():
    """The counts may only fall: lower a room's number when you mend it."""
    long, nouns = Counter(), Counter()
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for path in PACKAGE.rglob("*.py"):
        room, nodes = room_of(path), ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for node in (node for node in nodes if isinstance(node, kinds)):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            long[room] += len(first) > 90
            nouns[room] += isinstance(node, kinds[2:]) and not is_property(node) and bool(NOUN.match(first))
    assert {room: n for room, n in long.items() if n > LONG.get(room, 0)} == {}
    assert {room: n for room, n in nouns.items() if n > NOUNS.get(room, 0)} == {}


@pytest.mark.parametrize("name", TEXTS)
def test_a_sentence_has_at_most_25_words(name):
    long = [s for s in sentences(prose(TEXTS[name])) if len(s.split()) > 25]
    assert len(long) <= LONG_SENTENCES.get(name if name in PAGES else Path(name).name, 0), long


def test_the_readme_can_be_held_in_mind():
    found = sentences(prose(PAGES["README.md"]))
    assert len(PAGES["README.md"].split()) <= 900
    assert sum(len(s.split()) for s in found) <= 18 * len(found)


@pytest.mark.parametrize("name", TEXTS)
def test_the_words_are_those_of_the_design(name):
    found = sentences(prose(TEXTS[name]))
    assert [s for s in found if OTHERS.search(s) and "tau2" not in s + name] == []
    assert [s for s in found if POSTURE.search(s)] == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_percent_sign_follows_its_number_at_once(name):
    assert PERCENT.findall(TEXTS[name]) == []


@pytest.mark.parametrize("room", sorted({room_of(path) for path in PACKAGE.rglob("*.py")}))
def test_a_percent_sign_follows_its_number_in_programs_and_their_texts(room):
    found = [path for path in sorted(PACKAGE.rglob("*.*")) if room_of(path) == room]
    texts = {p.name: strings(p.read_text(encoding="utf-8")) for p in found if p.suffix == ".py"}
    texts |= {p.name: p.read_text(encoding="utf-8").split("\n") for p in found if p.suffix == ".yaml"}
    assert {name: wrong for name, lines in texts.items() if (wrong := apart(lines))} == {}


@pytest.mark.parametrize(
    ("text", "long", "other", "posture", "percent"),
    [
        ("The rate is 8.5% of all cases.", False, False, False, False),
        ("An episode costs 3 %.", False, True, False, True),
        ("The total sits below the list.", False, False, True, False),
        (" ".join(["word"] * 26) + ".", True, False, False, False),
        ("| a task | 5 words |\n\n```\na sample of code\n```\n\nUse `--sample`.", False, False, False, False),
    ],
)
def test_the_lint_sees_what_it_is_for(text, long, other, posture, percent):
    found = sentences(prose(text))
    seen = [any(len(s.split()) > 25 for s in found), *(any(map(p.search, found)) for p in (OTHERS, POSTURE, PERCENT))]
    assert seen == [long, other, posture, percent]


@pytest.mark.parametrize("apart_from_it", ["", " ", "  ", "\u00a0"])
def test_the_lint_sees_a_percent_sign_behind_a_number_that_is_filled_in(apart_from_it):
    program = f'''
def told(share, n):
    """Return ``7{apart_from_it}%``."""
    sign = "{apart_from_it}%"
    kept = f"{{100 * share:.1f}}{apart_from_it}% of {{n}}"
    return [kept, "{{lost}}{apart_from_it}% lost".format(lost=n), "({{n}} of 9){apart_from_it}%", n % 3, "Share, %"]
'''
    found = apart([*strings(program), "level: {{ level }}" + apart_from_it + "%"])
    assert len(found) == 7 * bool(apart_from_it), "the f-string counts twice, whole and by its part"
