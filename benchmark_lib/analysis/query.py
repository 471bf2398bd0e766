"""Queries for conversations, each a line of text: ``bucket=adversarial unsafe=yes``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from ..errors import BadInput
from ..records import BUCKETS
from ..scoring.written import visible
from ..textfiles import nearest

if TYPE_CHECKING:
    import pandas as pd

YES, NO, KNOWN, SOME = "yes", "no", "known", "some"
"""Special values of a field: a true flag, a false flag, any value that is not missing, and any number."""
_BARE = r'[^\s,"=]+'
_VALUE = rf'(?:"(?:[^"\\]|\\.)*"|{_BARE})'
_TERM = re.compile(rf"({_BARE})=({_VALUE}(?:,{_VALUE})*)(?=\s|$)")
HOW = 'write field=value, as in bucket=adversarial unsafe=yes entry="gpt-5.5 [reasoning effort high]"'


@dataclass(frozen=True)
class Query:
    r"""Fields of conversations and the values accepted for each; every field must match.

    A query has the same text in Python, on the command line and in the addresses of the site. Commas separate several
    values. A value with spaces, commas or quotes needs double quotes, with ``\"`` for a quote. `terms` contains the
    fields with their values, in order.

    Examples
    --------
    >>> str(Query.of("bucket=adversarial", entry="gpt-5.5 [reasoning effort high]", unsafe=True))
    'bucket=adversarial entry="gpt-5.5 [reasoning effort high]" unsafe=yes'
    """

    terms: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, text: Query | str = "", /, **fields: Any) -> Query:
        """Make a query from text or another query and fields; refuse text that is not a query.

        A field takes a value or a list of values. True and False mean ``yes`` and ``no``; None leaves a field open.
        """
        if isinstance(text, Query):
            return text.but(**fields)
        rest = _TERM.sub("", text).strip()
        if rest:
            raise BadInput(f"{rest[:60]!r} is not part of a query: {HOW}")
        terms: dict[str, tuple[str, ...]] = {}
        for name, values in _TERM.findall(text):
            terms[name] = (*terms.get(name, ()), *map(_unquoted, re.findall(_VALUE, values)))
        return cls(tuple(terms.items())).but(**fields)

    def but(self, /, **fields: Any) -> Query:
        """Return the query with some fields replaced, as in `of`."""
        new = {name: _texts(value) for name, value in fields.items() if value is not None}
        return Query(tuple({**dict(self.terms), **new}.items()))

    def __str__(self) -> str:
        return " ".join(f"{name}={','.join(map(_quoted, values))}" for name, values in self.terms)

    def mask(self, facets: pd.DataFrame) -> pd.Series:
        """Return which rows of `benchmark_lib.analysis.facets.facets` match; refuse unknown fields."""
        import pandas as pd

        rows = pd.Series(True, index=facets.index)
        for name, values in self.terms:
            if name not in facets:
                raise BadInput(f"conversations have no field {name!r}: {nearest(name, list(facets))}")
            own, wanted = facets[name].map(_own), set(map(visible, values))
            rows &= np.array([bool(v) if KNOWN in wanted else not wanted.isdisjoint(v) for v in own], dtype=bool)
        return rows

    def check(self, facets: pd.DataFrame) -> None:
        """Refuse values that no conversation can have, such as a misspelt entry."""
        for name, values in self.terms:
            own = {value for row in facets.get(name, ()) for value in _own(row)}
            flag = bool(own) and own <= {YES, NO}
            known = {KNOWN, *own, *((YES, NO) if flag else BUCKETS if name == "bucket" else ())}
            if name in ("entry", "intent", "case_id", "bucket") or flag or own == {SOME}:
                for value in {*map(visible, values)} - known if own else ():
                    raise BadInput(f"no conversation has {name}={_quoted(value)}: {nearest(value, sorted(known))}")

    def address(self, site: str = "") -> str:
        """Return the address that lists these conversations, as in ``transcripts.html#unsafe=yes``.

        `site` is the address of the site, or its folder relative to the linking page.
        """
        base = f"{site.rstrip('/')}/" if site else ""
        return f"{base}transcripts.html#{quote(visible(str(self)), safe='=,', errors='replace')}"


@lru_cache(maxsize=8192)
def _own(value: Any) -> tuple[str, ...]:
    # hidden characters are made visible here, as in an address of the site
    values = value if isinstance(value, tuple) else () if value is None or value != value else (value,)
    return tuple(visible(v) if isinstance(v, str) else v for v in values)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return (YES if value else NO,)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(str(v) for v in value)
    return (str(value),)


def _quoted(value: str) -> str:
    if re.fullmatch(_BARE, value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.S) if value.startswith('"') else value
