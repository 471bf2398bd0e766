"""A message's acts in notation for people: ``attached photo; agreed start_return``."""

READ_AS = "What does it do, such as `attached photo; agreed start_return; left content`?"


def acts_of(text: str) -> tuple[list[dict[str, str]], str]:
    """Parse the acts in a line, which are separated by semicolons.

    Returns
    -------
    acts : list of dict
        Each has a ``kind`` and a ``what``.
    why_not : str
        The fault in the line; empty if the line is valid.
    """
    acts = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, what = part.partition(" ")
        if not what.strip():
            return [], f"{part!r} lacks what it is about: write a kind and what it is about, such as `attached photo`."
        acts.append({"kind": kind, "what": what.strip()})
    return acts, ""
