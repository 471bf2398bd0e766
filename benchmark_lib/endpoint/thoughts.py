"""Thoughts that a model writes into its text, between tags of many kinds."""

import re

TAGS = (
    r"<(?P<close{n}>/)?(?:\w{{1,12}}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|(?:inner_?)?monologue|"
    r"analysis|antthinking|ant_thinking|chain_of_thought)(?:\s[^<>]{{0,80}})?>",
    r"\[(?P<close{n}>/)?(?:THINK(?:ING)?|THOUGHTS?|REASONING)\]",
    r"◁(?P<close{n}>/)?think▷",
    r"<\|(?:begin_of_|START_)?(?P<close{n}>end_of_|/|END_)?(?:think(?:ing)?|thought|THINKING|solution_start)\|>",
    r"<\|channel\|?>(?!\s*final)\w+[^<>]{{0,80}}(?:<\|message\|>)?|(?P<close{n}><\|end\|>|<channel\|>)",
)
"""The tags around thoughts, with a group that matches in closing ones alone: XML, Mistral, Kimi, special tokens, harmony."""
TAG = re.compile("|".join(tag.format(n=n) for n, tag in enumerate(TAGS)), re.IGNORECASE)
LEFT_OVER = re.compile(r"<\|(?:start|channel|message|end|return)\|>(?:assistant|final)?")
"""What harmony's frame leaves around the words that are meant for the reader."""


def apart(text: str) -> tuple[str, list[str]]:
    """Return a text without the thoughts in it, and these.

    What comes before a closing tag that nothing opened is a thought, and so is what follows an opening one to the end.
    """
    said: list[str] = []
    thoughts: list[str] = []
    at, thinking = 0, False
    for tag in TAG.finditer(text):
        closes = any(value is not None for value in tag.groupdict().values())
        (thoughts if thinking else said).append(text[at : tag.start()])
        if closes and not thinking:
            thoughts, said = thoughts + said, []
        thinking, at = not closes, tag.end()
    if not at:
        return text, []
    (thoughts if thinking else said).append(text[at:])
    return LEFT_OVER.sub("", "".join(said)).strip(), [thought for one in thoughts if (thought := one.strip())]
