"""Runs go out as logs that Inspect opens, and its logs come in, each with nothing lost that both can hold."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from benchmark_lib.analysis.frames import load_results
from benchmark_lib.cli import main
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.exchange.exports import export_frames
from benchmark_lib.extras.exchange.imports import import_results
from benchmark_lib.project import DATA

PLAYED = DATA / "examples" / "blind-play.deskbench"
MADE_BY_INSPECT = Path(__file__).parent / "data" / "inspect_mock.eval"
"""Two samples, two epochs, one tool call each; written by inspect-ai 0.3.285 with its mock model."""


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """The example of blind play as a log of Inspect."""
    (path,) = export_frames(load_results(PLAYED), tmp_path_factory.mktemp("logs"), format="inspect")
    return path


def write_json(path, samples, **header):
    about = {"eval": {"model": "m", "task": "t", "dataset": {"sample_ids": []}, "config": {"epochs": 1}}}
    path.write_text(json.dumps({**about, **header, "samples": samples}))
    return path


def sample(**more):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    return {"id": 1, "epoch": 1, "input": "hi", "messages": messages, "scores": {"s": {"value": "C"}}, **more}


def imported(tmp_path, *samples, **header):
    run = import_results(write_json(tmp_path / "log.json", list(samples), **header), tmp_path / "r", format="inspect")
    return load_results(run)


def test_a_run_that_goes_out_and_comes_back_is_the_same(log, tmp_path):
    before = load_results(PLAYED)
    after = load_results(import_results(log, tmp_path / "back.deskbench"))
    keys = ["case_id", "trial"]
    for name in ("success", "resolved", "handed_over", "unsafe", "agent_words", "ended_by", "bucket", "intent"):
        old, new = (r.conversations.set_index(keys)[name].sort_index() for r in (before, after))
        assert (
            old.astype(object).where(old.notna(), None).tolist() == new.astype(object).where(new.notna(), None).tolist()
        )
    agents = before.tool_calls[before.tool_calls["side"] == "agent"]
    assert agents["name"].tolist() == after.tool_calls["name"].tolist()
    assert agents["arguments"].tolist() == after.tool_calls["arguments"].tolist()
    assert len(before.messages) == len(after.messages)
    assert set(after.conversations["source"]) == {"imported"}


def test_a_log_is_a_zip_with_a_header_a_summary_and_a_file_per_sample(log):
    with zipfile.ZipFile(log) as parts:
        header, summaries = (json.loads(parts.read(n)) for n in ("header.json", "summaries.json"))
        samples = [n for n in parts.namelist() if n.startswith("samples/")]
    assert len(samples) == len(summaries) == header["results"]["completed_samples"]
    success = next(s for s in header["results"]["scores"] if s["name"] == "success")
    assert set(success["metrics"]) == {"resolvable", "must_escalate", "adversarial"}  # by bucket, never pooled


def test_chats_hold_the_prompt_every_call_with_its_result_and_the_scores(tmp_path):
    (path,) = export_frames(load_results(PLAYED), tmp_path, format="openai-chat")
    chats = [json.loads(line) for line in path.read_text().splitlines()]
    results = load_results(PLAYED)
    assert len(chats) == len(results.conversations)
    calls = [c for chat in chats for m in chat["messages"] for c in m.get("tool_calls", ())]
    assert len(calls) == (results.tool_calls["side"] == "agent").sum()
    for chat in chats:
        roles = [m["role"] for m in chat["messages"]]
        assert roles[:2] == ["system", "user"]
        asked = [c["id"] for m in chat["messages"] for c in m.get("tool_calls", ())]
        assert asked == [m["tool_call_id"] for m in chat["messages"] if m["role"] == "tool"]
        assert chat["metadata"]["score"]["success"] in (True, False)
        assert {t["function"]["name"] for t in chat["tools"]} >= {c["function"]["name"] for c in calls}


def test_a_log_that_inspect_wrote_is_read(tmp_path):
    results = load_results(import_results(MADE_BY_INSPECT, tmp_path / "r"))
    rows = results.conversations
    assert sorted(zip(rows["case_id"], rows["trial"])) == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]
    assert dict(zip(rows["case_id"], rows["success"])) == {"one": True, "two": False}
    assert set(rows["prompt_tokens"]) == {200} and set(rows["completion_tokens"]) == {14}
    assert list(results.tool_calls["name"]) == ["add"] * 4
    assert set(results.conversations["reward_basis"]) == {"Inspect's includes"}


def test_long_texts_that_inspect_keeps_apart_are_put_back(tmp_path):
    messages = [
        {"role": "user", "content": "attachment://abc"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}, {"type": "reasoning", "reasoning": "r"}, {"type": "image"}],
        },
    ]
    results = imported(tmp_path, sample(messages=messages, attachments={"abc": "a long letter"}))
    assert results.messages["text"].tolist() == ["a long letter", "a\n[image]"]


def test_encrypted_reasoning_is_read_by_its_summary(tmp_path):
    parts = [
        {"type": "reasoning", "reasoning": "gAAAA", "redacted": True, "summary": "In short."},
        {"type": "reasoning", "reasoning": "gBBBB", "redacted": True},
        {"type": "text", "text": "Hello."},
    ]
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": parts}]
    log = write_json(tmp_path / "log.json", [sample(messages=messages)])
    record = import_results(log, tmp_path / "r", format="inspect").record("1", 1)
    assert [r.text for r in record.reasoning] == ["In short."] and record.replies()[0].text == "Hello."


def test_what_the_world_did_is_no_failure_of_the_model(tmp_path):
    limits = ("token", "message", "working", "operator", "time")
    halted = [sample(id=kind, limit={"type": kind}, scores={"s": {"value": "I"}}) for kind in limits]
    died = sample(error={"message": "the sandbox died"}, metadata={"ended_by": "closed_by_agent"})
    rows = imported(tmp_path, died, sample(id="retried", error_retries=[{"message": "429"}]), *halted).conversations
    endings = ["infrastructure_fault", "closed_by_agent", *3 * ["turn_limit"], *2 * ["infrastructure_fault"]]
    assert rows["ended_by"].tolist() == endings
    assert rows["scored"].tolist() == [ending != "infrastructure_fault" for ending in endings]


def test_invalidated_samples_are_left_out_and_counted(tmp_path, capsys):
    bad = {"invalidation": {"author": "me", "reason": "the sandbox was wrong"}, "scores": {"s": {"value": "I"}}}
    samples = [sample(created_at="2026-01-05T10:00:00"), sample(id=2, created_at="2026-01-12T10:00:00")]
    spec = {"model": "m", "task": "t", "dataset": {"sample_ids": [1, 2, 3, 4]}, "config": {"epochs": 1}}
    log = write_json(tmp_path / "log.json", [*samples, sample(id=3, **bad)], status="cancelled", eval=spec)
    run = tmp_path / "r.deskbench"
    assert main(["import", str(log), "--format", "inspect", "--out", str(run)]) == 0
    told = capsys.readouterr().out
    assert "1 of 3 samples were invalidated and are left out: 3, epoch 1" in told
    assert "did not end well (cancelled): the log has 3 of 4 samples" in told
    rows = load_results(run).conversations
    assert rows["case_id"].tolist() == ["1", "2"] and rows["success"].all()
    assert main(["monitor", str(log), "--format", "inspect", "--baseline", "2026-01-05..2026-01-11"]) == 0
    assert "1 of 3 samples were invalidated" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(BadInput, match="each was invalidated"):
        imported(tmp_path, sample(**bad))


@pytest.mark.parametrize(
    "text, said",
    [
        (b'"' + b"a" * 60_000_000 + b'"', "50,000,000 bytes in one part"),
        (b"[" + b"[]," * 8_000_001 + b"[]]", "8,000,000 lists"),
    ],
)
@pytest.mark.parametrize("honest", [True, False])
def test_a_small_zip_that_would_fill_the_memory_is_refused_while_it_is_unpacked(tmp_path, capsys, text, said, honest):
    path = tmp_path / "l.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", "{}")
        log.writestr("samples/a.json", text)
    if not honest:  # the directory says that there are few bytes, or none that can be counted
        data, size = path.read_bytes(), len(text).to_bytes(4, "little")
        path.write_bytes(data.replace(size, (100).to_bytes(4, "little")))
    assert path.stat().st_size < 100_000
    assert main(["import", str(path), "--out", str(tmp_path / "x.deskbench")]) == 2
    assert (f"more than {said}" if honest else "is damaged") in capsys.readouterr().err


def test_an_edited_sample_is_read_as_it_was_last_written(tmp_path):
    header = json.loads(write_json(tmp_path / "x", []).read_text())
    with zipfile.ZipFile(tmp_path / "l.eval", "w") as log, pytest.warns(UserWarning, match="Duplicate"):
        log.writestr("header.json", json.dumps(header))
        for value in "IC":
            log.writestr("samples/1_epoch_1.json", json.dumps(sample(scores={"s": {"value": value}})))
    rows = load_results(import_results(tmp_path / "l.eval", tmp_path / "r")).conversations
    assert rows["success"].tolist() == [True]


@pytest.mark.parametrize(
    "value, success",
    [
        ("C", True),
        ("I", False),
        ("N", False),
        (1, True),
        (0.5, False),
        (True, True),
        ("yes", True),
        ("False", False),
        ("1.0", True),
    ],
)
def test_scores_in_any_of_inspects_forms(tmp_path, value, success):
    rows = imported(tmp_path, sample(scores={"s": {"value": value}})).conversations
    assert bool(rows["success"].item()) == success


@pytest.mark.parametrize("value", [{"a": 1}, [1, 0], None, float("nan"), float("inf"), "nan", "perhaps"])
def test_a_score_that_is_no_number_is_unscored(tmp_path, value):
    rows = imported(tmp_path, sample(scores={"s": {"value": value}})).conversations
    assert not rows["scored"].item() and rows["success"].isna().all()


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("cut.eval", MADE_BY_INSPECT.read_bytes()[:4000], "truncated"),
        ("no.eval", b"hello", "not an Inspect log"),
        ("list.json", b"[1, 2]", "not an Inspect log"),
        ("deep.json", b"[" * 100_000, "not an Inspect log"),
        ("none.json", json.dumps({"eval": {"dataset": {}}, "samples": []}).encode(), "has no samples"),
        ("odd.json", json.dumps({"eval": {"dataset": {}}, "samples": [{"messages": 3}]}).encode(), "damaged"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_sentence(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words):
        import_results(tmp_path / name, tmp_path / "r", format="inspect")
    assert not (tmp_path / "r").exists()


def test_a_zip_that_is_no_log_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as other:
        other.writestr("a.txt", "a")
    with pytest.raises(BadInput, match="has no header"):
        import_results(tmp_path / "x.eval", tmp_path / "r")


def test_a_name_that_says_nothing_needs_a_format(tmp_path, capsys):
    assert main(["import", str(PLAYED), "--out", str(tmp_path / "r")]) == 2
    assert "--format" in capsys.readouterr().err


@pytest.mark.slow
def test_inspect_itself_reads_the_same_numbers(log, inspect_python):
    script = """
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
messages = [m for s in log.samples for m in s.messages]
print(json.dumps({
    "samples": len(log.samples),
    "texts": sum(m.role in ("user", "assistant") and not getattr(m, "tool_calls", None) for m in messages),
    "calls": sum(len(m.tool_calls or ()) for m in messages if m.role == "assistant"),
    "successes": sum(s.scores["success"].value for s in log.samples),
    "tokens": sum(u.input_tokens for s in log.samples for u in s.model_usage.values()),
}))
"""
    said = subprocess.run([inspect_python, "-c", script, str(log)], capture_output=True, text=True, check=True).stdout
    results = load_results(PLAYED)
    assert json.loads(said.splitlines()[-1]) == {
        "samples": len(results.conversations),
        "texts": len(results.messages),
        "calls": (results.tool_calls["side"] == "agent").sum(),
        "successes": results.conversations["success"].sum(),
        "tokens": results.conversations["prompt_tokens"].sum(),
    }
