"""Hostile texts from a seed: repeated, nested and random ones in four languages, and numbers of every size."""

import random
from functools import lru_cache

KNOWN = {
    "an unfinished phrase over and over": ("bitte i have ", "noch ", ""),
    "a finished phrase over and over": ("", "was canceled ", ""),
    "sentences of one letter": ("", "! A", ""),
    "sentences of two words": ("", "You can. ", ""),
    "digits": ("", "7", ""),
    "digits with points": ("", "1.", ""),
    "digits with blanks": ("$", "123 ", ""),
    "order numbers": ("", "NL-51386 ", ""),
    "half an address": ("", "a.b@c-", ""),
    "links": ("", "https://a.example/", ""),
    "one letter": ("", "a", ""),
    "blanks": ("a", " ", "b"),
    "line ends": ("", "\n", "a"),
    "lists": ("", "- a:\n", ""),
    "brackets": ("", "([{", ""),
    "braces": ("", '{"a":', ""),
    "quotes": ("", "\"'", ""),
    "letters with many marks": ("a", "\u0301", ""),
    "letters that grow when they are folded": ("", "\u0130\ufb03\u1e9e", ""),
    "questions": ("", "which one? ", ""),
    "refusals": ("I can ", "not ", "do that"),
    "offers": ("", "shall I cancel, ", "?"),
    "dates": ("", "3 July ", ""),
    "amounts": ("", "$1,234.56 ", ""),
    "windows": ("", "3 to 5 ", "days"),
    "promises": ("", "I will refund you. ", ""),
    "claims": ("", "I have cancelled your order. ", ""),
}
"""By name, the beginning of a text, what it repeats, and its end."""

WORDS = {
    "en": "i we you have has been will would can could not please which order cancelled refund return your the of and or if once let me know send"
    " photo address ready to go ahead is are was that this with within days business email postcode name number replacement sorry because transfer",
    "es": "yo nosotros usted he hemos ha sido puede podria no por favor cual pedido cancelado reembolso devolucion su el la de y o si una vez digame"
    " envie foto direccion listo para seguir es son fue que esto con dentro dias habiles correo codigo postal nombre numero reemplazo lo siento",
    "fr": "je nous vous ai avons a ete sera pouvez ne pas s'il plait quelle commande annulee remboursement retour votre le la de et ou si des que"
    " dites-moi envoyez photo adresse pret a continuer est sont etait que cela avec dans jours ouvrables courriel code postal nom numero desole",
    "de": "ich wir sie habe haben wurde wird kann koennen nicht noch bitte welche bestellung storniert erstattung ruecksendung ihre die der und oder"
    " wenn sobald sagen mir schicken foto adresse bereit fortfahren ist sind war dass dies mit innerhalb tage werktage email postleitzahl name",
}
"""Words that agents and customers use, by language."""

MARKS = (
    "", "", "", " ", ", ", ". ", "? ", "! ", ": ", "; ", " - ", "\n", "\n- ", "\n1. ", "\n\n", "...", "(", ")", '"',
    "'", "\u00bf", "\u2026", "/", "_", "*", "#",
)  # fmt: skip
LETTERS = "abczABCZ019 .,;:!?-_/\\'\"()[]{}<>|&%$\u20ac\u00a3@#*+=~^`\t\n\r\x00\x1b\u00e9\u00df\u0130\ufb03\u0301\u200b\u202e\u2028\u4e2d\u0645\U0001f600\ud7ff\ue000\uffff"
UNITS = (
    " days", " business days", " hours", " months", " years", " percent", "%", " days ago", " d\u00edas", " jours",
    " Tage", " Werktage", " items", " kg", " USD", " EUR", "",
)  # fmt: skip
SIGNS = ("", "$", "US$", "USD ", "\u20ac", "\u00a3", "-", "+", "#", "NL-")


def repeated(part: tuple[str, str, str], size: int, mark: str = "") -> str:
    """Return a text of about `size` characters that repeats one thing.

    `mark` makes it different from the last text.
    """
    before, unit, after = part
    return before + unit * (max(size - len(before) - len(after) - len(mark), 1) // len(unit) + 1) + after + mark


def family(rng: random.Random) -> tuple[str, str, str]:
    """Draw a member of the family of `KNOWN`: a beginning, one to four words or marks that are repeated, and an end."""
    language, other = rng.choice(list(WORDS)), rng.choice(list(WORDS))
    words = [*_words(language), *_words(other)]
    begin = " ".join(rng.choices(words, k=rng.randint(0, 4)))
    unit = "".join(rng.choice(words) + rng.choice(MARKS + (" ",) * 20) for _ in range(rng.randint(1, 4)))
    if rng.random() < 0.2:
        unit = rng.choice(
            [
                number(rng, 6),
                "".join(rng.choices(LETTERS, k=rng.randint(1, 3))),
                rng.choice([w for _, w, _ in KNOWN.values()]),
            ]
        ) + rng.choice(("", " "))
    return begin + " " * bool(begin), unit or "a", rng.choice(["", "", "?", ".", " " + rng.choice(words)])


@lru_cache(maxsize=8)
def _words(language: str) -> tuple[str, ...]:
    return tuple(WORDS[language].split())


def nested(rng: random.Random, size: int) -> str:
    """Return brackets, quotes, clauses or lists nested in one another."""
    left, right = rng.choice(
        [
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ('{"a":', "}"),
            ("if you, ", ", then"),
            ("> ", "\n"),
            ("**", "**"),
            ("<b>", "</b>"),
            ("  - a\n  ", ""),
        ]
    )
    depth = max(size // (len(left) + len(right)), 1)
    return left * depth + "a" + right * depth


def mixed(rng: random.Random, size: int) -> str:
    """Draw words of a language, marks, numbers, and letters of any script at random."""
    words, found, length = _words(rng.choice(list(WORDS))), [], 0
    while length < size:
        draw = rng.random()
        part = (
            rng.choice(words)
            if draw < 0.8
            else number(rng)
            if draw < 0.9
            else "".join(rng.choices(LETTERS, k=rng.randint(1, 8)))
        )
        part += rng.choice(MARKS) if rng.random() < 0.3 else " "
        found.append(part)
        length += len(part)
    return "".join(found)[: max(size, 1)]


def number(rng: random.Random, most: int = 5000) -> str:
    """Draw a number of any length, with a sign before it and a unit after it."""
    length = min(
        rng.choice([310, 4301, 5000] if rng.random() < 0.05 else [1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 40]), most
    )
    digits = rng.choice(["0", "1", "9", str(rng.randint(1, 9))]) + "".join(rng.choices("0123456789", k=length - 1))
    form = rng.randint(0, 6)
    if form == 1:
        digits = f"{int(digits[:15]):,}"
    elif form == 2:
        digits += rng.choice([".", ","]) + "".join(rng.choices("0123456789", k=rng.choice([1, 2, 2, 3, 30])))
    elif form == 3:
        digits = f"{digits}-{rng.randint(0, 10**6)}"
    elif form == 4:
        digits = f"{digits[:4]}-{rng.randint(0, 99):02}-{rng.randint(0, 99):02}"
    elif form == 5:
        digits = f"{rng.choice(['June', 'July', 'junio', 'juillet', 'Juli', 'mayo'])} {digits[:3]}, {digits[:6]}"
    return rng.choice(SIGNS) + digits + rng.choice(UNITS)
