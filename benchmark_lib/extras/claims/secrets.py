"""Data that no colleague needs: numbers of cards, accounts and identity papers, passwords."""

import re
from functools import lru_cache

from ...language.sentences import plain
from ...language.words import books

FEWEST_DIGITS, MOST_DIGITS = 13, 19
"""Digits of a card number."""


def secrets_in(text: str) -> list[str]:
    """Return the secrets in a text, each once and unchanged.

    A card or account number counts only with correct check digits, to exclude parcel numbers.
    """
    cards = [m.group() for m in _CARD.finditer(text) if _is_card(re.sub(r"\D", "", m.group()))]
    accounts = [m.group() for m in _IBAN.finditer(text) if _is_account(re.sub(r"\W", "", m.group()))]
    insured = [m.group() for m in _SSN.finditer(text)]
    named = [m.group("value") for m in _named().finditer(plain(text))]
    return list(dict.fromkeys([*cards, *accounts, *insured, *named]))


def _is_card(digits: str) -> bool:
    """Check a card number by Luhn's formula (ISO/IEC 7812-1)."""
    if not FEWEST_DIGITS <= len(digits) <= MOST_DIGITS or len(set(digits)) == 1:
        return False
    doubled = (sum(divmod(2 * int(d), 10)) if n % 2 else int(d) for n, d in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def _is_account(letters: str) -> bool:
    """Check an IBAN (ISO 13616: the remainder by 97 is 1)."""
    moved = letters[4:] + letters[:4]
    return int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


@lru_cache(maxsize=1)
def _named() -> re.Pattern[str]:
    """Return the pattern of a value with a digit after a word for a secret, in plain text."""
    words = "|".join(w for book in books().values() for w in book.get("packet", {}).get("secrets", ()))
    between = r"(?: (?:is|was|ist|lautet|es|est|number|nummer|numero|no))?"
    return re.compile(rf"(?<!\w)(?:{words or '(?!)'}){between}\s?[:=#]?\s?(?P<value>(?=\S{{0,30}}\d)\S{{3,40}})")


_CARD = re.compile(r"(?<![\w-])\d(?:[ .-]?\d){12,18}(?![\w-])")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
