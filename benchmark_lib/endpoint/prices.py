"""Read dated files that users may edit: prices of tokens, and models with open weights."""

import math
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import orjson
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ..errors import BadInput
from ..project import DATA, project_folder
from ..records import Usage, content_hash, is_played, source_of
from ..textfiles import read_yaml

LARGEST_FILE = 1_000_000
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
SAID = {
    "invalid_key": "this name is not a string; put it in quotes",
    "invalid-json-value": "JSON cannot represent this value; put it in quotes",
    "missing": "field required; add it",
}
"""Our explanations, by pydantic's name for the error."""
T = TypeVar("T")
Noted = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, (date, int, float)) else value)]
"""A text that YAML may have read as a date or a number."""


def read_mapping(path: Path, first: str = "models") -> dict[Any, Any]:
    """Return the mapping in a YAML file; otherwise, raise `BadInput` that suggests `first`."""
    content = read_yaml(path, LARGEST_FILE)
    if not isinstance(content, dict | None):
        raise BadInput(f"{path} must contain a mapping; begin it with a line like '{first}:'")
    return content or {}


def read_as(kind: type[T], content: Any, where: str, unknown: str = "is not known there; remove it") -> T:
    """Return plain data, or the bytes of a JSON text, as a typed value.

    Raise a `BadInput` that names the first part that does not fit; `unknown` is the reason given for an unknown field.
    """
    reader, in_json = _adapter(kind), isinstance(content, bytes)
    try:
        return reader.validate_json(content, strict=True) if in_json else reader.validate_python(content)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        first = next((problem for problem in problems if problem["type"] in UNKNOWN), problems[0])
        place = _place(first, orjson.loads(content) if in_json else content)
        why = f"{place!r} {unknown}" if first["type"] in UNKNOWN else f"{place}: {_reason(first)}".removeprefix(": ")
        raise BadInput(f"{where}: {why}") from None


def _reason(error: Any) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    message = error["msg"].partition(" or an instance of ")[0]
    kind = "invalid_key" if error["loc"][-1:] == ("[key]",) else error["type"]
    return SAID.get(kind, f"{message[0].lower()}{message[1:]}; change that value")


def _place(error: Any, content: Any) -> str:
    # The place of an error in the file, without the names that only pydantic uses.
    parts = []
    for part in error["loc"]:
        if isinstance(content, list) and isinstance(part, int):
            parts.append(f"entry {part + 1}")
            content = content[part]
        elif isinstance(content, dict) and (part in content or error["type"] == "missing"):
            parts.append(str(part))
            content = content.get(part)
    return " ".join(", ".join(parts).split())[:100]


_adapter: Callable[[Any], TypeAdapter[Any]] = lru_cache(maxsize=16)(TypeAdapter)


def filled(entries: Any) -> Any:
    """Return a list of mappings without their empty fields, and anything else unchanged."""
    if not isinstance(entries, list):
        return entries or []
    return [{n: v for n, v in e.items() if v not in (None, "")} if isinstance(e, dict) else e for e in entries]


def fitting(entries: Iterable[T], model: str) -> Iterator[T]:
    """Yield the entries whose `model` (a name or pattern) matches, with or without the vendor."""
    entries = list(entries)
    for name in dict.fromkeys((model.lower(), model.lower().rpartition("/")[2])):
        yield from (entry for entry in entries if fnmatchcase(name, entry.model.lower()))  # type: ignore[attr-defined]


# --- Prices

PRICES = DATA / "prices.yaml"
Dollars = Annotated[float, Field(strict=True, ge=0, lt=1_000_000, allow_inf_nan=False)]
"""Price of a million tokens; a million or more is a typing error."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Price:
    """The price of one model in US dollars per million tokens.

    `model` is a name or pattern, `at` the pattern of the host (``*`` for any). `as_of` and `source` say when and where
    the price was read. `cached_input` is for prompt tokens from the provider's cache; `output` includes hidden
    reasoning.
    """

    model: str
    input: Dollars
    cached_input: Dollars
    output: Dollars
    as_of: Noted = ""
    source: Noted = ""
    at: Noted = "*"

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the cost of `usage` in US dollars; None if billed tokens were not reported.

        `prompt_tokens` must include cached tokens and `completion_tokens` reasoning, as `read_usage` returns them.
        """
        if usage.missing and (self.input or self.output):
            return None
        fresh = usage.prompt_tokens - usage.cached_tokens
        dollars = fresh * self.input + usage.cached_tokens * self.cached_input + usage.completion_tokens * self.output
        return dollars / 1e6


class Tier(NamedTuple):
    """A cost tier: its name and upper bound in US dollars per 1,000 conversations."""

    name: str
    up_to_usd: Annotated[float, BeforeValidator(lambda usd: math.inf if usd is None else usd), Field(strict=True, ge=0)]


def _rising(tiers: list[Tier]) -> list[Tier]:
    bounds = [-1, *(tier.up_to_usd for tier in tiers)]
    if not all(a < b for a, b in zip(bounds, bounds[1:])) or bounds[-1] != math.inf:
        raise ValueError("the bounds must rise, and the last up_to_usd must be null; correct them")
    return tiers


class PriceFile(BaseModel):
    """The content of a price file; the bounds of its tiers rise."""

    model_config = ConfigDict(extra="forbid")

    dated: Annotated[date, Field(strict=True)]
    currency: Literal["USD"] = "USD"
    per_tokens: Literal[1_000_000] = 1_000_000
    tiers: Annotated[list[Tier], AfterValidator(_rising)]
    free: list[str] | None = None
    models: list[Price]
    hash: str

    @cached_property
    def prices(self) -> list[Price]:
        """All prices, those of free models first."""
        free = [Price(name, 0.0, 0.0, 0.0, str(self.dated), "free by statement") for name in self.free or ()]
        return free + self.models

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """Return the first price that fits a model at an endpoint, or None.

        A name with a vendor in front (``openai/gpt-5.5``) is also looked up without it.
        """
        host = (urlsplit(base_url).hostname or "") if base_url else ""
        return next((p for p in fitting(self.prices, model) if p.at == "*" or fnmatchcase(host, p.at)), None)

    def tier(self, cost_per_1000_usd: float | None) -> str | None:
        """Return the tier of a cost per 1,000 conversations in US dollars; None for an unknown cost."""
        if cost_per_1000_usd is None or math.isnan(cost_per_1000_usd):
            return None
        return next(name for name, bound in self.tiers if cost_per_1000_usd <= bound)


def find_price(model: str, base_url: str | None = None) -> Price | None:
    """Return the price of a model from the project's price file, or None."""
    return load_prices().price(model, base_url)


def how_to_add(model: str) -> str:
    """Describe how to add an unknown price to the price file."""
    price = f"models: [{{model: {orjson.dumps(model).decode()}, input: IN, output: OUT}}]"
    return f"write its prices in USD per million tokens into {project_folder() / 'data/prices.yaml'}, as in {price}"


def load_prices(path: str | Path | None = None) -> PriceFile:
    """Read a price file, by default the shipped one after ``data/prices.yaml`` of the user."""
    own = project_folder() / "data" / "prices.yaml"
    own_too = path is None and own.is_file() and own.resolve() != (DATA / "prices.yaml").resolve()
    paths = (own, PRICES) if own_too else (Path(path or PRICES),)
    return _load(paths, tuple(one.stat().st_mtime_ns if one.exists() else 0 for one in paths))


@lru_cache(maxsize=4)
def _load(paths: tuple[Path, ...], _: tuple[int, ...]) -> PriceFile:
    first, *others = map(read_mapping, paths)
    content = {name: part for one in (*others, first) for name, part in one.items()}
    models, filled_in = filled(first.get("models")), {"as_of": str(content.get("dated"))}
    if isinstance(models, list):
        models = [filled_in | {"cached_input": m.get("input")} | m if isinstance(m, dict) else m for m in models]
        models += load_prices(paths[-1]).models if others else []
    content |= {"models": models, "hash": content_hash(b"".join(one.read_bytes() for one in paths))}
    return read_as(PriceFile, content, str(paths[0]))


# --- Open weights

WEIGHTS = DATA / "weights.yaml"
OPEN, CLOSED, UNSTATED, NO_MODEL = "open", "closed", "unknown", "no model"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class StatedWeights:
    """What the file states about one model or family; `model` is its name or a pattern."""

    model: str
    weights: Literal["open", "closed"]
    as_of: Noted = ""
    source: Noted = ""


def find_weights(model: str, path: str | Path | None = None) -> StatedWeights | None:
    """Return what the file states about a model, or None; raise `BadInput` for a wrong file.

    A name with a vendor in front (``z-ai/glm-5.2``) is also looked up without it.
    """
    path = Path(path or WEIGHTS)
    return next(fitting(load_weights(path, path.stat().st_mtime_ns if path.exists() else 0), model), None)


@lru_cache(maxsize=4)
def load_weights(path: Path, changed_ns: int = 0) -> list[StatedWeights]:
    """Return the entries of a file; read it again only if its modification time has changed."""
    return read_as(list[StatedWeights], filled(read_mapping(path).get("models")), f"{path}: models")


def weights_of_run(manifest: dict[str, Any]) -> str:
    """Return ``open``, ``closed``, ``unknown`` or ``no model``."""
    source = source_of(manifest)
    if source in ("scripted", "synthetic") or is_played(source):
        return NO_MODEL
    stated = find_weights(str(manifest["model"]))
    return stated.weights if stated else UNSTATED
