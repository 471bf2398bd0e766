"""Forks: a recorded conversation goes on from one turn, as recorded where the replies are, and otherwise on its own."""

import asyncio
import time
from pathlib import Path

import numpy as np
import orjson
import pytest
from commands import Command, played
from run_server import RunServer
from servers import completion

from benchmark_lib import BadInput, Experiment, Fork, RunFile, estimators, load_results, tables
from benchmark_lib.analysis.estimators.intervals import proportion_interval
from benchmark_lib.cli import main
from benchmark_lib.extras.forks.points import place_of
from benchmark_lib.reports.terminal import VIEWS

SOME = "cancel_after_ship,wrong_item_*,wear_and_tear,missing_item_1,reroute_forwarder,tracking_1,damaged_item_1,promo*"
TRAP = "false_closure_refund"


def run(experiment):
    return asyncio.run(experiment.run())


def forked(parent, out, **options):
    """The file of some forks."""
    return run(Fork(parent=parent, out=out, progress=False, **{"times": 1, "at": "every", **options}))


def differing(forks, parent, *left_out):
    """The forks whose record is not that of their parent, apart from some fields."""
    points, found = forks.manifest["points"], []
    for record in forks.records():
        then = parent.record(record.case_id, points[record.case_id][place_of(record.trial)[0]][0])
        for name in ("trial", "source", "model", *left_out):
            setattr(record, name, getattr(then, name))
        if record.to_json() != then.to_json():
            found.append((record.case_id, record.trial))
    return found


class Recorded(RunServer):
    """A model that says and does what records say, in whatever history it is asked to go on from."""

    def __init__(self, records):
        super().__init__()
        self.steps = {}
        for record in records:
            steps = []
            for message in record.replies():
                turn = [c for c in record.tool_calls if c.turn == message.turn and c.side == "agent"]
                steps += [(None, [(c.name, c.arguments)]) for c in turn] + [(message.text, ())]
            self.steps[record.messages[0].text] = steps

    def reply_to(self, request, number):
        asked = next((m["content"] for m in request["messages"] if m["role"] == "user"), "")
        steps = next((steps for text, steps in self.steps.items() if text in asked), [])
        at = sum(m["role"] == "assistant" for m in request["messages"])
        text, calls = steps[at] if at < len(steps) else ("Is there anything else?", ())
        return completion(text, calls, request)


class Coin(RunServer):
    """A model that asks, then throws a coin: after heads it closes the ticket, which in this trap is forbidden."""

    def __init__(self, chance=0.5, seed=7):
        super().__init__()
        self.chance, self.rng = chance, np.random.default_rng(seed)

    def reply_to(self, request, number):
        said = [m["content"] for m in request["messages"] if m["role"] == "assistant" and m["content"]]
        calls = any(m["role"] == "tool" for m in request["messages"])
        if len(said) < 1:
            return completion("I will look into it. What is your order number?", (), request)
        if len(said) < 2:
            heads = self.rng.random() < self.chance
            return completion("I will close this for you." if heads else "I am looking into it.", (), request)
        if "close" in said[1] and not calls:
            return completion(None, [("close_ticket", {"resolution": "done"})], request)
        return completion("I am still looking into it.", (), request)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """A run of the oracle over some cases."""
    out = tmp_path_factory.mktemp("oracle") / "run.deskbench"
    return run(Experiment("scripted:oracle", cases=SOME, trials=1, out=out, progress=False))


@pytest.fixture(scope="module")
def modelled(oracle, tmp_path_factory):
    """A run of a model that does what the oracle did, with its endpoint."""
    out = tmp_path_factory.mktemp("modelled") / "run.deskbench"
    with Recorded(oracle.records()) as server:
        options = {"base_url": server.base_url, "cases": SOME, "trials": 1, "progress": False}
        yield run(Experiment("copyist", out=out, **options)), server


@pytest.fixture(scope="module")
def coins(tmp_path_factory):
    """A run of five trials of one trap by a model that throws a coin, with its endpoint."""
    out = tmp_path_factory.mktemp("coins") / "run.deskbench"
    with Coin() as server:
        options = {"base_url": server.base_url, "cases": TRAP, "trials": 5, "progress": False}
        yield run(Experiment("coin", out=out, **options)), server


@pytest.mark.parametrize("cases", ["all", "hard:*_2,hard:injection*", pytest.param("hard", marks=pytest.mark.slow)])
def test_every_turn_of_every_case_goes_on_as_recorded(cases, tmp_path):
    parent = run(Experiment("scripted:oracle", cases=cases, trials=1, out=tmp_path / "run.deskbench", progress=False))
    forks = forked(parent, tmp_path / "forks.deskbench")
    assert len(forks.endings()) > len(parent.endings()) and differing(forks, parent) == []


def test_a_model_goes_on_from_its_own_calls(modelled, tmp_path):
    parent, server = modelled
    before = server.count
    forks = forked(parent, tmp_path / "forks.deskbench")
    assert differing(forks, parent) == []
    bought = list(forks.calls())
    assert len(bought) == server.count - before < sum(1 for _ in parent.calls()) * 3
    again = Fork(parent=parent, times=1, at="every", out=forks.path, progress=False, replay=True)
    run(again)
    assert again.replayed == len(forks.endings()) and server.count - before == len(bought)


def test_another_model_goes_on_with_the_same_conversation(modelled, tmp_path):
    parent, server = modelled
    forks = forked(parent, tmp_path / "forks.deskbench", model="other", base_url=server.base_url)
    assert differing(forks, parent, "usage", "reasoning") == []
    assert forks.manifest["fork"]["prefix"] == "shared prefix" and {r.model for r in forks.records()} == {"other"}


def test_an_own_agent_goes_on(modelled, tmp_path):
    class Mute:
        def reply(self, talk):
            return f"{len(talk.messages)} {talk.rng.random()}"

    forks = forked(modelled[0], tmp_path / "forks.deskbench", agent=Mute, at="wrong_item_1:1:2", times=3)
    texts = {tuple(m.text for m in record.replies()[1:]) for record in forks.records()}
    assert len(texts) == 3 and all(words[0].startswith("3 ") for words in texts)


def test_a_model_customer_says_its_recorded_lines_until_the_fork(tmp_path):
    class Both(RunServer):
        """The agent asks on and on; the customer numbers its messages."""

        def reply_to(self, request, number):
            if request["model"] == "agent":
                return completion("Could you tell me more?", (), request)
            said = orjson.dumps({"message": f"Message of request {number}.", "acts": [], "end": False}).decode()
            return completion(said, (), request)

    with Both() as server:
        options = {"base_url": server.base_url, "customer": "customer", "customer_base_url": server.base_url}
        options |= {"cases": "tracking_1", "trials": 1, "messages": 4, "progress": False}
        parent = run(Experiment("agent", out=tmp_path / "run.deskbench", **options))
        before = server.count
        forks = forked(parent, tmp_path / "forks.deskbench", at="tracking_1:1:3", times=2)
    (then,) = parent.records()
    texts = [[m.text for m in record.messages if m.side == "customer"] for record in (then, *forks.records())]
    assert all(found[:3] == texts[0][:3] for found in texts)
    assert len({found[3] for found in texts}) == 3 and server.count - before == 2 * 4  # the last is the last word


def test_the_turn_at_which_a_coin_fell_is_found(coins, tmp_path):
    parent, server = coins
    bad = next(r.trial for r in parent.records() if any(c.name == "close_ticket" for c in r.tool_calls))
    forked(parent, tmp_path / "forks.deskbench", along=f"{TRAP}:{bad}", times=40)
    table = tables.along_table(load_results(tmp_path, parent), f"{TRAP}:{bad}")
    assert table["turn"].tolist() == [1, 2, 3] and table["forks"].tolist() == [40] * 3
    assert table["decided_here"].tolist() == [False, True, False]
    for turn in (0, 1):
        assert table["low"][turn] < 0.5 < table["high"][turn]
    assert table["share"][2] == 1


def test_rates_of_known_coins_are_within_their_intervals():
    rng = np.random.default_rng(3)
    hits = [(e.low <= p <= e.high) for p in (0.1, 0.5, 0.8) for e in _intervals(p, rng)]
    assert np.mean(hits) >= 0.93


def _intervals(p, rng):
    return [proportion_interval(int(count), 40) for count in rng.binomial(40, p, 400)]


def test_a_null_change_shows_no_effect():
    rng, found = np.random.default_rng(5), []
    for points in (1, 3, 8):
        for _ in range(150):
            p = rng.beta(1, 2, points)
            found.append(estimators.effect(rng.binomial(10, p), [10] * points, rng.binomial(10, p), [10] * points))
    assert np.mean([e.low <= 0 <= e.high for e in found]) >= 0.95


def test_branches_count_as_often_as_they_were_reached():
    # two trials a case: one came to a branch that goes wrong in 4 of 10 forks, one did not
    found = estimators.branch_weighted_rate([0.4, 0.0, 0.4, 0.0], ["a", "a", "b", "b"])
    assert found.estimate == pytest.approx(0.2) and found.n == 4 and not found.reason
    alone = estimators.branch_weighted_rate([0.4, 0.0], ["a", "b"])
    assert "one trial" in alone.reason and alone.high - alone.low > found.high - found.low


def test_forks_of_one_prefix_are_one_cluster():
    one = estimators.rate_over_prefixes([10], [10])
    assert (round(one.low, 2), one.high, one.n) == (0.72, 1.0, 10)
    several = estimators.rate_over_prefixes([10, 0, 10, 0, 10, 0, 10, 0], [10] * 8)
    alone = proportion_interval(40, 80)
    assert several.estimate == 0.5 and several.high - several.low > 2 * (alone.high - alone.low)


def test_a_fork_stops_at_the_next_deciding_act(coins, tmp_path):
    forks = forked(coins[0], tmp_path / "forks.deskbench", at=f"{TRAP}:1:2", times=12, stop_at_decision=True)
    ended = {record.ended_by for record in forks.records()}
    made = tables.forks(load_results(forks))
    assert "stopped_at_decision" in ended and made["unsafe"].notna().all()
    assert made[made["ended_by"] == "stopped_at_decision"]["success"].isna().all()
    assert (made["act"] == "close_ticket").sum() == made["unsafe"].sum() > 0


def test_forks_are_on_no_board_and_in_results_of_their_own(coins, tmp_path):
    forks = forked(coins[0], tmp_path / "forks.deskbench", times=2)
    results = load_results(coins[0], forks)
    assert len(results.conversations) == 5 and set(results.forks.conversations["source"]) == {"fork"}
    assert tables.leaderboard(results)["conversations"].tolist() == [5]
    rate = tables.branch_rates(results).iloc[0]
    assert (rate["conversations"], rate["forked"]) == (5, 5) and rate["low"] <= rate["share"] <= rate["high"]


@pytest.mark.parametrize("trials", [1, 5])
def test_forks_of_those_that_acted_do_not_enter_the_overall_rate(coins, trials, tmp_path):
    # only a conversation that acted has a deciding act: with their forks alone the rate would be half of what it is
    parent = coins[0]
    if trials == 1:
        options = {"base_url": coins[1].base_url, "cases": f"{TRAP},wear_and_tear", "trials": 1, "progress": False}
        parent = run(Experiment("coin", out=tmp_path / "one.deskbench", **options))
    some = forked(parent, tmp_path / "some.deskbench", at=["decision", f"{TRAP}:1:2"], times=20)
    row = tables.branch_rates(load_results(parent, some)).iloc[0]
    assert row["forked"] == 0 and row["share"] == row["whole"] and "--at every" in row["reason"]


@pytest.mark.parametrize("rule", ["every", "pressure"])
def test_forks_before_any_act_give_the_overall_rate(rule, coins, tmp_path):
    forks = forked(coins[0], tmp_path / "forks.deskbench", at=rule, times=20)
    row = tables.branch_rates(load_results(coins[0], forks)).iloc[0]
    assert row["forked"] > 0 and not row["reason"] and row["high"] - row["low"] <= row["whole_high"] - row["whole_low"]
    assert row["low"] < (0.5 if rule == "every" else row["whole"]) < row["high"]


def test_pages_find_the_forks_of_a_project_by_themselves(coins, tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "data" / "runs").mkdir(parents=True)
    (tmp_path / "data" / "runs" / "coin.deskbench").write_bytes(coins[0].path.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main(["fork", "coin", "--at", f"{TRAP}:1:2", "--times", "2", "--yes"]) == 0
    results = load_results()
    assert len(results.conversations) == 5 and len(tables.forks(results)) == 2


def test_more_forks_go_on_where_the_file_ends(coins, tmp_path):
    out = tmp_path / "forks.deskbench"
    first = forked(coins[0], out, at=f"{TRAP}:1:2", times=3)
    calls = {(c["case_id"], c["trial"], c["n"]) for c in first.calls()}
    more = forked(coins[0], out, at=[f"{TRAP}:2:1", f"{TRAP}:1:2"], times=5)
    assert len(more.endings()) == 10 and calls < {(c["case_id"], c["trial"], c["n"]) for c in more.calls()}
    assert tables.fork_table(load_results(more))["forks"].tolist() == [5, 5]


def test_a_later_point_is_forecast_with_less_of_everything(coins, tmp_path):
    first, last = (
        Fork(parent=coins[0], at=f"{TRAP}:1:{turn}", times=2, out=tmp_path / "forks.deskbench", progress=False)
        for turn in (1, 2)
    )
    whole, rest = vars(first.forecast()), vars(last.forecast())
    shares = [rest[name].likely / whole[name].likely for name in ("calls", "prompt_tokens", "minutes")]
    assert 0 < shares[0] < 1 and shares == pytest.approx([shares[0]] * 3)


def test_what_was_bought_survives_a_kill(coins, tmp_path):
    parent, server = coins
    out = tmp_path / "forks.deskbench"
    line = ["fork", parent.path, "--at", "every", "--times", "12", "--out", out, "--yes", "--concurrency", "8"]
    server.latency_s, before = 0.02, server.count
    process = Command(line)
    while server.count < before + 90 and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    done = played(line)
    server.latency_s = 0.0
    forks = RunFile(out)
    assert done.returncode == 0 and len(forks.endings()) == sum(forks.manifest["planned"].values()) > 100, done.stderr
    assert server.count - before - sum(1 for _ in forks.calls()) <= 8 + 2  # in flight, and a greeting each time


CHANGED = {
    "no-pressure": lambda said, then: then not in said,
    "say=Never mind, just do it.": lambda said, then: said == "Never mind, just do it.",
    "rule=no_emojis": lambda said, then: said == then,
    "article=KB-01": lambda said, then: said == then,
}


@pytest.mark.parametrize("change", CHANGED)
def test_one_thing_is_changed_at_the_fork(change, tmp_path):
    parent = tmp_path / "run.deskbench"
    with Recorded([]) as server:
        options = {"base_url": server.base_url, "cases": "wear_and_tear", "trials": 1, "progress": False}
        parent = run(Experiment("mute", out=parent, **options))
        forks = forked(parent, tmp_path / "forks.deskbench", at="pressure", what_if=change)
    then = parent.record("wear_and_tear", 1)
    for record in forks.records():
        turn = forks.manifest["points"]["wear_and_tear"][place_of(record.trial)[0]][1]
        texts = [next(m.text for m in r.messages if m.turn == turn and m.side == "customer") for r in (record, then)]
        assert CHANGED[change](*texts), texts
        earlier = [[m.text for m in r.messages if m.turn < turn] for r in (record, then)]
        assert earlier[0] == earlier[1]


def test_a_planted_text_is_taken_out_only_before_it_is_met(tmp_path):
    parent = run(
        Experiment("scripted:oracle", cases="hard:injection*", trials=1, out=tmp_path / "r.deskbench", progress=False)
    )
    plan = Fork(parent=parent, at="every", what_if="no-plant", times=1, out=tmp_path / "f.deskbench", progress=False)
    forks = run(plan)
    assert plan.left_out and not any("planted" in record.staged.values() for record in forks.records())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"at": "soon"}, "not a point"),
        ({"at": "nothing:1:1"}, "no finished conversation"),
        ({"at": "tracking_1:1:9"}, "turns are 1 to"),
        ({"along": "tracking_1"}, "not a point"),
        ({"times": 0}, "times must be"),
        ({"what_if": "magic"}, "there is no what-if"),
        ({"what_if": "article=KB-99"}, "no such article"),
        ({"what_if": "rule=nothing"}, "nothing"),
        ({"what_if": "photo", "at": "tracking_1:1:1"}, "no turn to fork"),
        ({"where": "colour=red"}, "no field"),
        ({"executor": "dask"}, "on this machine"),
        ({"prompt": "README.md"}, "different inputs"),
    ],
)
def test_bad_input_is_one_sentence_and_buys_nothing(modelled, options, said, tmp_path):
    parent, server = modelled
    before = server.count
    with pytest.raises(BadInput, match=said):
        forked(parent, tmp_path / "forks.deskbench", **options)
    assert server.count == before and not (tmp_path / "forks.deskbench").exists()


def test_a_parent_that_changed_is_not_forked(modelled, tmp_path):
    parent, server = modelled
    data = parent.path.read_bytes()
    changed = tmp_path / "run.deskbench"
    changed.write_bytes(data)
    out = tmp_path / "forks.deskbench"
    forked(RunFile(changed), out, at="tracking_1:1:1")
    from made_runs import add_rows, conversation_row

    record = parent.record("tracking_1", 1)
    record.messages[1].text += " Really."
    add_rows(changed, conversations=[conversation_row(record)])
    before = server.count
    with pytest.raises(BadInput, match="cannot be restored"):
        forked(RunFile(changed), tmp_path / "others.deskbench", at="tracking_1:1:2")
    assert server.count == before


@pytest.mark.parametrize("source", ["imported", "published", "fork"])
def test_what_was_not_played_here_is_refused(source, modelled, tmp_path):
    from made_runs import change_manifest

    path = tmp_path / "run.deskbench"
    path.write_bytes(modelled[0].path.read_bytes())
    change_manifest(path, source=source)
    with pytest.raises(BadInput, match="cannot be forked"):
        Fork(parent=path)


def test_a_person_needs_a_model_that_goes_on(modelled, tmp_path):
    from made_runs import change_manifest

    path = tmp_path / "run.deskbench"
    path.write_bytes(modelled[0].path.read_bytes())
    change_manifest(path, source="human:anna")
    with pytest.raises(BadInput, match="--model"):
        Fork(parent=path)


def test_the_command_says_what_it_found(coins, tmp_path, capsys):
    line = ["fork", str(coins[0].path), "--traps", "--at", f"{TRAP}:1:2", "--times", "5", "--yes"]
    assert main([*line, "--out", str(tmp_path / "f.deskbench")]) == 0
    said = capsys.readouterr().out
    assert "model calls" in said and "of 5" in said and "23_forks" in said and "1 point, 5 forks" in said
    assert main([*line, "--dry-run"]) == 0


def test_the_site_opens_the_branches_of_a_transcript(coins, tmp_path):
    from benchmark_lib.reports.site import build_site

    forks = forked(coins[0], tmp_path / "forks.deskbench", times=3)
    site = build_site(load_results(coins[0], forks), tmp_path / "site")
    assert ">forks</a>" in (site.path / "traps.html").read_text()
    from benchmark_lib.extras.forks.branch import branches_of

    found = branches_of(load_results(coins[0], forks))
    assert {key[1:] for key in found} == {(TRAP, trial) for trial in range(1, 6)}
    point = found[coins[0].run_id, TRAP, 1][0]
    assert len(point["branches"]) == 3 and point["branches"][0]["events"]


def test_a_log_of_inspect_says_where_a_fork_leaves_its_parent(coins, tmp_path):
    import zipfile

    from benchmark_lib.extras.exchange import export_frames

    forks = forked(coins[0], tmp_path / "forks.deskbench", at=f"{TRAP}:1:2")
    (path,) = export_frames(load_results(forks), tmp_path / "logs", format="inspect")
    with zipfile.ZipFile(path) as log:
        sample = orjson.loads(log.read(next(n for n in log.namelist() if n.startswith("samples/"))))
    (event,) = sample["events"]
    assert (event["event"], event["from_anchor"]) == ("branch", "turn 2") and coins[0].run_id in event["from_span"]


def test_help_and_page_say_what_a_fork_takes_from_its_run_and_name_a_step_as_the_table_does(capsys):
    with pytest.raises(SystemExit):
        main(["fork", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "(default: the run's own, or OpenAI for another model)" in told
    assert "name the run's own file again if it had one" in told
    page = (Path(__file__).parents[1] / "docs" / "forks.md").read_text(encoding="utf-8")
    assert "`--settings`" in page and "*Unsafe or lost* depends on the case" in page
    (column,) = VIEWS["along"]["Decided here"]
    assert column == "decided_here" and f"**Decided here** (in Python: `{column}`)" in page
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    assert "name them again for runs that used some" in " ".join(capsys.readouterr().out.split())
