"""Texts that no person writes, made by families.

Repeated, nested, odd and random in four languages. Every one of them has to be read in linear time.
"""

from __future__ import annotations

import gc
import random
import re
import time

SENTENCES = (
    "I have cancelled your order NL-10001 and a refund of $1,234.50 will arrive within 5 business days.",
    "You can. You cannot. Could you send me the order number, please?",
    "Sie können die Bestellung nicht mehr ändern, weil ich sie bereits an einen Kollegen weitergegeben habe.",
    "He pasado su caso a un compañero, que le responderá mañana; ya no puedo cancelar el pedido.",
    "J'ai transmis votre demande à un collègue : il vous rappellera le 3 juillet, sans aucun frais.",
    "Shall I go ahead and send a replacement to 12 Harbor Street, Bath, ME 04530?",
)

REPEATED = (
    "noch ",
    "was canceled ",
    "! A ",
    "You can. ",
    "1",
    "1 ",
    ", ",
    "(",
    "(( )) ",
    "https://",
    "https://a.b/",
    "1.1.",
    "2026-",
    "2026-07-01 ",
    "NL ",
    "NL-",
    "NL-1-",
    "NL-12345 ",
    "a@",
    "a.a@a.",
    "a",
    "\n",
    "- ",
    "* item\n",
    " ",
    "\t",
    ".",
    "? ",
    "$",
    "$1 ",
    "$1,234 ",
    "123 ",
    "123,",
    "i have ",
    "ya todo ",
    "shall i ",
    "please send ",
    "passed to ",
    "a colleague ",
    "nicht ",
    "je vous ",
    "le ",
    "what ",
    "i have noch ",
    "5 days ",
    "5-",
    "refund is ",
    "could you ",
    "\u0301",
    "\u202e",
    "\x00",
    "\ud800",
    "٣",
    "२ days ",
    "½",
    "²",
    "ß",
    "İ",
    "\u2028",
    "&",
    "speak to a ",
    "n l ",
    "6 - 6 . ",
    "and , ",
    "x_x_",
    "for the desk ",
    "can you can not ",
    "tomorrow ",
    "if you ",
    "I have cancelled it. ",
    "Your order was cancelled. ",
    "J'ai annulé. ",
    "Ich habe storniert. ",
)
"""What a flood repeats."""

OPENINGS = ("", "i have ", "Could you ", "NL-", "$", "Ich habe ", "He ", "J'ai ")

NUMBERS = (
    "1000000 days",
    "1000000 business days",
    "999999.9 business days",
    "9" * 310 + " days",
    "$" + "9" * 4301,
    "$1e999",
    "0 days",
    "-1 days",
    "9999-12-31",
    "0000-00-00",
    "31 February 2026",
    "٣٣ days",
    "$٣٣.٠٠",
    "٢٠٢٦-٠١-٠١",
    "99999 business days",
    "$0.00",
    "1.1.1.1.1 days",
    "32. 13. 2026",
    "within 99999999 hours",
    "NL-" + "9" * 400,
    "99999 months",
    "2026-07-0x",
    "1,2,3,4 days",
    "$1,2,3",
)
"""Numbers and days as no desk has them."""


def repeated(unit: str, size: int, opening: str = "") -> str:
    """One unit again and again."""
    return (opening + unit * (size // len(unit) + 1))[:size]


def nested(size: int) -> str:
    """Brackets within brackets."""
    return "(" * (size // 2) + "x" + ")" * (size // 2)


def shuffled(rng: random.Random, words: list[str], size: int) -> str:
    """Words in no order, with marks between some of them."""
    text: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(words) + rng.choice([" "] * 12 + [". ", ", ", "? ", "\n", ": ", " - "])
        text.append(word)
        length += len(word)
    return "".join(text)[:size]


def vocabulary(*books: object) -> list[str]:
    """The words that the patterns of phrase files and books are made of, so that a shuffled text often begins one."""
    found: set[str] = set()
    waiting = list(books)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            found.update(re.findall(r"[a-zà-ÿ]{1,20}(?: [a-z]{2,8})?", value))
    return sorted(found)


def odd_text(rng: random.Random, words: list[str]) -> str:
    """A short message that may hold anything."""
    parts = [
        rng.choice(
            [
                rng.choice(SENTENCES),
                rng.choice(NUMBERS),
                rng.choice(REPEATED) * rng.randint(1, 9),
                shuffled(rng, words, 60),
                "".join(chr(rng.randrange(0x110000)) for _ in range(5)),
            ]
        )
        for _ in range(rng.randint(1, 6))
    ]
    return rng.choice((" ", "\n", ". ")).join(parts)


def odd_value(rng: random.Random, depth: int = 0) -> object:
    """Anything that can stand as an argument or a result."""
    plain = (
        None,
        True,
        0,
        -1,
        2**70,
        10**5000,
        float("nan"),
        float("inf"),
        "",
        "NL-66802",
        "L1",
        "\ud800",
        "x" * 500,
        rng.choice(NUMBERS),
        rng.choice(SENTENCES),
    )
    if depth > 3 or rng.random() < 0.6:
        return rng.choice(plain)
    if rng.random() < 0.5:
        return [odd_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(ARGUMENTS): odd_value(rng, depth + 1) for _ in range(rng.randint(0, 4))}


ARGUMENTS = (
    "order_id",
    "line_id",
    "line_ids",
    "variant_id",
    "address",
    "queue",
    "reason",
    "summary",
    "orders",
    "notes",
    "passages",
    "price_cents",
    "status",
    "estimated_delivery",
    "shipping_address",
    "line1",
    "phone",
    "country",
    "name",
    "email",
    "\ud800",
)


PLAIN = (" ".join(SENTENCES) * 300)[:100_000]
TRIES = 5
"""The quickest of so many counts: another process on the machine can slow one down, and nothing can speed one up."""


def processor_time(read):
    """Seconds of processor time that a call takes, with no pause to collect the garbage of the tests before it."""
    gc.disable()
    try:
        start = time.process_time()
        read()
        return time.process_time() - start
    finally:
        gc.enable()


def plain_pass():
    """Split 100,000 characters into words."""
    for word in re.finditer(r"\w+|[^\w\s]", PLAIN):
        word.group().casefold()


def assert_read_within(passes, make, read):
    """Assert that reading what `make` makes, a new text each time, costs no more than so many plain passes.

    Both are timed at the same moment on the same machine, and the quickest of several tries counts.
    """
    costs = []
    for number in range(TRIES):
        made = make(number)
        costs.append(processor_time(lambda made=made: read(made)) / processor_time(plain_pass))
        if costs[-1] < passes / 2:
            break
    assert min(costs) < passes, f"{min(costs):.2f} plain passes, more than {passes}"
