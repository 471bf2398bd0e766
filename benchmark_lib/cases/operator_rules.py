"""Load rules that an operator adds to the agent's prompt, such as "at most 80 words"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, prod
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..project import DATA
from ..textfiles import read_yaml

SHIPPED = DATA / "operator_rules.yaml"
HEADING = "## House rules"
USUAL_PROMPTS = {
    "at_most_words": "Write at most {value} words in a message.",
    "never": "Never use any of these words: {value}.",
    "must_contain": "Every message contains one of these: {value}.",
    "ask_first": (
        "In your first message ask for this before you ask for anything else, and before you do anything: {value}."
    ),
    "sign": 'Sign every message: its last line is "{value}".',
    "language": "Answer in the language of the customer.",
    "no_emojis": "Use no emojis.",
    "approved_first": "Promise no {value} unless a manager has approved it.",
}
"""Kinds of rules with their usual prompts."""
LISTS = ("never", "must_contain", "ask_first")
APPROVED = ("refund", "credit", "callback")
"""Promises that a rule can make subject to approval."""
VALUES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "at_most_words": ("must be a whole number of at least 1", lambda value: type(value) is int and value > 0),
    "sign": ("must be the name in the last line", lambda value: isinstance(value, str) and value != ""),
    "language": ("can only be customer", lambda value: value == "customer"),
    "no_emojis": ("can only be true", lambda value: value is True),
    "approved_first": (f"must be one of {', '.join(APPROVED)}", lambda value: value in APPROVED),
}
"""What the value of every other kind must be."""
MOST_RULES, LONGEST_PROMPT, MOST_ITEMS = 40, 2_000, 500
LONGEST_REPEAT, MOST_WAYS = 40, 50_000
"""Maximum repeats of a character by ``*`` and ``+``, and maximum number of ways to match at one place. Other people's
run files contain rules, and an unlimited pattern can take forever."""
_PART = re.compile(r"\\.|\[\^?\]?[^\]]*\]|[*+]", re.DOTALL)
_REPEAT = re.compile(r"[*+]|\{(\d*),?(\d*)\}")
_OPTIONAL = re.compile(r"(?<![(*+?}])\?")
_BARRED = re.compile(r"\)[*+{]|\(\?[^:=!<P]")
"""Marks of a repeated group, of comments and of flags."""


@dataclass(frozen=True)
class OperatorRule:
    """One rule: its kind and value as in the file, and its text for the agent."""

    name: str
    kind: str
    value: Any
    prompt: str

    def declared(self) -> dict[str, Any]:
        """Return the rule in the form that manifests and files use."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"name": self.name, self.kind: value, "prompt": self.prompt}


def load_rules(given: str | Path, desk: str) -> list[OperatorRule]:
    """Load rules by name and from files, separated by commas: ``ticket_first,my_rules.yaml``.

    Raise `BadInput` for an unknown name or file, and for the first error in a file.
    """
    shipped = {rule.name: rule for rule in _rules_of(SHIPPED, desk)}
    rules: list[OperatorRule] = []
    for part in (word.strip() for word in str(given).split(",")):
        if part in shipped:
            rules.append(shipped[part])
        elif part.endswith((".yaml", ".yml")):
            rules += _rules_of(Path(part), desk)
        else:
            known = ", ".join(shipped)
            raise BadInput(f"--rules: there is no rule {part!r}: name some of {known}, or a YAML file of rules")
    names = [rule.name for rule in rules]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"--rules names {twice[0]} twice: name each rule only once")
    return rules


def _rules_of(path: Path, desk: str) -> list[OperatorRule]:
    content = read_yaml(path)
    listed = content.get("rules") if isinstance(content, dict) else None
    return read_rules(listed, str(path), desk)


def read_rules(listed: Any, where: str, desk: str = "") -> list[OperatorRule]:
    """Read rules from plain data; raise `BadInput`, with `where`, at the first error."""
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_RULES:
        raise BadInput(f"{where}: 'rules:' must be a list of 1 to {MOST_RULES} rules")
    return [_rule(raw, f"{where}, rule {number}", desk) for number, raw in enumerate(listed, 1)]


def _rule(raw: Any, where: str, desk: str) -> OperatorRule:
    kinds = [key for key in raw if key in USUAL_PROMPTS] if isinstance(raw, dict) else []
    if len(kinds) != 1 or not set(raw) <= {"name", "prompt", *kinds}:
        raise BadInput(f"{where}: a rule needs a name and one of {', '.join(USUAL_PROMPTS)}, and may have a prompt")
    kind, name = kinds[0], raw.get("name", kinds[0])
    if not isinstance(name, str) or not re.fullmatch(r"\w{1,40}", name):
        raise BadInput(f"{where}: the name {name!r} must be up to 40 letters, digits and underscores")
    value = _value(kind, raw[kind], f"{where} ({name})", desk)
    words = ", ".join(value) if isinstance(value, tuple) else value
    prompt = raw.get("prompt", USUAL_PROMPTS[kind].format(value=words))
    if not isinstance(prompt, str) or not prompt.strip() or len(prompt) > LONGEST_PROMPT:
        raise BadInput(f"{where} ({name}): the prompt must be a text of at most {LONGEST_PROMPT} characters")
    return OperatorRule(name, kind, value, prompt.replace("{desk}", desk).strip())


def _value(kind: str, value: Any, where: str, desk: str) -> Any:
    if kind in LISTS:
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not 0 < len(value) <= MOST_ITEMS:
            raise BadInput(f"{where}: {kind} must be a list of words")
        for item in value:
            if not isinstance(item, str) or not item.strip():
                raise BadInput(f"{where}: {item!r} is not a string: put it in quotation marks")
            pattern_of(item, where)
        return tuple(value)
    value = value.replace("{desk}", desk).strip() if kind == "sign" and isinstance(value, str) else value
    words, fits = VALUES[kind]
    if not fits(value):
        raise BadInput(f"{where}: {kind} {words}, not {value!r}")
    return value


@lru_cache(maxsize=4096)
def pattern_of(item: str, where: str = "") -> re.Pattern[str]:
    """Return the pattern of a whole word or ``/regular expression/``, in any letter case.

    Raise `BadInput` for a regular expression that is invalid or could take forever.
    """
    if len(item) > 2 and item.startswith("/") and item.endswith("/"):
        if _ways(item[1:-1]) > MOST_WAYS:
            raise BadInput(
                f"{where}: the pattern {item:.80} could take too long to match: repeat no group, and repeat or "
                "branch less often"
            )
        limits = {"*": f"{{0,{LONGEST_REPEAT}}}", "+": f"{{1,{LONGEST_REPEAT}}}"}
        try:
            return re.compile(_PART.sub(lambda part: limits.get(part[0], part[0]), item[1:-1]), re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as error:
            raise BadInput(
                f"{where}: the pattern {item:.80} is not a valid regular expression ({error}): correct it"
            ) from None
    words = r"\W{1,6}".join(map(re.escape, re.findall(r"\w+", item))) or re.escape(item)
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _ways(pattern: str) -> float:
    # An upper bound on the number of ways in which a pattern can match at one place; may be infinite.
    bare = _PART.sub(lambda part: part[0] if part[0] in "*+" else "x", pattern)
    repeats = _REPEAT.findall(bare)
    if _BARRED.search(bare) or any(len(n) > 2 or int(n or 0) > LONGEST_REPEAT for pair in repeats for n in pair):
        return inf
    ways, branches = LONGEST_REPEAT ** len(repeats) * 2 ** len(_OPTIONAL.findall(bare)), [1]
    for mark in re.findall(r"[(|)]", bare):
        if mark == "(":
            branches.append(1)
        elif mark == "|":
            branches[-1] += 1
        elif len(branches) > 1:
            ways *= branches.pop()
    return ways * prod(branches)


def prompt_with(prompt: str, rules: Sequence[OperatorRule]) -> str:
    """Return the agent's prompt with the rules at its end."""
    if not rules:
        return prompt
    lines = "\n".join(f"- {rule.prompt}" for rule in rules)
    return f"{prompt}\n\n{HEADING}\nThese hold in every message that you write:\n{lines}"


def rules_played(manifest: dict[str, Any]) -> list[OperatorRule]:
    """Return the rules of a run; empty if it had none or its manifest is malformed."""
    try:
        return read_rules((manifest["inputs"].get("rules") or {}).get("declared"), "the manifest")
    except BadInput:
        return []
