"""A real language model through the same client and code path as any other: structure is asserted, never text."""

import pytest

from benchmark_lib import load_results
from benchmark_lib.cli import main
from benchmark_lib.extras.local.launch import local_model, missing_parts
from benchmark_lib.records import ENDINGS
from benchmark_lib.runfile import RunFile

LACKS = missing_parts()
CASES = "tracking_1"


@pytest.mark.timeout(480)
@pytest.mark.skipif(LACKS is not None, reason=str(LACKS))
def test_the_small_model_works_through_a_case(tmp_path):
    path = tmp_path / "local.deskbench"
    with local_model() as base_url:
        code = main(
            [
                "run",
                "smollm2-135m-instruct",
                "--base-url",
                base_url,
                "--cases",
                CASES,
                "--trials",
                "1",
                "--messages",
                "1",
                "--concurrency",
                "2",
                "--timeout",
                "240",
                "--out",
                str(path),
            ]
        )
    assert code == 0
    records = list(RunFile(path).records())
    assert {r.case_id for r in records} == set(CASES.split(","))
    for record in records:
        assert record.ended_by in ENDINGS and record.ended_by != "infrastructure_fault"
        assert record.source == "model" and record.messages[0].side == "customer"
        assert sum(m.side == "customer" for m in record.messages) <= 1
        assert record.usage["agent"].prompt_tokens > 500 and record.usage["agent"].completion_tokens > 0
    rows = load_results(path)
    assert rows.calls["completion_tokens"].gt(0).all() and rows.calls["latency_s"].gt(0).all()
    assert (rows.conversations["cost_usd"] == 0).all()

    assert (
        main(
            [
                "run",
                "smollm2-135m-instruct",
                "--base-url",
                base_url,
                "--cases",
                CASES,
                "--trials",
                "1",
                "--messages",
                "1",
                "--out",
                str(path),
                "--replay",
            ]
        )
        == 0
    )
