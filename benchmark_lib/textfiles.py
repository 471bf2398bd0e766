"""Text files that the benchmark ships and users write.

YAML, Markdown with a YAML head, templates. A broken one is refused with its place.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from .errors import BadInput

LARGEST_OPERAND = 1000
"""The largest number on either side of ``**`` in a template."""


def read_yaml(path: Path) -> Any:
    """Read one YAML file safely; a broken file is refused with its place."""
    try:
        return _loaded(path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"{path} is missing: restore it from the repository or write it") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None


def front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """The YAML head between two ``---`` lines, and the text below it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    if not text.startswith("---\n"):
        return {}, text
    head, _, body = text[4:].partition("\n---\n")
    try:
        read = _loaded(head) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: the head is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(read, dict):
        raise BadInput(
            f"{path}: the head between the two --- lines is not of the form `name: value`: write it so, or leave it out"
        )
    return read, body


def _loaded(text: str | bytes) -> Any:
    """What a YAML text says, read safely and by the fast loader where there is one."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        """Refuses arithmetic that takes for ever or fills the memory."""

        intercepted_binops = frozenset(("*", "**"))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            numbers = all(isinstance(x, (int, float)) for x in (left, right))
            if not numbers or (operator == "**" and max(abs(left), abs(right)) > LARGEST_OPERAND):
                raise OverflowError(f"what {operator} makes here may be too large")
            return super().call_binop(context, operator, left, right)

    return Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, optimized=False)


@lru_cache(maxsize=8192)
def _template(text: str) -> Any:
    """A text made ready to be filled in, which takes far longer than to fill it."""
    return _environment().from_string(text)


def render(text: str, where: str, /, **names: Any) -> str:
    """Fill the ``{{ placeholders }}`` of a text; an unknown name is refused with its place."""
    if "{{" not in text and "{%" not in text:
        return text
    try:
        return _template(text).render(**names)
    except Exception as error:  # an expression in the text may raise anything
        raise BadInput(
            f"{where}: the text cannot be filled in ({type(error).__name__}: {' '.join(str(error).split())}): "
            "mend what stands between the braces"
        ) from None
