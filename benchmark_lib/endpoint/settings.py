"""Model settings from a small YAML file: what goes into the request, for agent, customer and judge apart.

.. code-block:: yaml

    agent:
      body: {temperature: 0, max_tokens: 1024, reasoning_effort: low}
    judge:
      base_url: https://openrouter.ai/api/v1
      api_key_env: OPENROUTER_API_KEY
      headers: {X-Title: support desk study}
      headers_env: {X-Project-Token: PROJECT_TOKEN}

Whatever stands under ``body`` goes into the request as it is, so a provider's own field needs no support here. Keys never
stand in the file: ``api_key_env`` and ``headers_env`` name environment variables.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import BadInput
from .keys import DEFAULT_KEY_VARIABLE, check_key

ROLES = ("agent", "customer", "judge")
RESERVED_BODY_FIELDS = frozenset({"model", "messages", "tools", "stream", "n"})
SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)


class RoleSettings(BaseModel):
    """Settings of one role.

    Attributes
    ----------
    body : dict
        Fields of the request body: temperature, max_tokens, seed, reasoning_effort and whatever else the provider knows.
    headers, headers_env : dict
        Extra headers: literal, and by the name of the environment variable that holds the value.
    api_key_env : str
        The environment variable with the key.
    base_url : str, optional
        The endpoint, if the command line names none.
    timeout, attempts, concurrency : optional
        As for `Endpoint`.
    """

    model_config = ConfigDict(extra="forbid")

    body: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    headers_env: dict[str, str] = Field(default_factory=dict)
    api_key_env: str = DEFAULT_KEY_VARIABLE
    base_url: str | None = None
    timeout: float | None = Field(default=None, gt=0)
    attempts: int | None = Field(default=None, ge=1)
    concurrency: int | None = Field(default=None, ge=1)

    def all_headers(self) -> dict[str, str]:
        """Return the extra headers with their values from the environment.

        Raises
        ------
        BadInput
            When a named variable is not set.
        """
        headers = dict(self.headers)
        for header, variable in self.headers_env.items():
            value = os.environ.get(variable, "").strip()
            if not value:
                raise BadInput(f"the settings take header {header} from {variable}, which is not set; set that variable")
            headers[header] = check_key(value, variable)
        return headers


def role_settings(values: RoleSettings | dict[str, Any] | None, where: str = "the model settings") -> RoleSettings:
    """Return checked settings of one role.

    Raises
    ------
    BadInput
        For an unknown field, a value of the wrong type, a reserved body field or a key written out.
    """
    if isinstance(values, RoleSettings):
        return values
    try:
        settings = RoleSettings.model_validate(values or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise BadInput(f"{where}: {name!r} is not a setting; put fields of the request under 'body', "
                           f"the others are {', '.join(RoleSettings.model_fields)}") from None
        raise BadInput(f"{where}: {name}: {first['msg'].lower()}; change that value") from None
    reserved = sorted(RESERVED_BODY_FIELDS & settings.body.keys())
    if reserved:
        raise BadInput(f"{where}: body.{reserved[0]} is set by the run itself; remove it")
    written_out = [name for name in settings.headers if SECRET_HEADER.search(name)]
    if written_out:
        raise BadInput(f"{where}: headers.{written_out[0]} looks like a key; put it in an environment variable and "
                       "name that under headers_env")
    return settings


def load_settings(path: str | Path | None) -> dict[str, RoleSettings]:
    """Read a settings file; every role is in the result, with defaults where the file says nothing.

    Raises
    ------
    BadInput
        When the file cannot be read, is no YAML mapping, or holds an unknown role or setting.
    """
    content = {} if path is None else read_mapping(Path(path))
    unknown = [str(key) for key in content if key not in ROLES]
    if unknown:
        raise BadInput(f"{path}: {unknown[0]!r} is no role; the top level holds {', '.join(ROLES)}, "
                       "and fields of the request stand under their 'body'")
    return {role: role_settings(content.get(role), f"{path}: {role}") for role in ROLES}


def read_mapping(path: Path) -> dict[Any, Any]:
    """Return the mapping in a YAML file, refusing everything else in one sentence."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({getattr(error, 'strerror', None) or 'no UTF-8'}); check the path") from None
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = "" if line is None else f" in line {line + 1}"
        raise BadInput(f"{path} is no YAML{at}; correct it there") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput(f"{path} must hold a mapping; begin it with a line like 'agent:'")
    return content
