"""The numbers in a text, so that a test asserts what is told and not how it is put."""

import re


def numbers_in(text):
    """The numbers of a text, in order; those that are part of a word or of a version are left out."""
    return [float(n.replace(",", "")) for n in re.findall(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|\.\d)", text)]
