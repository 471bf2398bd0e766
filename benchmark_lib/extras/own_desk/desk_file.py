"""Read ``desk.yaml``, with defaults for all that a shop need not say; write a desk's files."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import orjson
import pandas as pd
from pydantic import Field, ValidationError, model_validator

from ...errors import BadInput
from ...language.sentences import fold, letters
from ...project import writing
from ...records import content_hash
from ...store.tools import Part
from ...textfiles import as_yaml, read_yaml, render

FILE, POLICY, STORE = "desk.yaml", "policy.yaml", "store.yaml"
MARK, CASES = ".made.json", "cases/tickets.yaml"
"""The file with the hashes of the files that a command has made; and its file of cases."""
DECLARED = "declared"
REFUSE, ANY_QUEUE = "refuse", "any"
"""The default consequence of a broken rule, in whose place a queue means a handover; the queue if any is right."""
INTENTS = rb"(?ms)^intents:.*?(?=^[a-z]|\Z)"
WEIGHT = rb"""(?m)^ +tickets: *\d+ *(#.*)?$\n?|,\s*["']?tickets["']?: *\d+|["']?tickets["']?: *\d+ *,\s*"""
"""Patterns of a desk's intents in its file, and of the tickets of one of them."""
NAME = r"^[a-z][a-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME)]
Row = dict[str, Any]
BASE = Path(__file__).with_name("base")


@cache
def texts(file: str) -> dict[str, Any]:
    """Return the patterns and sentences in a YAML file of this package."""
    loaded: dict[str, Any] = read_yaml(Path(__file__).parent / file)
    return loaded


def says(sentence: str, /, **words: Any) -> str:
    """Return a sentence of ``says.yaml``."""
    return str(texts("says.yaml")[sentence].format(**words))


def refusal(sentence: str, /, **words: Any) -> BadInput:
    """Return the error with a sentence of ``says.yaml``."""
    return BadInput(says(sentence, **words))


def name_of(text: object) -> str:
    """Turn a text into a name, such as ``change_address``; it may begin with a digit."""
    plain = letters(fold(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(text or ""))))
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:48].rstrip("_")


def slug(text: object) -> str:
    """Turn a text into a name for use in a desk file, which begins with a letter."""
    return name_of(text).lstrip("_0123456789")


def singular(table: str) -> str:
    """Return the name for one row of a table, such as "order" for ``orders``."""
    return re.sub("s$", "", re.sub("(?<=x|s|z|h)es$", "", re.sub("ies$", "y", table)))


class DeclaredTable(Part):
    """A table with its key column; its rows are in ``NAME.csv``."""

    key: str


class DeclaredAsked(Part):
    """A value that an agent may ask the customer for; `answer` contains ``{value}``."""

    ask: str = ""
    words: list[str] = []
    answer: list[str] = []


class DeclaredArgument(DeclaredAsked):
    """A value that an act takes besides the key of its row.

    `unit` is the unit of a number, such as ``months``: an offer with another number of that unit is another offer.
    """

    about: str
    choices: list[str] = []
    optional: bool = False
    number: bool = False
    unit: str = ""


class DeclaredQuestion(DeclaredAsked):
    """A fact that only the customer knows and a rule may need."""

    ask: str
    words: list[str] = Field(min_length=1)
    answer: list[str] = ["{value}"]


class DeclaredRefusal(Part):
    """A refusal: `say` is an agent's sentence, and `words` are alternative wordings."""

    say: str
    words: list[str] = []


class DeclaredRule(DeclaredRefusal):
    """A condition for an act, with the reason for a refusal.

    `holds` is a formula, see `compiled.names_of`; `otherwise` is ``refuse`` or a queue.
    """

    holds: str
    otherwise: str = REFUSE


class DeclaredAct(Part):
    """An act of the desk on a row of a table, by default the subject's.

    `sets` names the columns that change, and `gives` additional values of the result, both with their formulas.
    """

    about: str
    table: str = ""
    arguments: dict[str, DeclaredArgument] = {}
    sets: dict[str, Any] = Field(min_length=1)
    rules: dict[str, DeclaredRule] = {}
    do: str = ""
    done: str = ""
    words: list[str] = []
    confirm: bool = True
    gives: dict[str, str] = {}


class DeclaredTold(Part):
    """A value that the answer must contain, as a formula; see `benchmark_lib.cases.case.Fact`."""

    kind: Literal["money", "date", "id", "link", "measure", "choice"]
    value: str
    unit: str | None = None
    say: str | None = None
    ask: str | None = None
    after: int | None = None


class DeclaredIntent(Part):
    """A reason to write, which leads to an act, an answer, a handover or a refusal.

    An intent with `refuse`, the name of a refusal, forbids its act, or every change if it has no act. A handover is
    then right only if the intent also has a queue. `tickets` is the number of the desk's tickets with this intent.
    """

    description: str
    act: str = ""
    tell: dict[str, DeclaredTold] = {}
    must_say: list[str] = []
    queue: str = ""
    refuse: str = ""
    knows: dict[str, str] = {}
    goal: str = ""
    tickets: int = Field(1, ge=0)


class DeskFile(Part):
    """The content of a ``desk.yaml``; `proofs` lists sets of columns that prove who writes.

    `owner` names the columns with the customer's address and name, in the subject's row or one it refers to.
    """

    subject: str
    tables: dict[Name, DeclaredTable]
    owner: dict[Literal["email", "name"], str] = {}
    proofs: list[list[str]] = []
    acts: dict[Name, DeclaredAct] = {}
    questions: dict[Name, DeclaredQuestion] = {}
    refusals: dict[Name, DeclaredRefusal] = {}
    intents: dict[Name, DeclaredIntent] = Field(min_length=1)

    @cached_property
    def key(self) -> str:
        """Return the key column of the subject's table."""
        return self.tables[self.subject].key

    @cached_property
    def heads(self) -> list[str]:
        """Return the columns that the header of every email gives: address and name."""
        return [self.owner.get("email", "email"), self.owner.get("name", "name")]

    @cached_property
    def ways(self) -> list[list[str]]:
        """Return the proofs; by default, the key with the address and the key with the name."""
        return self.proofs or [[self.key, head] for head in self.heads]

    @cached_property
    def arguments(self) -> dict[str, DeclaredArgument]:
        """Return the arguments of all acts by name."""
        return {name: argument for act in self.acts.values() for name, argument in act.arguments.items()}

    @cached_property
    def rules(self) -> dict[tuple[str, str], DeclaredRule]:
        """Return the rules of all acts, by act and name."""
        return {(act, name): rule for act, declared in self.acts.items() for name, rule in declared.rules.items()}

    def on(self, act: str) -> str:
        """Return the table that an act changes; without such an act, the subject's table."""
        return (self.acts[act].table if act in self.acts else "") or self.subject

    def key_of(self, act: str) -> str:
        """Return the key column of the table that an act changes."""
        return self.tables[self.on(act)].key

    def needed(self, act: str) -> list[str]:
        """Return the questions whose answers the rules of an act need; none without an act."""
        formulas = " ".join(rule.holds for rule in self.acts[act].rules.values()) if act in self.acts else ""
        return [name for name in self.questions if f"knows.{name}" in formulas]

    def reason_of(self, rule: DeclaredRule) -> str:
        """Return the name of a rule's reason; rules with the same sentence share it."""
        return next(rule_name(*place) for place, one in self.rules.items() if one.say == rule.say)

    def reasons_of(self, rule: DeclaredRule, act: str) -> list[str]:
        """Return the reasons of an act's rule and of other acts' rules that share a wording with it."""
        words = {rule.say, *rule.words}
        others = [one for (other, _), one in self.rules.items() if other != act and words & {one.say, *one.words}]
        return [self.reason_of(one) for one in (rule, *others)]

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        named: list[tuple[str, str, Any]] = [("subject", self.subject, self.tables)]
        named += [(f"acts.{name}.table", act.table, self.tables) for name, act in self.acts.items()]
        wrong = []
        for name, intent in self.intents.items():
            where = f"intents.{name}"
            named += [(f"{where}.act", intent.act, self.acts), (f"{where}.refuse", intent.refuse, self.refusals)]
            named += [(f"{where}.knows", slot, self.questions) for slot in intent.knows]
            if not (intent.act or intent.tell or intent.must_say or intent.queue or intent.refuse):
                wrong.append(f"{where}: {says('idle')}")
        for where, one, known in named:
            if one and one not in known:
                wrong.append(f"{where}: {says('unnamed', one=one, names=', '.join(known) or 'none')}")
        if wrong:
            raise ValueError("\n".join(wrong))
        return self


def unweighted(path: Path) -> bytes:
    """Return the content of a file without the tickets of intents, which only weigh results."""
    content = path.read_bytes()
    return re.sub(INTENTS, lambda found: re.sub(WEIGHT, b"", found[0]), content) if path.name == FILE else content


def rule_name(act: str, rule: str) -> str:
    """Return a rule's name, which is unique within a desk."""
    return f"{act}_{rule}"


def read_desk(folder: Path) -> DeskFile:
    """Read the desk of a folder; raise `BadInput` with the first problem in its file."""
    policy = read_yaml(folder / POLICY) if (folder / POLICY).is_file() else {}
    if not isinstance(policy or {}, dict):
        raise refusal("policy_form", path=folder / POLICY)
    try:
        return desk_of(read_yaml(folder / FILE), policy, folder)
    except ValidationError as error:
        why = next(problems_of_form(error))[1]
        raise BadInput(f"{folder / FILE}: {why}; `deskbench desk check` lists all problems at once") from None


def desk_of(content: Any, policy: Any, folder: Path, reading: Callable[..., Any] | None = None) -> DeskFile:
    """Return a desk; in its texts, the policy's numbers replace ``{{ policy.NAME }}``.

    Each text is filled in within ``reading(FILE, place)``; if that hides an error, the text is left as it is.
    """

    def filled(text: str, where: str) -> str:
        with reading(FILE, where[1:].split(".")) if reading else nullcontext():
            only = "which may name numbers of the policy and no column"
            return render(text, f"{folder / FILE}: {where[1:]}, {only}", policy=policy)
        return text

    desk = DeskFile.model_validate(content if isinstance(content, dict) else {})
    return DeskFile.model_validate(with_texts(desk.model_dump(), filled))


def with_texts(part: Any, change: Callable[[str, str], str], where: str = "") -> Any:
    """Return nested data with each text changed; `change` gets the text and its place."""
    if isinstance(part, dict):
        return {name: with_texts(inner, change, f"{where}.{name}") for name, inner in part.items()}
    if isinstance(part, list):
        return [with_texts(inner, change, where) for inner in part]
    return change(part, where) if isinstance(part, str) else part


def without_empty(fields: Row) -> Row:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value}


def problems_of_form(error: ValidationError) -> Iterator[tuple[list[str], str]]:
    """Yield each fault in a desk's file: the field's path, and a sentence that begins with it."""
    words = texts("checks.yaml")["form"]
    for one in error.errors():
        path = [str(part) for part in one["loc"] if part != "[key]"]
        said = str(one["msg"])
        for line in said.removeprefix("Value error, ").split("\n"):
            if not path:
                yield line.partition(":")[0].split("."), line
            elif one["type"] in words:
                yield path, f"{'.'.join(path)} {words[one['type']]}"
            else:
                yield path, f"{'.'.join(path)}: {line[0].lower()}{line[1:]}"


def files_of(
    desk: str, info: dict[str, str], rows: dict[str, list[Row]], cases: Iterable[Row], articles: Iterable[Row]
) -> dict[str, str]:
    """Return the texts of a desk's files by name.

    `info` has name, title and clock, `rows` the rows by table; `articles` have title, text, and other header fields.
    """
    files = {FILE: desk, STORE: as_yaml({**info, "kind": DECLARED}), CASES: as_yaml({"cases": [*cases]})}
    files |= {f"{name}.csv": pd.DataFrame(own).to_csv(index=False, lineterminator="\n") for name, own in rows.items()}
    for number, article in enumerate(articles, 1):
        head = {"id": f"A-{number}", "title": article["title"], "topics": [article["title"]], **article}
        text = head.pop("text")
        files[f"articles/a{number:03}.md"] = f"---\n{as_yaml(head)}---\n{text}\n"
    return files


def mark_of(folder: Path) -> dict[str, Any]:
    """Return what `write_made` noted about a folder: ``files`` with their hashes, and the rest."""
    path = folder / MARK
    return {"files": {}, **(read_yaml(path) if path.is_file() else {})}


def write_made(folder: Path, files: dict[str, str], beside: Path | None = None, **about: Any) -> Path:
    """Write files in place of those made before, with a mark, and return their folder.

    If somebody else wrote, changed or removed one of them, write to `beside`; without it, refuse.
    """
    made = mark_of(folder)["files"]
    new = {name: content_hash(text.encode()) for name, text in files.items()}
    paths = {name: folder / name for name in {*made, *new}}
    now = {name: content_hash(path.read_bytes()) if path.is_file() else None for name, path in paths.items()}
    if made != new and any(now[name] != made.get(name) for name in now):
        if beside is not None:
            return write_made(beside, files, **about)
        raise refusal("edited", folder=folder)
    with writing(folder):
        for name in made.keys() - new.keys():
            paths[name].unlink()
        for name, text in files.items() if made != new else ():
            paths[name].parent.mkdir(parents=True, exist_ok=True)
            paths[name].write_text(text, encoding="utf-8")
        (folder / MARK).write_bytes(orjson.dumps({**about, "files": new}, option=orjson.OPT_INDENT_2))
    return folder
