"""Type, unit and description of every frame's columns, the source of the data dictionary."""

from typing import Annotated, TypedDict

from ..scoring.columns import Column, Score, columns_of

ENTRY = "Name of the run in every table: the model's name, plus what distinguishes it from other runs of that model."
ERRORS = "unknown_tool, bad_json, bad_arguments, not_found, talk_over or tool_fault; empty if the call was carried out."


class _Run(TypedDict):
    run_id: Annotated[str, Column("Name of the run: one model, one setting, one run file.")]
    entry: Annotated[str, Column(ENTRY)]


class _Row(_Run):
    model: Annotated[str, Column("Name of the agent's model, or scripted:NAME.")]
    case_id: Annotated[str, Column("Id of the case.")]
    trial: Annotated[int, Column("Number of the trial, from 1.")]


class ConversationRow(_Row):
    """The columns of `conversations` before those of the score."""

    source: Annotated[str, Column("model, scripted, synthetic, imported, published, or the name of the player.")]
    customer: Annotated[str, Column("Who played the customer: scripted, or the name of a model.")]
    ended_by: Annotated[str, Column("How the conversation ended; see `benchmark_lib.records.ENDINGS`.")]
    store_version: Annotated[str, Column("Store and version; for an imported file, its benchmark and domain.")]
    scoring: Annotated[str, Column("Version of the scoring rules; for an imported file, who gave the reward.")]
    prompt_tokens: Annotated[float | None, Column("Tokens the agent read.", "tokens")]
    completion_tokens: Annotated[float | None, Column("Tokens the agent wrote, including hidden reasoning.", "tokens")]
    reasoning_tokens: Annotated[float | None, Column("Tokens of hidden reasoning, part of those written.", "tokens")]
    cost_usd: Annotated[float | None, Column("Cost of the agent; NaN if prices or tokens are unknown.", "USD")]
    customer_cost_usd: Annotated[
        float | None, Column("Cost of the customer; NaN if prices or tokens are unknown.", "USD")
    ]
    record_hash: Annotated[str, Column("Content hash of the record.")]
    planned: Annotated[int, Column("Conversations planned for the run.", "conversations")]
    planned_trials: Annotated[int | None, Column("Trials planned for the case.", "trials")]
    floor: Annotated[float | None, Column("Share of a tau2 domain's tasks that an agent passes by doing nothing.")]
    settings: Annotated[str, Column("Settings of the model, such as effort or a custom prompt; or `default`.")]
    weights: Annotated[str, Column("open or closed, as stated by data/weights.yaml; otherwise unknown.")]


class MessageRow(_Row):
    """A row of `messages`."""

    turn: Annotated[int, Column("Number of the customer message that this message is or answers (the email is 1).")]
    side: Annotated[str, Column("agent or customer.")]
    text: Annotated[str, Column("Text of the message.")]
    acts: Annotated[str, Column("Acts of the customer in this message.")]
    attachments: Annotated[str, Column("Names of the attachments.")]


class ToolCallRow(_Row):
    """A row of `tool_calls`."""

    turn: Annotated[int, Column("Number of the customer message being answered.")]
    index: Annotated[int, Column("Position among all calls of the conversation.")]
    side: Annotated[str, Column("Who called: agent or customer.")]
    name: Annotated[str, Column("Name of the tool.")]
    arguments: Annotated[str, Column("Arguments as JSON; a JSON string if they were not an object.")]
    result: Annotated[str, Column("Result of the tool, as JSON.")]
    error: Annotated[str | None, Column(ERRORS)]
    write: Annotated[bool | None, Column("Whether the tool changes the desk; unknown in imported files.")]


class CallRow(_Run):
    """A row of `calls`."""

    case_id: Annotated[str, Column("Id of the case.")]
    trial: Annotated[int, Column("Number of the trial, from 1.")]
    side: Annotated[str, Column("agent, customer or judge.")]
    n: Annotated[int, Column("Number of the call on its side of the conversation.")]
    model: Annotated[str, Column("Name of the model that was called.")]
    prompt_tokens: Annotated[float | None, Column("Tokens read.", "tokens")]
    completion_tokens: Annotated[float | None, Column("Tokens written.", "tokens")]
    reasoning_tokens: Annotated[float | None, Column("Tokens of hidden reasoning, part of those written.", "tokens")]
    cached_tokens: Annotated[float | None, Column("Tokens read from the provider's cache.", "tokens")]
    latency_s: Annotated[float | None, Column("Duration of the attempt that succeeded.", "s")]
    attempts: Annotated[int, Column("Failed attempts before the successful one.", "attempts")]
    cost_usd: Annotated[float | None, Column("Cost, an estimate if `estimated` is true; NaN if unknown.", "USD")]
    finished_at: Annotated[str, Column("Time at which the call finished.", "ISO 8601, UTC")]
    estimated: Annotated[bool, Column("Whether the cost is an estimate, because the endpoint reported no tokens.")]


class VerdictRow(_Row):
    """A row of `verdicts`."""

    judge: Annotated[str, Column("Name of the judge's model.")]
    version: Annotated[str, Column("Version of the judging: task, rubrics, rules and settings together.")]
    scorer: Annotated[str, Column("Name of the scorer.")]
    score: Annotated[float | None, Column("The score, 0 to 100; NaN if it does not count.", "points")]
    reason: Annotated[str | None, Column("The judge's reason.")]
    quote: Annotated[str | None, Column("The evidence it quotes.")]
    unscored: Annotated[str | None, Column("Why the score does not count; empty if it does.")]
    rubric: Annotated[str | None, Column("Version of the scorer's rubric.")]
    entrant: Annotated[bool | None, Column("Whether the judge is also the model being judged.")]
    addressed: Annotated[int, Column("Passages of the record that address a judge.", "passages")]


class PlannedRow(_Run):
    """A row of `planned`."""

    model: Annotated[str, Column("Name of the agent's model, or scripted:NAME.")]
    source: Annotated[str, Column("As in conversations.")]
    case_id: Annotated[str, Column("Id of the case.")]
    trials: Annotated[int, Column("Trials planned for the case.", "trials")]


DICTIONARY: dict[str, dict[str, Column]] = {
    "conversations": columns_of(ConversationRow) | columns_of(Score),
    "messages": columns_of(MessageRow),
    "tool_calls": columns_of(ToolCallRow),
    "calls": columns_of(CallRow),
    "verdicts": columns_of(VerdictRow),
    "planned": columns_of(PlannedRow),
}
"""The columns of each frame by name, in order."""
