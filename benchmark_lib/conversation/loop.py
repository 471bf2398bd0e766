"""The loop: a customer and an agent play one case once, and the result is the record.

The factories create both for one conversation from their names in the run.
"""

import traceback
from pathlib import Path
from typing import Any, cast

from ..cases import Case
from ..endpoint.faults import call_in_text
from ..errors import BadInput
from ..records import CALL_IN_TEXT, CUT, TAMPERED, Act, Conversation, Fault, Message
from ..store import Store, Tool
from .agent_view import AgentView, plain, plain_text, without_keys
from .model_agent import ModelAgent
from .model_customer import ModelCustomer
from .scripted import scripted_agent
from .scripted_customer import ScriptedCustomer
from .speaker import (
    RELAYS,
    REPLY_S,
    AgentFault,
    BuiltIn,
    ContentFiltered,
    ConversationState,
    CustomerFault,
    Cut,
    HarnessFault,
    Insider,
    OwnCodeLeft,
    Reply,
    Speaker,
    is_own,
    reply_of,
)

EMPTY_REPLIES = 2
LONGEST_DETAIL = 2000
"""Most characters of an error that the record keeps."""


def make_agent(spec: str, *, case: Case, store: Store, complete: Any = None) -> Speaker:
    """Return the agent for one conversation: a scripted agent, or a model behind `complete`."""
    if spec.startswith("scripted:") and store.foreign:
        return store.foreign.agent(spec, case)  # type: ignore[no-any-return]
    if spec.startswith("scripted:"):
        return scripted_agent(spec, case, store)
    agent = ModelAgent(complete)
    return store.foreign.resumed(agent, case) if store.foreign else agent


def make_customer(spec: str, *, case: Case, store: Store, complete: Any = None) -> Speaker:
    """Return the customer for one conversation: ``scripted``, or a model behind `complete`."""
    if store.foreign:
        return store.foreign.customer(spec, case, complete)  # type: ignore[no-any-return]
    store = store.of(case)
    return ScriptedCustomer(case, store) if spec == "scripted" else ModelCustomer(complete, case, store)


async def converse(
    case: Case,
    store: Store,
    agent: Speaker,
    customer: Speaker,
    *,
    trial: int = 1,
    seed: int = 0,
    max_messages: int = 8,
    model: str = "",
    source: str = "model",
    customer_name: str = "scripted",
    prompt: str = "",
    tools: dict[str, Tool] | None = None,
    schemas: list[dict[str, Any]] | None = None,
    own: bool = False,
    reply_s: float = REPLY_S,
) -> Conversation:
    """Play a case with an agent and a customer until it ends.

    Parameters
    ----------
    trial, seed : int
        Seed the conversation's random numbers, together with the case id.
    max_messages : int
        Limit on customer messages, unless the case has its own. A message that asks back does not count. A model
        customer may add its last words after the agent's answer to the last of them.
    tools : dict of str to Tool, optional
        The tools on the desk; the store's own by default.
    schemas : list of dict, optional
        The same tools as schemas, if already available.
    own : bool
        True for the user's own agent, even if it derives from a built-in class. Any agent that is no `BuiltIn` counts
        as one.
    reply_s : float
        Seconds that the user's own agent may take for one reply.

    Raises
    ------
    EndpointError
        Only a fatal error (key, quota, unknown model): the run cannot continue. Other endpoint errors end this
        conversation as ``infrastructure_fault``.
    """
    store = store.of(case)
    actions = {known.does.tool: known.does for known in case.ledger.values() if known.does}
    desk = store.desk(
        tools, case=case, trouble=case.trouble, planted=case.planted, customer_actions=actions, meanwhile=case.meanwhile
    )
    shown, limit = schemas or store.schemas(tools), case.limit or max_messages
    built_in = issubclass(type(agent), BuiltIn)
    own = own or not built_in
    if own:
        shown = plain(shown)  # the agent's copy
    talk = ConversationState(case, desk, trial=trial, seed=seed, prompt=prompt, tools=shown, limit=limit)
    shared: dict[str, Any] = {name: getattr(talk, name) for name in ("messages", "usage", "faults", "reasoning")}
    done: dict[str, Any] = {"tool_calls": desk.calls, "staged": desk.staged}
    record = Conversation(case.id, trial, model, source, customer_name, **shared, **done)
    try:
        record.ended_by = await _loop(talk, case, agent, customer, own, reply_s)
    except Exception as error:
        record.ended_by = _ending_of(error, talk)
    finally:
        talk.ended = True
        if built_in:
            await cast(BuiltIn, agent).close()
    record.changes, record.rating = desk.changes(), talk.rating
    record.taken_over = getattr(agent, "taken_over", 0) if built_in else 0
    own_code = own or is_own(type(agent)) or not all(map(store.provides, desk.tools.values()))
    if own_code and not desk.explained():
        why = "the recorded calls, repeated on a fresh desk, do not lead to the contents of this desk"
        talk.faults.append(Fault("agent", TAMPERED, why))
        record.ended_by = "agent_fault"
    return record


async def _loop(
    talk: ConversationState, case: Case, agent: Speaker, customer: Speaker, own: bool, reply_s: float
) -> str:
    empty = turn = 0
    while turn < talk.limit + talk.asked_back:
        turn += 1
        talk.desk.turn = turn
        reply = await _said(customer, talk)
        attachable = {k.attach: k.shows or "" for k in case.ledger.values() if k.attach and k.when != "never"}
        attachments = [a for a in reply.attachments if a in attachable]
        acts = reply.acts + [Act("attached", a) for a in attachments]
        shows = {a: attachable[a] for a in attachments if attachable[a]}
        for action in (case.ledger[a.what].does for a in acts if a.kind == "gave" and a.what in case.ledger):
            if action is not None:
                talk.desk.call(action.tool, {}, side="customer")
        since = [m for m in case.meanwhile if m.at == turn]
        acts += [Act("moved", key) for m in since for rows in m.rows.values() for key in rows]
        written = [f"{m.clock:%A, %B} {m.clock.day}, {m.clock:%H:%M}" for m in since if m.clock]
        text = "\n\n".join([*written, reply.text])
        talk.say(Message(turn, "customer", text, acts, attachments, shows))
        if ending := _left(reply):
            return ending
        if not own and isinstance(agent, Insider):
            agent.acts = [a for m in talk.messages for a in m.acts]
        answer = await _answer(agent, talk, own, reply_s)
        talk.say(Message(turn, "agent", answer))
        if talk.desk.over:
            return "handed_over" if talk.desk.over == "handed_over" else "closed_by_agent"
        empty = 0 if answer.strip() else empty + 1
        if empty >= EMPTY_REPLIES:
            raise AgentFault("empty_replies", f"{EMPTY_REPLIES} empty replies in a row")
    if not getattr(customer, "has_the_last_word", False):
        return "turn_limit"
    talk.desk.turn = talk.limit + 1
    reply = await _said(customer, talk)
    ending = _left(reply)
    if ending:
        talk.say(Message(talk.turn, "customer", reply.text, reply.acts))
    return ending or "turn_limit"


def _left(reply: Reply) -> str:
    exit_act = next((a for a in reply.acts if a.kind == "left"), None)
    if exit_act is None:
        return ""
    return "resolved_by_customer" if exit_act.what == "content" else "customer_gave_up"


async def _said(customer: Speaker, talk: ConversationState) -> Reply:
    """Return the customer's reply; a defect becomes a `CustomerFault` of this conversation."""
    from ..endpoint.keys import scrub

    try:
        return await _reply(customer, talk)
    except Exception as error:
        if _of_this_package(error):
            raise
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(at.filename).name}:{at.lineno})"
        raise CustomerFault(f"{type(error).__name__}: {scrub(plain_text(error))[:LONGEST_DETAIL]} {where}") from error


async def _answer(agent: Speaker, talk: ConversationState, own: bool, reply_s: float) -> str:
    # An exception that would exclude a trial becomes an `AgentFault` if the user's own agent raises it.
    try:
        text = plain_text((await _reply(agent, talk.for_agent(own), reply_s)).text)
        text = without_keys(text) if own else text
        if form := call_in_text(text, talk.desk.tools):
            talk.faults.append(Fault("agent", CALL_IN_TEXT, f"message {talk.turn}: {form}"))
        return text
    except Exception as error:
        from ..endpoint import EndpointError

        # Check only the type: attributes of an agent's exception may raise in turn. Errors that end the run go through.
        believed = not own or type(agent) in RELAYS or issubclass(type(error), AgentFault | BadInput | OwnCodeLeft)
        if believed or not _of_this_package(error) or (type(error) is EndpointError and error.fatal is True):
            raise
        raise AgentFault("raised", f"the agent raised {type(error).__name__}: {plain_text(error)}") from error


def _of_this_package(error: Exception) -> bool:
    package = __name__.partition(".")[0]
    return any(c.__module__.partition(".")[0] == package for c in type(error).__mro__)


async def _reply(speaker: Speaker, talk: ConversationState | AgentView, limit_s: float = REPLY_S) -> Reply:
    answer = await reply_of(speaker, talk, limit_s)
    return answer if isinstance(answer, Reply) else Reply(str(answer or ""))


def _ending_of(error: Exception, talk: ConversationState) -> str:
    """Return the ending for an exception and record its fault; re-raise an unknown error."""
    from ..endpoint import EndpointError
    from ..endpoint.keys import scrub

    text = plain_text(error)
    if isinstance(error, Cut):
        return CUT
    if isinstance(error, AgentFault):
        ending, fault = "agent_fault", Fault("agent", plain_text(error.kind), scrub(text)[:LONGEST_DETAIL])
    elif isinstance(error, ContentFiltered):
        ending, fault = "content_filter", Fault("agent", "content_filter", text)
    elif isinstance(error, HarnessFault):
        ending, fault = "infrastructure_fault", Fault("infrastructure", "not_started", text[:LONGEST_DETAIL])
    elif isinstance(error, CustomerFault):
        ending, fault = "customer_fault", Fault("customer", "failed", text)
    elif isinstance(error, EndpointError) and not error.fatal:
        side = "agent" if error.kind == "context_overflow" else "infrastructure"
        ending, fault = f"{side}_fault", Fault(side, error.kind, text)
    else:
        raise error
    talk.faults.append(fault)
    return ending
