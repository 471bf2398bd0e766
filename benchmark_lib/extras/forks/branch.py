"""Continue a recorded conversation from one of the agent's turns, and show its branches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ...conversation.agent_view import AgentView
from ...conversation.model_agent import Spoken
from ...conversation.speaker import BuiltIn, ConversationState, Cut, Insider, Reply, Speaker, reply_of
from ...endpoint import Completion
from ...errors import BadInput
from ...experiment.recorder import NotOnFile, Recorder
from ...records import Conversation, as_text
from ...scoring.deciding import SUCCESS_STATES, state_of
from .points import point_in
from .tables import POINT, SETTING, fork_table, forks

if TYPE_CHECKING:
    from ...analysis.frames import Results


class NotRestored(BadInput):
    """A recorded conversation does not replay as recorded, so no calls are bought for its forks."""


@dataclass
class Branch:
    """One fork of a record: `live` from the agent's `turn` on, unless it is a `rehearsal`.

    `stop` ends it after the next deciding act, `edit` changes the message to be answered, and `rng` gives the agent's
    random numbers from then on.
    """

    record: Conversation
    turn: int
    stop: bool = False
    edit: Callable[[Reply], Reply] | None = None
    rehearsal: bool = False
    rng: np.random.Generator = field(default_factory=np.random.default_rng, repr=False)
    live: bool = False
    made: list[Any] = field(default_factory=list)

    def check(self, talk: ConversationState, said: Reply) -> None:
        """Compare messages, calls and results with the record; raise `NotRestored` if they differ."""
        then = [m for m in self.record.messages if m.turn < self.turn]
        calls = [c for c in self.record.tool_calls if c.turn < self.turn]
        asked = next(m for m in self.record.messages if m.turn == self.turn and m.side == "customer")
        same = _plain(talk.messages) == _plain(then) and _plain(talk.desk.calls) == _plain(calls)
        if not (same and asked.text.endswith(said.text)):
            raise self.not_restored("its messages, calls or results differ today")
        self.made = talk.desk.calls

    def not_restored(self, why: str) -> NotRestored:
        """Return the error for a turn that cannot be restored."""
        where = f"{self.record.case_id}:{self.record.trial}:{self.turn}"
        mend = "fork it with the version that recorded it, or exclude it"
        return NotRestored(f"{where} cannot be restored ({why}): {mend}")

    def stop_if_decided(self) -> None:
        """Raise `Cut` once the live agent has made a deciding act, if the fork stops there."""
        new = [c for c in self.made if c.turn >= self.turn] if self.stop and self.live else []
        if any(c.side == "agent" and c.write and not c.error for c in new):
            raise Cut

    def calls(self, before: Recorder, after: Recorder | None) -> Callable[..., Awaitable[Completion]]:
        """Return one side's model calls: the parent's before the fork, then the fork's own."""

        async def complete(messages: list[Any], tools: Any = None, **body: Any) -> Completion:
            if self.live and after is not None:
                self.stop_if_decided()
                return await after(messages, tools, **body)
            try:
                return await before(messages, tools, **body)
            except NotOnFile as missing:
                raise self.not_restored(str(missing)) from None

        return complete


class ForkedAgent(Insider):
    """The recorded agent until the fork, and the live agent from then on.

    `spoken` replays the record; without it, the live agent plays the first turns again from its calls on file. A
    `prompt` replaces the recorded prompt from the fork on.
    """

    def __init__(self, branch: Branch, live: Speaker, spoken: Spoken | None = None, prompt: str | None = None):
        super().__init__()
        self.branch, self.live, self.spoken, self.prompt = branch, live, spoken, prompt
        self.taken_over = branch.record.taken_over

    async def reply(self, talk: AgentView) -> Any:
        """Return the recorded reply before the fork, and the live agent's reply from then on."""
        if self.spoken is not None and talk.turn < self.branch.turn:
            return await self.spoken.reply(talk)
        if talk.turn >= self.branch.turn:
            talk.rng, talk.prompt = self.branch.rng, self.prompt or talk.prompt
        if talk.turn == self.branch.turn:
            self.branch.live = True
            if self.branch.rehearsal:
                raise Cut
            if hasattr(self.live, "history"):
                history = self.live.history[1:] if self.spoken is None else self.spoken.history
                self.live.history = [{"role": "system", "content": talk.prompt}, *history]
        if isinstance(self.live, Insider):
            self.live.acts = self.acts
        return await reply_of(self.live, talk)

    async def close(self) -> None:
        """Close the live agent."""
        if isinstance(self.live, BuiltIn):
            await self.live.close()


class ForkedCustomer:
    """The recorded customer, checked at the fork; the message there may be changed."""

    def __init__(self, branch: Branch, inner: Speaker):
        self.branch, self.inner = branch, inner
        self.has_the_last_word = getattr(inner, "has_the_last_word", False)

    async def reply(self, talk: ConversationState) -> Reply:
        """Return the next message; raise `NotRestored` if the conversation differs at the fork."""
        self.branch.stop_if_decided()
        said = await reply_of(self.inner, talk)
        said = said if isinstance(said, Reply) else Reply(str(said or ""))
        if talk.turn == self.branch.turn:
            self.branch.check(talk, said)
            said = self.branch.edit(said) if self.branch.edit else said
        return said


def _plain(things: list[Any]) -> bytes:
    return orjson.dumps([asdict(thing) for thing in things], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


# --- Branches

SHOWN = 12
"""Maximum number of branches that a transcript shows at one point; those that ended badly come first."""


def branches_of(results: Results) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """Return points and branches of each forked conversation, by run_id, case and trial."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    if not results.forks.runs:
        return found
    made = forks(results)
    runs = {run.run_id: (run, run.scores()) for run in results.forks.runs}
    names = [*SETTING, *POINT]
    groups = dict(list(made.groupby(names, sort=False)))
    for row in fork_table(made).to_dict("records"):
        key = tuple(row[name] for name in names)
        worst = groups[key].sort_values("bad", ascending=False, kind="stable").head(SHOWN)
        branches = [_branch(*runs[one["run_id"]], one) for one in worst.to_dict("records")]
        point = row | {"branches": branches, "more": len(groups[key]) - len(branches)}
        found[row["of"], row["case_id"], int(row["parent_trial"])].append(point)
    return found


def branch_events(manifest: dict[str, Any], record: Conversation) -> list[dict[str, Any]]:
    """Return the branch event of a fork for an Inspect log; nothing for other records."""
    if "fork" not in manifest:
        return []
    fork, point = manifest["fork"], point_in(manifest, record.case_id, record.trial)
    return [
        {
            "event": "branch",
            "uuid": f"{point.digest}-{record.trial}",
            "span_id": f"{record.case_id}:{record.trial}",
            "timestamp": manifest["created"],
            "working_start": 0.0,
            "from_span": f"{fork['of']}/{point.case_id}:{point.trial}",
            "from_anchor": f"turn {point.turn}",
            "metadata": {**fork, "record_hash": point.digest},
        }
    ]


def _branch(run: Any, scores: dict[str, dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    record = run.record(row["case_id"], row["trial"])
    state = state_of(scores.get(row["record_hash"], {}), record.ended_by)
    word = SUCCESS_STATES[state][1] if state != "none" else "unsafe" if row["unsafe"] == 1 else "no outcome"
    return {"n": row["n"], "state": state, "word": word, "ended": record.ended_by, "act": row["act"]} | {
        "events": list(_events(record, row["turn"]))
    }


def _events(record: Conversation, turn: int) -> Any:
    """Yield the calls and messages that follow a turn's message, in order."""
    for number in range(turn, max((m.turn for m in record.messages), default=turn) + 1):
        said = {m.side: m.text for m in record.messages if m.turn == number}
        if number > turn and "customer" in said:
            yield {"side": "customer", "text": said["customer"]}
        for call in record.tool_calls:
            if call.turn == number and call.side == "agent":
                texts = {"arguments": as_text(call.arguments), "result": as_text(call.result)}
                yield {"side": "call", "name": call.name, "error": call.error, "write": call.write} | texts
        if "agent" in said:
            yield {"side": "agent", "text": said["agent"]}
