"""Read keys from the environment, never write them, and remove them from every text."""

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..errors import BadInput

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
LOOPBACK_KEY = "local"
SHORTEST_SECRET = 8
HIDDEN = "[key]"
SECRET_NAMES = ("_API_KEY", "_TOKEN", "_SECRET")
KEY_SHAPES = re.compile(r"\b(?:(?:sk|pk|gsk|xai)[-_][\w*.-]{8,}|AIza[\w-]{20,})|(?<=Bearer )[\w.~+/=*-]{12,}")

_seen: set[str] = set()  # keys handed over by a caller or read for a header: an error text may quote them
remember = _seen.add
"""Make `scrub` remove a secret from now on."""


def scrub(text: str) -> str:
    """Return `text` with every known key, and everything shaped like one, replaced by ``[key]``."""
    return KEY_SHAPES.sub(HIDDEN, hide(text))


def hide(text: str, secrets: Iterable[str] | None = None) -> str:
    """Return `text` with `secrets`, by default every known key, replaced by ``[key]``.

    Find secrets also in base64, in hex, and escaped for JSON, an address or HTML; ignore those too short to be keys.
    """
    if secrets is None:
        secrets = _seen | {value for name, value in os.environ.items() if name.upper().endswith(SECRET_NAMES)}
    for secret in sorted(set(secrets), key=len, reverse=True):  # a secret may contain another
        if len(secret) >= SHORTEST_SECRET:
            text = _written(secret).sub(HIDDEN, text)
    return text


@lru_cache(maxsize=256)
def _written(secret: str) -> re.Pattern[str]:
    return re.compile("|".join("".join(map(_escaped, form)) for form in _forms(secret)))


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogateescape")
    yield from (secret, raw.hex(), raw.hex().upper())
    for before in range(3):  # base64 encodes three bytes at a time, and other bytes may come before the secret
        coded = b64encode(bytes(before) + raw).decode()[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        yield from {coded, coded.replace("+", "-").replace("/", "_")}


def _escaped(character: str) -> str:
    # The first alternatives are literals, for speed.
    plain = r"\\++" if character == "\\" else re.escape(character)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    json = r"\\*+".join(f"u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    address = "".join(f"%(?:25)*+(?i:{byte:02x})" for byte in character.encode("utf-8", "surrogateescape"))
    html = f"&#(?:0*+{ord(character)}|[xX]0*+(?i:{ord(character):x}));"
    return rf"(?:{plain}|\\(?<!\\\\)\\*+(?:{plain}|{json})|{address}|{html})"


def find_key(variable: str, host: str, needed: bool) -> str:
    """Return a host's key from the environment; raise `BadInput` if it is needed and missing."""
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
    """Return the key if an HTTP header can carry it; otherwise refuse it without quoting it."""
    remember(key)
    if not (key.isascii() and key.isprintable()) or set(key) & set(" \"'"):
        raise BadInput(f"the key in {where} contains characters that a key cannot have; copy it again")
    return key
