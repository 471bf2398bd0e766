"""A chair in the terminal: it prints the news and collects lines until they form an answer."""

import asyncio
import contextlib
import difflib
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from io import FileIO
from typing import Any

from ...errors import BadInput
from ...experiment import Experiment
from ...runfile import RunFile
from ...threads import in_thread
from .chairs import CHAIR, Chairs
from .session import play
from .wording import READ_AS, acts_of, as_text, fields_of, tool_text

END_OF_MESSAGE = "."
PATIENCE_S = 10.0
"""Seconds before a note says that the other side is still writing."""
HELP = {
    "agent": """\
say [TEXT]          write a message, which ends your turn; finish it with a line that contains only a dot
call NAME           call a tool; you are asked for its arguments one by one
call NAME {JSON}    call a tool with its arguments as a JSON object
tools [NAME]        show the tools with their arguments, or one of them
again               show the whole conversation again, beginning with your instructions
quit                stop here; everything you sent is saved, and the same command resumes""",
    "customer": """\
say [TEXT]          write a message, which ends your turn; finish it with a line that contains only a dot
leave [TEXT]        write your last message
again               show the whole conversation again, beginning with your instructions
quit                stop here; everything you sent is saved, and the same command resumes""",
}
ReadLine = Callable[[str], Awaitable[str]]
"""Prompts for a line, returned without its break; raises EOFError at the end of input."""


async def in_terminal(chairs: Chairs, experiment: Experiment) -> RunFile:
    """Play a session in this terminal until it is finished or the player quits.

    Raise `BadInput` if the run rejects its input.
    """
    playing = asyncio.ensure_future(play(chairs, experiment))
    sitting = asyncio.ensure_future(Terminal(chairs, line_reader(chairs)).sit())
    try:
        await asyncio.wait({playing, sitting}, return_when=asyncio.FIRST_COMPLETED)
        if not playing.done():
            experiment.stop("rerun the same command to resume", 0.0)
        run = await playing
        if experiment.stopped is None or sitting.done():
            await sitting
        return run
    finally:
        sitting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sitting


def line_reader(chairs: Chairs) -> ReadLine:
    """Return a reader of lines from the keyboard or from a pipe."""
    if not sys.stdin.isatty():
        try:
            piped = FileIO(sys.stdin.fileno(), closefd=False)
        except OSError:
            mend = "use --port for a program, or run the command in a terminal"
            raise BadInput(f"there is no terminal here: {mend}") from None

        async def piped_line(prompt: str) -> str:
            # a read without a buffer holds no lock when the process ends
            line: bytes = await in_thread(piped.readline)
            if not line:
                raise EOFError
            return line.decode("utf-8", "replace").rstrip("\r\n")

        return piped_line
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.shortcuts import CompleteStyle

    def words() -> list[str]:
        return [*_words_of(chairs.side), *(tool["name"] for tool in chairs.tools)]

    session: PromptSession[str] = PromptSession(
        completer=WordCompleter(words), complete_while_typing=False, complete_style=CompleteStyle.READLINE_LIKE
    )

    async def line(prompt: str) -> str:
        try:
            return await session.prompt_async(prompt, handle_sigint=False)
        except KeyboardInterrupt:
            raise EOFError from None

    return line


class Terminal:
    """A player at a terminal."""

    def __init__(self, chairs: Chairs, read_line: ReadLine):
        self.chairs, self._read_line = chairs, read_line

    async def sit(self) -> None:
        """Show news and pass on answers until the end, or until the player quits."""
        try:
            _print(f"You have the {self.chairs.side}'s chair. `help` says what you can do.\n")
            while not await self._show_news():
                while self.chairs.my_turn(CHAIR):
                    await self._command()
        except EOFError:
            _print("\nEverything you sent is saved.")

    async def _show_news(self) -> bool:
        """Print the news; return True if no conversation will follow."""
        items = await self.chairs.news(CHAIR, PATIENCE_S)
        if not items:
            _print("(the other side is still writing)")
            return False
        self._show(items)
        if items[-1]["kind"] == "over" and self.chairs.closed is None:
            await self._line("Enter for the next conversation, or quit: ")
        return items[-1]["kind"] == "finished"

    def _show(self, items: list[Any]) -> None:
        width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else None
        _print(f"\n{as_text(items, self.chairs.side, indent=True, width=width)}\n")

    async def _command(self) -> None:
        """Read one command and carry it out."""
        word, _, rest = (await self._line(f"{self.chairs.side}> ")).strip().partition(" ")
        if not word:
            return
        commands = _words_of(self.chairs.side)
        if word not in commands:
            near = difflib.get_close_matches(word, commands, 1)
            hint = f"did you mean `{near[0]}`?" if near else "a message begins with `say`; `help` lists the commands"
            _print(f"There is no command {word!r}: {hint}")
            return
        await getattr(self, f"_{word}")(rest.strip())

    async def _say(self, text: str, end: bool = False) -> None:
        lines = [text]
        if not text:
            _print("Your message, up to a line that contains only a dot:")
        while (line := await self._read_line("| ")).strip() != END_OF_MESSAGE:
            lines.append(line)
        words = "\n".join(lines).strip()
        if not words:
            _print("(nothing was sent)")
        elif self.chairs.side == "agent":
            self.chairs.say(CHAIR, words)
        else:
            acts = await self._asked(f"{READ_AS} (Enter for nothing): ", acts_of)
            self.chairs.say(CHAIR, words, acts, end)

    async def _leave(self, text: str) -> None:
        await self._say(text, end=True)

    async def _call(self, rest: str) -> None:
        name, _, given = rest.partition(" ")
        tool = next((tool for tool in self.chairs.tools if tool["name"] == name), None)
        if tool is None:
            _print(f"There is no tool {name!r}: `tools` lists them." if name else "Which tool? `tools` lists them.")
            return
        arguments: Any = {}
        if given.strip():
            try:
                arguments = json.loads(given)
            except json.JSONDecodeError as error:
                _print(f"The arguments are not JSON ({error}): write them as {{...}}, or leave them out to be asked.")
                return
        else:
            for field in fields_of(tool["parameters"]):
                put = partial(field.put, arguments=arguments)
                await self._asked(f"  {field.place} ({field.hint}): ", put)
        self.chairs.call(CHAIR, [(name, arguments if isinstance(arguments, dict) else given)])

    async def _asked(self, prompt: str, read: Callable[[str], Any]) -> Any:
        """Ask until `read` accepts the line; return what it makes of it."""
        while True:
            try:
                return read(await self._line(prompt))
            except ValueError as error:
                _print(f"  {error}")

    async def _tools(self, name: str) -> None:
        tools = [tool for tool in self.chairs.tools if not name or tool["name"] == name]
        _print("\n".join(map(tool_text, tools)) or f"There is no tool {name!r}.")

    async def _again(self, rest: str) -> None:
        self._show(self.chairs.again(CHAIR))

    async def _help(self, rest: str) -> None:
        _print(HELP[self.chairs.side])

    async def _quit(self, rest: str) -> None:
        raise EOFError

    async def _line(self, prompt: str) -> str:
        line = await self._read_line(prompt)
        if line.strip() == "quit":
            raise EOFError
        return line


def _words_of(side: str) -> list[str]:
    return [*dict.fromkeys(line.split(" ")[0] for line in HELP[side].splitlines()), "help"]


def _print(text: str) -> None:
    print(text, flush=True)
