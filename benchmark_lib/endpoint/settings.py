"""Read model settings of agent, customer and judge from a small YAML file.

.. code-block:: yaml

    agent:
      body: {temperature: 0, max_tokens: 1024, reasoning_effort: low}
    judge:
      base_url: https://openrouter.ai/api/v1
      api_key_env: OPENROUTER_API_KEY
      headers: {X-Title: support desk study}
      headers_env: {X-Project-Token: PROJECT_TOKEN}
      query: {api-version: "2024-10-21"}

The fields under ``body`` go into the request unchanged, so a provider's own field needs no support here. The file
contains no keys: ``api_key_env``, ``headers_env`` and ``query_env`` name environment variables.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote_plus

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from ..errors import BadInput
from .http import check_base_url
from .keys import DEFAULT_KEY_VARIABLE, remember, scrub
from .prices import read_as, read_mapping

ROLES = ("agent", "customer", "judge")
RESERVED_BODY_FIELDS = frozenset({"model", "messages", "tools", "stream", "n"})
SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|passw|credential|signature|^sig$|^code$", re.IGNORECASE)
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OWN_HEADERS = frozenset(
    {"host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "accept-encoding"}
)
LARGEST_BODY = 1_000_000
STRICT = ConfigDict(strict=True, allow_inf_nan=False)


def _header_name(name: str) -> str:
    if not HEADER_NAME.fullmatch(name):
        raise ValueError(f"{name!r:.60} is not a header name; use letters, digits and dashes")
    if name.lower() in OWN_HEADERS:
        raise ValueError(f"{name} is set by the request itself; remove it")
    return name


def _header_value(value: str) -> str:
    if not (value.isascii() and value.isprintable()):
        raise ValueError("it contains a line break or other characters that a header cannot have; remove them")
    return value


Headers = dict[Annotated[str, AfterValidator(_header_name)], Annotated[str, AfterValidator(_header_value)]]


class Limits(BaseModel):
    """Body fields that the budget and the forecast use; all others are passed on unchanged."""

    model_config = STRICT | ConfigDict(extra="allow")

    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)


class RoleSettings(BaseModel):
    """Settings of one role; `body` has fields of the request, whether known here or not.

    Headers and query parameters are written literally or, under ``..._env``, as names of environment variables.
    `thoughts` says with which messages a model gets its thoughts back: ``calls`` (messages with tool calls) or ``all``.
    `max_answer_mb` limits an answer after decompression, in millions of bytes (default 4). An agent under ``--isolate``
    also gets the variables in `env`. The other fields are as for `Endpoint`.
    """

    model_config = STRICT | ConfigDict(extra="forbid")

    body: dict[str, JsonValue] = Field(default_factory=dict)
    headers: Headers = Field(default_factory=dict)
    headers_env: Headers = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    query_env: dict[str, str] = Field(default_factory=dict)
    api_key_env: str = DEFAULT_KEY_VARIABLE
    env: list[str] = Field(default_factory=list)
    base_url: str | None = None
    timeout: float | None = Field(default=None, gt=0)
    attempts: int | None = Field(default=None, ge=1, le=100)
    concurrency: int | None = Field(default=None, ge=1, le=10_000)
    max_answer_mb: float | None = Field(default=None, gt=0, le=1000)
    thoughts: Literal["calls", "all"] = "calls"

    @property
    def recorded(self) -> dict[str, Any]:
        """Settings that a run file keeps: `body`, and `thoughts` if it is ``all``."""
        return self.body if self.thoughts == "calls" else self.body | {"thoughts": self.thoughts}

    def all_headers(self) -> dict[str, str]:
        """Return the extra headers, with values from the environment; refuse a wrong value."""
        return read_as(Headers, self.headers | _from_environment(self.headers_env, "header"), "headers")

    def all_query(self) -> dict[str, str]:
        """Return the query parameters, with values from the environment; refuse an unset variable."""
        return self.query | _from_environment(self.query_env, "query parameter")

    def secrets(self) -> set[str]:
        """Return the values from the environment, in all forms in which an answer may repeat them."""
        variables = (*self.headers_env.values(), *self.query_env.values())
        return {form for name in variables for form in _forms(os.environ.get(name, "").strip())}


def _from_environment(variables: dict[str, str], what: str) -> dict[str, str]:
    # Values by the names under which they are sent; `scrub` hides them from now on.
    values = {}
    for name, variable in variables.items():
        values[name] = os.environ.get(variable, "").strip()
        if not values[name]:
            raise BadInput(f"the settings take {what} {name} from {variable}, which is not set; set that variable")
        for form in _forms(values[name]):
            remember(form)
    return values


def _forms(secret: str) -> set[str]:
    # A secret in full, without a word like ``Basic`` before it, and quoted for an address.
    return {secret, secret.rpartition(" ")[2], quote_plus(secret)}


def role_settings(values: RoleSettings | dict[str, Any] | None, where: str = "the model settings") -> RoleSettings:
    """Return checked settings of one role; refuse unknown fields, wrong values and keys."""
    if isinstance(values, RoleSettings):
        return values
    if values is not None and not isinstance(values, dict):
        raise BadInput(
            f"{where} must be a mapping, not {type(values).__name__}; write it like {{body: {{temperature: 0}}}}"
        )
    known = ", ".join(RoleSettings.model_fields)
    unknown = f"is not a setting; put fields of the request under 'body'; the settings are {known}"
    settings = read_as(RoleSettings, values or {}, where, unknown)
    _check_body(settings.body, where)
    for field in ("headers", "query"):
        if name := next(filter(SECRET_NAME.search, getattr(settings, field)), None):
            raise BadInput(
                f"{where}: {field}.{name} looks like a key; put it in an environment variable and "
                f"name that under {field}_env"
            )
    if settings.base_url is not None:
        check_base_url(settings.base_url, f"{where}: base_url")
    return settings


def _check_body(body: dict[str, Any], where: str) -> None:
    try:
        text = orjson.dumps(body).decode()
    except TypeError as error:
        raise BadInput(f"{where}: body cannot be sent as JSON ({error}); change that value") from None
    if len(text) > LARGEST_BODY:
        raise BadInput(f"{where}: body has {len(text):,} characters, more than {LARGEST_BODY:,}; make it smaller")
    if scrub(text) != text:
        raise BadInput(
            f"{where}: body contains a key and would be written into the run file; put the key in an environment "
            "variable and name it under api_key_env or headers_env"
        )
    if reserved := RESERVED_BODY_FIELDS.intersection(body):
        raise BadInput(f"{where}: body.{min(reserved)} is set by the run itself; remove it")
    read_as(Limits, body, f"{where}: body")


def load_settings(given: str | Path | dict[str, Any] | None) -> dict[str, RoleSettings]:
    """Read settings by role from a file or a mapping, with defaults; refuse wrong settings."""
    content, where = {} if given is None else given, "settings"
    if isinstance(given, str | Path):
        content, where = read_mapping(Path(given), "agent"), str(given)
    if not isinstance(content, dict):
        raise BadInput(
            f"settings must be a file or a mapping, not {type(given).__name__}; write {{'agent': {{'body': {{...}}}}}}"
        )
    if unknown := [str(key) for key in content if key not in ROLES]:
        raise BadInput(
            f"{where}: {unknown[0][:60]!r} is not a role; the top level has {', '.join(ROLES)}, "
            "and fields of the request go under their 'body'"
        )
    return {role: role_settings(content.get(role), f"{where}: {role}") for role in ROLES}
