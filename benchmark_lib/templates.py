"""Fill in templates with a safe subset of Jinja that always finishes quickly."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce, wraps
from math import floor
from types import GeneratorType
from typing import Any

from jinja2 import StrictUndefined, Undefined, nodes
from jinja2.filters import FILTERS
from jinja2.sandbox import ImmutableSandboxedEnvironment

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
        if powered or (operator == "*" and bits > MOST_BITS) or (operator in ("*", "**") and len(numbers) < 2):
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
        if name == "round" and len(given) == 1 and not named:  # rounds half a cent up, as the articles say
            return float(floor(given[0] + 0.5))
        return _small(FILTERS[name](*given, **named))

    return guarded


def _check_given(name: str, given: tuple[Any, ...]) -> None:
    """Refuse arguments from which a filter or method would make too large a value."""
    texts = [str(one) for one in given if isinstance(one, str)]
    large = (name == "format" and any(map(WIDE.search, texts))) or (
        name == "sum" and isinstance(given[-1], list | tuple)
    )
    if large or (name == "replace" and len(texts) > 2 and (texts[0].count(texts[1]) + 1) * len(texts[2]) > LARGEST):
        raise OverflowError(f"the result of {name} may be too large")
