"""Read text files, refuse broken ones, and fill in templates safely and quickly."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, reduce, wraps
from math import floor
from pathlib import Path
from types import GeneratorType
from typing import Any

import yaml
from jinja2 import StrictUndefined, Undefined, nodes
from jinja2.filters import FILTERS
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .errors import BadInput
from .project import DATA

LARGEST_FILE = 50_000_000
"""Maximum number of bytes of a text file."""
MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Byte-order marks with their encodings; the first match counts."""
OFFICE = (b"PK", b"\xd0\xcf")
"""First bytes of the files of office programs."""
DEEPEST, MOST_VALUES = 100, 2_000_000
"""Maximum depth of a YAML file and number of its values, with aliases expanded."""
BROKEN_YAML = (yaml.YAMLError, ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError)
"""Errors that loading broken YAML raises; the constructors of dates, numbers and tags add their own."""
MENDS = {
    "mapping values": "a text that contains ': ' needs quotes, or a block: | after the name, and the text below it",
    "tab character": "use spaces, not a tab",
    "expected ',' or": "close each { and [, with commas between what is in them",
    "": "put text that looks like a date, number or tag in quotes",
}
"""What to do about broken YAML, by a part of the error's words; the first that occurs counts."""


def read_text(path: Path, largest: int = LARGEST_FILE) -> str:
    """Read a text file in UTF-8, or in marked UTF-16 or UTF-32, without its byte-order mark.

    Raise `BadInput` for anything but a file (a folder, a pipe, a device), for more than `largest` bytes, or for another
    encoding.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise BadInput(f"{path} cannot be read (it is not a file): name a text file")
        if path.stat().st_size > largest:
            raise BadInput(f"{path} has {path.stat().st_size:,} bytes, more than the limit of {largest:,}: shorten it")
        raw = path.read_bytes()
        marked = (encoding for mark, encoding in MARKS.items() if raw.startswith(mark))
        return raw.decode(next(marked, "utf-8-sig"))
    except FileNotFoundError:
        do = "restore it from the repository" if path.resolve().is_relative_to(DATA) else "check its name, or create it"
        raise BadInput(f"{path} cannot be read (it is missing): {do}") from None
    except UnicodeDecodeError as error:
        if raw[:2] in OFFICE:
            raise BadInput(f"{path} is a document or workbook of an office program: save it as text") from None
        raise BadInput(f"{path} cannot be read (byte {error.start:,} is not UTF-8): save it in UTF-8") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be read ({why}): check its name and its permissions") from None


def read_yaml(path: Path, largest: int = LARGEST_FILE) -> Any:
    """Read one YAML file safely; refuse a broken file and say where the error is."""
    text = read_text(path, largest)
    try:
        return load_yaml(text, trusted=path.resolve().is_relative_to(DATA))
    except BROKEN_YAML as error:
        why = " ".join(str(error).split()).replace('in "<unicode string>",', "in")
        tab = "tab character" if "cannot start any token" in why and re.search(r"(?m)^[ -]*\t", text) else ""
        mend = next(words for sign, words in MENDS.items() if sign in why + tab)
        raise BadInput(f"{path} is not valid YAML: {why}: correct it there; {mend}") from None


def yes_or_no(word: object) -> bool | None:
    """Parse a yes or no as people write it in any language; return None for anything else."""
    return _meanings().get(str(word).strip().casefold())


@lru_cache(maxsize=1)
def _meanings() -> dict[str, bool]:
    words = read_yaml(DATA / "yes_no.yaml")
    return dict.fromkeys(words["no"], False) | dict.fromkeys(words["yes"], True)


def front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """Return the YAML head between two ``---`` lines, and the text below it."""
    text = read_text(path).replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return {}, text
    head, _, body = text[4:].partition("\n---\n")
    try:
        read = load_yaml(head) or {}
    except BROKEN_YAML as error:
        raise BadInput(f"{path}: the header is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(read, dict):
        raise BadInput(
            f"{path}: the header between the two --- lines is not of the form `name: value`: correct or remove it"
        )
    return read, body


def load_yaml(text: str, trusted: bool = False) -> Any:
    """Load a YAML text safely and fast; raise one of `BROKEN_YAML` if broken or too large."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if not trusted:
        _check_size(yaml.parse(text, Loader=loader))
    return yaml.load(text, Loader=loader)


def as_yaml(content: Any) -> str:
    """Return content as YAML that people can edit."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def unfilled(text: str) -> str:
    """Return a text that a template leaves unchanged."""
    return re.sub("{[{%#]", lambda found: "{{ '" + found[0] + "' }}", text)


def _check_size(events: Iterable[Any]) -> None:
    """Refuse YAML that nests too deeply, or whose aliases expand to too many values.

    Deep nesting would crash the recursive C loader, and a few aliases of aliases would fill the memory.
    """
    sizes: dict[str, int] = {}
    open_nodes: list[list[Any]] = [["", 0]]
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append([event.anchor, 1])
            if len(open_nodes) > DEEPEST:
                raise ValueError(f"it nests more than {DEEPEST} levels deep")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.AliasEvent):
            anchor, size = "", sizes.get(event.anchor, 1)
        else:
            anchor, size = getattr(event, "anchor", ""), 1
        if anchor:
            sizes[anchor] = size
        open_nodes[-1][1] += size
        if open_nodes[-1][1] > MOST_VALUES:
            raise ValueError(f"its aliases expand to more than {MOST_VALUES:,} values")


def render(text: str, where: str, /, **names: Any) -> str:
    """Fill in the ``{{ placeholders }}`` of a text; refuse an unknown name and say where it is."""
    if "{{" not in text and "{%" not in text:
        return text
    try:
        return written(text, names)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    except Exception as error:  # an expression in the text may raise anything
        why = _unknown_in(text, error, names) or (
            f"the text cannot be filled in ({type(error).__name__}: {' '.join(str(error).split())}): "
            "correct the text between the braces"
        )
        raise BadInput(f"{where}: {why}") from None


def _unknown_in(text: str, error: Exception, names: Mapping[str, Any]) -> str:
    """Return which name in a text does not exist, with a hint; nothing for other errors."""
    unknown = re.search(r"'(\w+)'(?: is undefined)?$", str(error))
    named = unknown and re.search(rf"\{{[{{%][^{{}}]*?\b((?:\w+\.)*{unknown[1]})\b", text)
    if type(error).__name__ != "UndefinedError" or not named:
        return ""
    *owners, name = named[1].split(".")
    known: Any = names
    for owner in owners:
        known = known.get(owner) if isinstance(known, Mapping) else None
    return f"the text names {named[1]}, which does not exist: {nearest(name, [*map(str, known or ())])}"


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint for a name that does not exist: the nearest that does, or those that do."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"the names are {', '.join(known[:12]) or 'none'}"


# --- Templates

LARGEST, MOST_WRITTEN, MOST_JOINED = 200_000, 5_000_000, 50
"""Limits: characters or entries of a value, characters of a filled-in text, and texts joined by ``~``."""
LARGEST_OPERAND, MOST_BITS = 1000, 4096
"""Largest number on either side of ``**``, and maximum number of bits in a product."""
KNOWN = (
    "capitalize default first float format int last length list lower map max min reject rejectattr replace "
    "round select selectattr sort sum title trim unique upper"
)
METHODS = frozenset(
    ["capitalize", "endswith", "get", "items", "lower", "replace", "split", "startswith", "upper", "values"]
)
PARTS = (nodes.Output, nodes.If, nodes.For, nodes.Assign, nodes.Expr, nodes.Pair, nodes.Keyword, nodes.Operand)
GROWING: Any = (nodes.List, nodes.Tuple, nodes.Dict, nodes.Concat)
PLACE = re.compile(r"(\{\{ [^{}\r]* \}\})")
"""Placeholder whose value depends on nothing before it: no statement, no comment, no whitespace control."""
WIDE = re.compile(r"%[^%a-zA-Z]*([0-9]{3}|\*)")
"""Part of a format that asks for a width of 100 or more characters."""


class Environment(ImmutableSandboxedEnvironment):
    """A Jinja environment that refuses calls and operations that take too much time or memory."""

    intercepted_binops = frozenset(("*", "**", "+", "%"))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Carry out an operation unless its result may be too large."""
        numbers = [x for x in (left, right) if isinstance(x, int | float)]
        bits = sum(x.bit_length() for x in numbers if isinstance(x, int))
        powered = operator == "**" and max(map(abs, numbers), default=0) > LARGEST_OPERAND
        no_number = len(numbers) < 2 and not any(isinstance(x, Undefined) for x in (left, right))
        if powered or (operator == "*" and bits > MOST_BITS) or (operator in ("*", "**") and no_number):
            raise OverflowError(f"the result of {operator} may be too large")
        _check_given("format" if operator == "%" else "", (left,))
        return _small(super().call_binop(context, operator, left, right))

    def call(self, context: Any, called: Any, /, *given: Any, **named: Any) -> Any:
        """Call a function passed to the template, or one of the `METHODS` of a value."""
        name = getattr(called, "__name__", type(called).__name__)
        if not any(called is one for one in context.parent.values()):
            if name not in METHODS and not isinstance(called, Undefined):
                raise ValueError(f"{name} cannot be called here")
            _check_given(name, (getattr(called, "__self__", None), *given))
        return _small(super().call(context, called, *given, **named))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, optimized=False)
    made.filters, made.globals = {name: _guarded(name) for name in KNOWN.split()} | {"join": _join}, {}
    return made


@lru_cache(maxsize=8192)
def _template(text: str) -> Any:
    # Compiling takes far longer than filling in.
    tree = _environment().parse(text)
    for node in tree.find_all(nodes.Node):
        made: Any = node.node if isinstance(node, nodes.Assign) else node.iter if isinstance(node, nodes.For) else None
        unpacked = isinstance(made, nodes.Tuple) and isinstance(getattr(node, "target", None), nodes.Tuple)
        for part in made.items if unpacked else [made] if made else []:
            if isinstance(part, GROWING) or part.find(GROWING):
                raise ValueError(f"line {node.lineno} makes a list or joins texts with ~ within a set or for")
        looped = isinstance(node, nodes.For) and (node.recursive or node.find(nodes.For))
        if looped or not isinstance(node, PARTS):
            what = "loop within a loop" if looped else type(node).__name__.lower()
            raise ValueError(f"line {node.lineno} has a {what}, which cannot be used here")
        if isinstance(node, nodes.Concat) and (len(node.nodes) > MOST_JOINED or node.find(nodes.Concat)):
            raise ValueError(f"line {node.lineno} joins more than {MOST_JOINED} texts with ~")
    return _environment().from_string(tree)


def written(text: str, names: dict[str, Any]) -> str:
    """Fill in a text; raise a Jinja error, ValueError or OverflowError if wrong or too large."""
    parts = PLACE.split(text)
    if any("{" in plain or "\r" in plain for plain in parts[::2]):
        return "".join(_counted(_template(text).generate(**names), MOST_WRITTEN))
    return "".join(_counted((_filled(part, names) if n % 2 else part for n, part in enumerate(parts)), MOST_WRITTEN))


def _filled(place: str, names: dict[str, Any]) -> str:
    path = place[3:-3].split(".")
    if path[0] in names and all(map(str.isidentifier, path)):
        return str(reduce(_environment().getattr, path[1:], names[path[0]]))
    return "".join(_counted(_template(place).generate(**names), MOST_WRITTEN))


def _join(items: Iterable[Any], between: str = "") -> str:
    return between.join(_counted(map(str, items), LARGEST, len(between)))


def _counted(items: Iterable[Any], most: int, more: int = 1) -> Iterator[Any]:
    for item in items:
        most -= more + (len(item) if isinstance(item, str) else 0)
        if most < 0:
            raise OverflowError("the result is too long")
        yield item


def _small(value: Any) -> Any:
    if isinstance(value, str | list | tuple) and len(value) > LARGEST:
        raise OverflowError("the result is too long")
    return _counted(value, LARGEST) if isinstance(value, GeneratorType) else value


def _guarded(name: str) -> Any:
    @wraps(FILTERS[name])
    def guarded(*given: Any, **named: Any) -> Any:
        _check_given(name, (*given, *named.values()))
        # Rounds half a cent up, as the articles say
        if name == "round" and len(given) == 1 and not named:
            return float(floor(given[0] + 0.5))
        return _small(FILTERS[name](*given, **named))

    return guarded


def _check_given(name: str, given: tuple[Any, ...]) -> None:
    """Refuse arguments from which a filter or method would make too large a value."""
    texts = [str(one) for one in given if isinstance(one, str)]
    large = False
    if name == "format":
        large = any(map(WIDE.search, texts))
    elif name == "sum":
        large = isinstance(given[-1], list | tuple)
    elif name == "replace" and len(texts) > 2:
        large = (texts[0].count(texts[1]) + 1) * len(texts[2]) > LARGEST
    if large:
        raise OverflowError(f"the result of {name} may be too large")
