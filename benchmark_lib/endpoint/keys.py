"""Keys come from the environment, are never written, and are taken out of every text that leaves this package."""

import os
import re

from ..errors import BadInput

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
LOOPBACK_KEY = "local"
SHORTEST_SECRET = 8
HIDDEN = "[key]"
SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET")
KEY_SHAPES = re.compile(r"\b(?:(?:sk|pk|gsk|xai)[-_][\w*.-]{8,}|AIza[\w-]{20,})|(?<=Bearer )[\w.~+/=*-]{12,}")

_seen: set[str] = set()  # keys handed over by a caller or read for a header: an error text may quote them


def remember(secret: str) -> None:
    """Have `scrub` take this secret out of every text from now on; one too short to be a key is ignored."""
    if len(secret) >= SHORTEST_SECRET:
        _seen.add(secret)


def known_secrets() -> list[str]:
    """Return every key in use or in the environment, longest first."""
    named = {value for name, value in os.environ.items() if name.upper().endswith(SECRET_NAMES)}
    return sorted(_seen | {value for value in named if len(value) >= SHORTEST_SECRET}, key=len, reverse=True)


def scrub(text: str) -> str:
    """Return `text` with every known key, and everything shaped like one, replaced by ``[key]``."""
    for secret in known_secrets():
        text = text.replace(secret, HIDDEN)
    return KEY_SHAPES.sub(HIDDEN, text)


def find_key(variable: str, host: str, needed: bool) -> str:
    """Return the key for a host from the environment variable, or `BadInput`; a server on this machine needs none."""
    key = os.environ.get(variable, "").strip()
    if not key and not needed:
        return LOOPBACK_KEY
    if not key:
        raise BadInput(
            f"there is no key for {host}: set the environment variable {variable}, "
            "or name another one as api_key_env in the settings file"
        )
    return check_key(key, variable)


def check_key(key: str, where: str) -> str:
    """Return the key if it can stand in an HTTP header, and refuse it without quoting it otherwise."""
    remember(key)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadInput(f"the key in {where} holds characters that a key cannot have; copy it again")
    return key
