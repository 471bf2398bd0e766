"""Whole conversations from a seed.

Some are made as records; others are played by an agent and a customer's model that may say anything.
"""

import asyncio
import random
from typing import Any

import orjson

from benchmark_lib.cases import Case
from benchmark_lib.conversation import converse, make_customer
from benchmark_lib.endpoint.reply import Completion
from benchmark_lib.records import ENDINGS, Act, Conversation, Fault, Message, ToolCall, Usage
from benchmark_lib.store import Store

from . import texts

SENTENCES = (
    "Your refund of {n} will arrive within {n}.", "I have cancelled order {id} for you.",
    "Shall I cancel {id}? It costs {n}.", "It arrives on {n}.", "Could you send me {slot} and {slot}, please?",
    "I'm transferring you to a colleague from the {word} team.", "The weight is {n}, not {n}.",
    "We can't do that because {word} {word}, sorry.", "Order {id} was shipped {n} ago, tracking {n}.",
    "Your address: {value}.", "{value}", "{n}", "Su reembolso de {n} llegar\u00e1 en {n} d\u00edas h\u00e1biles.",
    "He cancelado el pedido {id}.", "\u00bfDesea que cancele {id}?", "\u00bfMe da {slot}, por favor?",
    "Le paso con un compa\u00f1ero.", "Votre remboursement de {n} arrivera sous {n} jours ouvr\u00e9s.",
    "J'ai annul\u00e9 la commande {id}.", "Pouvez-vous envoyer {slot} ?", "Voulez-vous que j'annule {id} ?",
    "Je vous passe un coll\u00e8gue.", "Ihre Erstattung von {n} kommt in {n} Werktagen.",
    "Ich habe die Bestellung {id} storniert.", "Soll ich {id} stornieren?", "K\u00f6nnten Sie mir {slot} schicken?",
    "Ich verbinde Sie mit einer Kollegin.", "**{word}**: {n}", "| {word} | {n} |\n|---|---|\n| {id} | {n} |",
    "- {word}\n- {n}\n- {id}", "# {word}\n\n> {value}", '```json\n{{"a": {n}}}\n```',
    "[{word}](https://northline.example/{n})", "{word} {word} {n} {word}?",
)  # fmt: skip
"""What replies are made of.

``{n}`` is a number, ``{id}`` an order, ``{slot}`` what the customer knows, ``{value}`` how it says that, and ``{word}``
any word.
"""
ODD = (
    None,
    True,
    False,
    0,
    -1,
    0.5,
    1e308,
    2**63,
    -(2**63),
    "",
    "x",
    "NL-51386",
    "2026-13-45",
    "\u0000",
    "a" * 3000,
    [],
    {},
    [[]],
    {"": None},
)
KINDS = (
    "gave", "lacked", "agreed", "refused", "asked", "attached", "followed_up", "pushed", "waited", "left", "danced",
)  # fmt: skip
ERRORS = (None, None, None, "unknown_tool", "bad_json", "bad_arguments", "not_found", "talk_over")


def reply(rng: random.Random, case: Case, most: int = 3000) -> str:
    """Draw a message of an agent or a customer in a case."""
    draw, size = rng.random(), min(most, rng.choice([1, 10, 10, 30, 100, 100, 100, 300, 300, 1000, 3000]))
    if draw < 0.08:
        return texts.repeated(texts.family(rng), size)
    if draw < 0.12:
        return texts.nested(rng, size)
    if draw < 0.25:
        return texts.mixed(rng, size)
    if draw < 0.27:
        return rng.choice(["", " ", "\n", "\x00", "?", ".", "\u0301", "{}", "null", "[]"])
    said = []
    for _ in range(rng.choice([1, 1, 2, 3, 5, 12])):
        said.append(_filled(rng.choice(SENTENCES), rng, case))
    if rng.random() < 0.2 and case.facts:
        said.append(rng.choice([f.say for f in case.facts.values() if f.say] or [""]))
    return rng.choice([" ", "\n", "\n\n", ""]).join(said)


def _filled(sentence: str, rng: random.Random, case: Case) -> str:
    known = rng.choice([*case.ledger.items()] or [("name", None)])
    values = {
        "n": texts.number(rng),
        "id": rng.choice([case.order or "NL-1", "NL-00000", "C-" + texts.number(rng, 20)]),
        "slot": f"your {known[0]}",
        "value": (known[1].value if known[1] else None) or "-",
        "word": rng.choice(texts.WORDS[rng.choice(list(texts.WORDS))].split()),
    }
    return sentence.format(**values)


def json_value(rng: random.Random, depth: int = 3) -> Any:
    """Draw anything that JSON can hold."""
    if depth and rng.random() < 0.3:
        if rng.random() < 0.5:
            return [json_value(rng, depth - 1) for _ in range(rng.randint(0, 4))]
        return {
            rng.choice(["order_id", "error", "queue", "address", "lines", "", "id", "a.b"]): json_value(rng, depth - 1)
            for _ in range(rng.randint(0, 4))
        }
    return rng.choice([*ODD, texts.number(rng), texts.mixed(rng, 40)])


def call(rng: random.Random, case: Case, store: Store) -> tuple[str, Any]:
    """Draw the name and arguments of a call: near what the case asks for or forbids, or anything at all."""
    meant = [
        (c.tool, c.arguments) for c in (*case.requested, *case.forbidden, *(c for o in case.outcomes for c in o.calls))
    ]
    if meant and rng.random() < 0.5:
        name, arguments = rng.choice(meant)
        arguments = {**arguments}
    else:
        name, arguments = rng.choice([*store.tools, "no_such_tool", ""]), {}
    fields = [*store.tools[name].arguments.model_fields] if name in store.tools else ["x"]
    for field in fields:
        if field not in arguments or rng.random() < 0.2:
            good = {
                "order_id": case.order,
                "email": case.sender,
                "queue": rng.choice(["fraud", "claims", "general"]),
                "reason": "because",
                "query": "returns",
            }
            arguments[field] = good.get(field) if rng.random() < 0.6 else json_value(rng)
    draw = rng.random()
    return name, json_value(rng) if draw < 0.1 else orjson.dumps(arguments).decode()[
        : rng.randint(0, 80)
    ] if draw < 0.15 else arguments


def made(rng: random.Random, case: Case, store: Store) -> Conversation:
    """Draw a record of a conversation that nobody played: every part of it may be anything that its type allows."""
    c = Conversation(
        case.id, rng.randint(1, 9), "made", rng.choice(["model", "imported"]), rng.choice(["scripted", "some-model"])
    )
    desk, slots = (
        store.desk(),
        [*case.ledger, "order_id", "proposal", "photo", "label", *store.tools, "content", "unserved", "1", "\u2026"],
    )
    for turn in range(1, rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 5, 8, 24]) + 1):
        desk.turn = turn
        said = case.email.text if turn == 1 and rng.random() < 0.8 else reply(rng, case)
        acts = [
            Act(rng.choice(KINDS), rng.choice(slots), rng.choice([None, "", reply(rng, case, 50)]), rng.random() < 0.3)
            for _ in range(rng.randint(0, 3))
        ]
        c.messages.append(
            Message(turn, "customer", said, acts, rng.choices(["photo", "label", "x"], k=rng.randint(0, 2)))
        )
        for _ in range(rng.choice([0, 0, 1, 2, 5])):
            name, arguments = call(rng, case, store)
            if rng.random() < 0.6:
                desk.call(name, arguments)
            else:
                given = arguments if isinstance(arguments, dict) else str(arguments)
                error = rng.choice(ERRORS) if isinstance(given, dict) else "bad_json"
                side = rng.choice(["agent", "agent", "customer"])
                desk.calls.append(
                    ToolCall(turn, len(desk.calls), name, given, json_value(rng), error, rng.random() < 0.3, side)
                )
        if rng.random() < 0.97:
            c.messages.append(Message(turn, "agent", reply(rng, case)))
    tables = [*store.tables, "tickets", "x"]
    c.tool_calls, c.changes = desk.calls, desk.changes()
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        row = {
            "table": rng.choice(tables),
            "id": rng.choice([case.order or "x", "x", ""]),
            "field": rng.choice(["status", "a.b", "lines.L1.variant_id", ""]),
        }
        c.changes.append({**row, "old": json_value(rng), "new": json_value(rng)})
    c.ended_by = rng.choice(list(ENDINGS))
    c.usage = {"agent": Usage(rng.randint(0, 10**6), rng.randint(0, 10**6))}
    c.faults = [
        Fault(
            rng.choice(["agent", "customer", "x"]), rng.choice(["failed", "not_in_ledger", "x"]), reply(rng, case, 50)
        )
        for _ in range(rng.choice([0, 0, 1]))
    ]
    return Conversation.from_json(c.to_json())


def played(rng: random.Random, case: Case, store: Store) -> Conversation:
    """Play a conversation between a hostile agent and the scripted customer, or a customer whose model is hostile too."""
    name = "some-model" if rng.random() < 0.3 else "scripted"
    customer = make_customer(name, case=case, store=store, complete=_Model(rng, case))
    talk = converse(
        case,
        store,
        _Agent(rng, case, store),
        customer,
        max_messages=rng.choice([2, 4, 8]),
        customer_name=name,
        prompt="-",
    )
    record = asyncio.run(talk)
    return Conversation.from_json(record.to_json())


class _Agent:
    """Calls any tool with anything, and says anything."""

    def __init__(self, rng: random.Random, case: Case, store: Store):
        self.rng, self.case, self.store = rng, case, store

    def reply(self, talk: Any) -> str:
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            name, arguments = call(self.rng, self.case, self.store)
            talk.call(name, arguments if isinstance(arguments, (dict, str)) else str(arguments))
        return reply(self.rng, self.case)


class _Model:
    """Answers a model customer's request in the form asked for, or in any other."""

    def __init__(self, rng: random.Random, case: Case):
        self.rng, self.case = rng, case

    async def __call__(self, messages: list[Any], *_: Any, **__: Any) -> Completion:
        rng = self.rng
        acts = [
            {"kind": rng.choice(KINDS[:7]), "what": rng.choice([*self.case.ledger, "order_id", "photo", "1", "x"])}
            for _ in range(rng.randint(0, 3))
        ]
        text = orjson.dumps({"message": reply(rng, self.case) or "-", "acts": acts, "end": rng.random() < 0.1}).decode()
        if rng.random() < 0.15:
            text = rng.choice(
                [
                    text[: rng.randint(0, len(text))],
                    reply(rng, self.case),
                    f"```json\n{text}\n```",
                    "{" * 500,
                    texts.number(rng),
                ]
            )
        return completion(text, rng.choice(["stop", "stop", "stop", "length", "content_filter", None]))


def completion(text: str, finish_reason: str | None = "stop") -> Completion:
    """Return a model's answer that says `text`."""
    return Completion(
        text=text,
        tool_calls=[],
        finish_reason=finish_reason,
        usage=Usage(1, 1, calls=1),
        reasoning="",
        raw={},
        latency_s=0.0,
        attempts=[],
    )
