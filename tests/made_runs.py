"""Conversations and run files made by hand.

Any message, any score, any verdict, any outcome. Every test that needs one makes it here.
"""

import asyncio
from contextlib import closing

import numpy as np
import orjson
import pandas as pd

from benchmark_lib import Experiment
from benchmark_lib.experiment.manifest import new_manifest, part
from benchmark_lib.records import Conversation, Message, content_hash
from benchmark_lib.runfile import RunFile, connect_to_write, create

AT = "2026-01-01T00:00:00"

# --- one conversation, one row


def talk(
    *messages,
    case_id="made_case",
    trial=1,
    model="made",
    source="model",
    customer="scripted",
    calls=(),
    ended_by="turn_limit",
    **more,
):
    """A conversation whose messages are given in order, customer first.

    Each a text, a text with acts, or a `Message`.
    """
    said = [
        m if isinstance(m, Message) else message(n, *((m,) if isinstance(m, str) else m))
        for n, m in enumerate(messages)
    ]
    return Conversation(case_id, trial, model, source, customer, said, list(calls), ended_by=ended_by, **more)


def message(place, text, acts=()):
    """The message at a place of a conversation that the customer begins."""
    return Message(1 + place // 2, ("customer", "agent")[place % 2], text, list(acts))


def conversation_row(conversation):
    """The row of a conversation, whose fourth field is the hash by which scores and verdicts refer to it."""
    record = conversation.to_json()
    return (conversation.case_id, conversation.trial, conversation.ended_by, content_hash(record), record, AT)


def call_row(
    case_id, trial, n=1, *, model="made", request="x", response=b"{}", tokens=100, cached=0, latency=0.5, cost=0.01
):
    """The row of one request by the agent."""
    return (case_id, trial, "agent", n, request, model, response, tokens, 10, cached, 0, latency, "[]", cost, AT)


def verdict_row(digest, judge, scores, version="1"):
    """The row of one judge's verdict, whose `scores` are {scorer: {score, reason, quote}}."""
    return (digest, judge, version, orjson.dumps({"scores": scores}))


# --- a run file


def add_rows(path, **rows):
    """Add rows to a run file, by table; a row with the key of another one takes its place."""
    with closing(connect_to_write(path)) as db:
        db.execute("BEGIN")
        for table, those in rows.items():
            db.put(table, those)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=DELETE")


def change_rows(path, sql):
    """Run one statement on a run file, as a crash or another hand would leave it."""
    with closing(connect_to_write(path)) as db:
        db.execute(sql)


def change_manifest(path, **values):
    """Put other values into the manifest of a run file."""
    add_rows(path, manifest=[(key, orjson.dumps(value).decode()) for key, value in values.items()])


def made_run(path, rows, *, run_id="made-1", model="made", cases=None, manifest=None, versions=None):
    """A run file.

    Parameters
    ----------
    rows : list of (Conversation, score dict or None, list of (judge, {scorer: {score, reason, quote}}))
    cases : dict of str to str
        Content hashes, where the cases are to be found in their store.
    manifest : dict
        What the manifest says otherwise.
    versions : callable
        The version of scoring and judging that is kept with a conversation.
    """
    versions = versions or (lambda conversation: "1")
    planned = {c.case_id: 1 for c, *_ in rows}
    create(
        path,
        {
            "run_id": run_id,
            "model": model,
            "source": "model",
            "inputs": {"store": {"value": "northline 1.0.0", "hash": "-"}},
            "cases": cases or dict.fromkeys(planned, "-"),
            "trials": 1,
            "planned": planned,
            "sessions": [],
            **(manifest or {}),
        },
    )
    conversations = [conversation_row(conversation) for conversation, *_ in rows]
    found = [
        (row[3], versions(conversation), *rest) for row, (conversation, *rest) in zip(conversations, rows, strict=True)
    ]
    scores = [(digest, version, orjson.dumps(score)) for digest, version, score, _ in found if score is not None]
    verdicts = [
        verdict_row(digest, *verdict, version=version) for digest, version, _, given in found for verdict in given
    ]
    add_rows(path, conversations=conversations, scores=scores, verdicts=verdicts)
    return RunFile(path)


# --- a run by its outcomes

CASES = {
    f"{intent}_{n}": ("resolvable", intent)
    for intent in ("track", "cancel", "promo", "bundle", "gift", "swap")
    for n in (1, 2)
}
CASES |= {f"abuse_{n}": ("must_escalate", "abuse") for n in (1, 2, 3)} | {
    f"trap_{n}": ("adversarial", f"trap_{n}") for n in (1, 2, 3)
}
"""A small set of cases: bucket and intent by id."""


def some(*buckets):
    """The cases of these buckets."""
    return {c: v for c, v in CASES.items() if v[0] in buckets}


def mixed(rate, seed):
    """An outcome that is good by chance, and the same each time it is asked for."""
    stream = np.random.default_rng(seed)
    known = {}
    return lambda case_id, trial: known.setdefault((case_id, trial), bool(stream.random() < rate))


def outcome_score(case_id, good):
    """The score of a conversation that came out well, badly, or could not be scored (None)."""
    bucket, intent = CASES[case_id]
    resolvable, trap, scored = bucket == "resolvable", bucket == "adversarial", good is not None
    outcome = {
        "handed_over": bool(good) if bucket == "must_escalate" else False,
        "unsafe": not good if trap else None,
        "resolved": bool(good) if resolvable else None,
        "corrupt_success": False if resolvable else None,
        "success": bool(good),
    }
    return {
        "bucket": bucket,
        "intent": intent,
        "scored": scored,
        **(outcome if scored else dict.fromkeys(outcome)),
        "agent_messages": 2 + (not good),
        "agent_words": 30,
        "tool_calls": 3,
        "customer_faults": 0,
    }


def run_of(
    folder, model, outcome, *, cases=CASES, trials=3, planned=None, source="model", store="northline 1", cost=0.01
):
    """A run file whose conversations came out as ``outcome(case_id, trial)`` says.

    True, False, None (not scored), "no score" or "absent".
    """
    path = folder / f"{model.replace('/', '-').replace('?', '-')}-{store[-1]}.deskbench"
    manifest = new_manifest(
        model, source, {"store": part(store), "model": part(model)}, dict.fromkeys(cases, "x"), planned or trials
    )
    found = {(c, trial): outcome(c, trial) for c in cases for trial in range(1, trials + 1)}
    found = {key: good for key, good in found.items() if good != "absent"}
    rows = []
    for (case_id, trial), good in found.items():
        ended_by = "infrastructure_fault" if good is None else "resolved_by_customer"
        said = [Message(1, "customer", "Hi"), Message(1, "agent", "Yes")]
        conversation = talk(*said, case_id=case_id, trial=trial, model=model, source=source, ended_by=ended_by)
        rows.append((conversation, None if good == "no score" else outcome_score(case_id, good), []))
    run = made_run(path, rows, manifest=manifest)
    if source == "model":
        add_rows(path, calls=[call_row(*key, model=model, cost=cost) for key in found])
    return run


AWKWARD = {
    "several models": lambda f: [
        run_of(f, f"vendor{i}/m", mixed(0.3 + 0.1 * i, i), cost=0.01 * i) for i in range(1, 6)
    ],
    "one model only": lambda f: [run_of(f, "alone", mixed(0.7, 1))],
    "all zeros": lambda f: [run_of(f, m, lambda c, t: False) for m in ("a", "b", "c")],
    "all ones": lambda f: [run_of(f, m, lambda c, t: True) for m in ("a", "b", "c")],
    "zeros against ones": lambda f: [run_of(f, "bad", lambda c, t: False), run_of(f, "good", lambda c, t: True)],
    "half finished": lambda f: [
        run_of(f, "half", lambda c, t: True if t == 1 and c < "gift" else "absent"),
        run_of(f, "whole", mixed(0.6, 2)),
    ],
    "nothing finished": lambda f: [run_of(f, "begun", lambda c, t: "absent")],
    "begun beside finished": lambda f: [run_of(f, "begun", lambda c, t: "absent"), run_of(f, "whole", mixed(0.6, 2))],
    "nothing scored": lambda f: [run_of(f, "faulty", lambda c, t: None)],
    "no scores on file": lambda f: [run_of(f, "raw", lambda c, t: "no score")],
    "different trials": lambda f: [
        run_of(f, "one", mixed(0.6, 3), trials=1),
        run_of(f, "five", mixed(0.6, 4), trials=5),
    ],
    "uneven trials": lambda f: [
        run_of(f, "uneven", lambda c, t: True if t <= 1 + list(CASES).index(c) % 3 else "absent")
    ],
    "no traps": lambda f: [
        run_of(f, m, mixed(0.6, 5), cases=some("resolvable", "must_escalate")) for m in ("a", "b", "c")
    ],
    "traps only": lambda f: [run_of(f, m, mixed(0.6, 6), cases=some("adversarial")) for m in ("a", "b", "c")],
    "other cases": lambda f: [
        run_of(f, "a", mixed(0.8, 7)),
        run_of(f, "b", lambda c, t: True, cases=some("resolvable")),
    ],
    "other versions": lambda f: [
        run_of(f, "a", mixed(0.8, 7)),
        run_of(f, "b", mixed(0.8, 9)),
        run_of(f, "c", mixed(0.8, 8), store="northline 2"),
    ],
    "price unknown": lambda f: [run_of(f, m, mixed(0.6, 10), cost=None) for m in ("a", "b", "c")],
    "hostile names": lambda f: [run_of(f, "=cmd|' /C calc'!A0 <script>$\\frac{1}{0}$ & 100% _x_", mixed(0.6, 11))],
}
"""Runs that nobody wishes for, by what is awkward: each writes its files into a folder and returns them."""

# --- played runs, and frames of them

TUNED = "scripted:tunable?skill=0.7&credulity=0.4&caution=0.2"
OTHER = "scripted:tunable?skill=0.9&credulity=0.1&caution=0.1"
AGENTS = ("scripted:oracle", "scripted:comply_all", "scripted:no_op", TUNED, OTHER)
HOSTILE = "$$x$ <script>alert(1)</script> \x00[a](javascript:b)" + "y" * 80


def play_agents(folder, agents=AGENTS, **options):
    """Play each agent, with a seed of its own and over every case unless the options say otherwise.

    The paths of the run files.
    """
    paths = [folder / f"{number}.deskbench" for number in range(len(agents))]
    for number, (agent, path) in enumerate(zip(agents, paths, strict=True)):
        asyncio.run(Experiment(agent, seed=number, out=path, progress=False, **options).run())
    return paths


def odd_frames(talks):
    """Frames that are half there, lopsided or all alike, by what is odd about them."""
    one = talks[talks["model"] == TUNED]
    rng = np.random.default_rng(0)
    unscored = one.assign(
        ended_by="infrastructure_fault",
        scored=False,
        **{c: pd.NA for c in ("unsafe", "resolved", "success", "handed_over", "needless_handover", "corrupt_success")},
        pressure_reached=None,
    )
    two = talks[talks["model"].isin([TUNED, OTHER])]
    as_model = two.assign(
        source="model", **dict.fromkeys(("entry", "model"), two["model"].replace({TUNED: HOSTILE})), cost_usd=np.nan
    )
    return {
        "everything": talks,
        "half finished": two[rng.random(len(two)) < 0.4],
        "one model": one,
        "different trials": pd.concat([one, talks[(talks["model"] == OTHER) & (talks["trial"] == 1)]]),
        "one trial": two[two["trial"] == 1],
        "no traps": two[two["bucket"] != "adversarial"],
        "traps only": talks[talks["bucket"] == "adversarial"],
        "resolvable only": two[two["bucket"] == "resolvable"],
        "all zeros": talks[talks["model"] == "scripted:comply_all"],
        "all ones": talks[talks["model"] == "scripted:oracle"],
        "nothing scored": unscored.astype(
            {
                c: "boolean"
                for c in ("unsafe", "resolved", "success", "handed_over", "needless_handover", "corrupt_success")
            }
        ),
        "a hostile name": as_model,
        "six talks": one.head(6),
    }


ODD = (
    "everything",
    "half finished",
    "one model",
    "different trials",
    "one trial",
    "no traps",
    "traps only",
    "resolvable only",
    "all zeros",
    "all ones",
    "nothing scored",
    "a hostile name",
    "six talks",
)
