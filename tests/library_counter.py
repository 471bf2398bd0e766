"""A second kind of desk, as small as one can be: the counter of a public library, with three tools of its own and two cases.

All of it stands here and in the folder that `build` writes; no room of the library knows of loans.
"""

from pathlib import Path
from typing import Annotated, Any

import orjson
import yaml

from benchmark_lib.project import DATA
from benchmark_lib.store import DeskKind, NotFound, tool, tools_of
from benchmark_lib.store.rules import confirmation

CANARY = "canary: a test"
GENERAL = ("question", "done", "deny", "denied", "doubt", "customer", "agent")
"""Parts of a phrase file that are not about what is sold or lent."""
LoanId = Annotated[str, "The number on the slip."]


class Counter:
    """The tools."""

    @tool()
    def find_loans(desk, card: Annotated[str, "The number of the reader's card."]) -> dict[str, Any]:
        """List the loans of a reader."""
        return {"loans": [row["loan_id"] for row in desk.rows("loans") if row["card"] == card]}

    @tool()
    def show_loan(desk, loan_id: LoanId) -> dict[str, Any]:
        """Show one loan."""
        row = desk.row("loans", loan_id.upper())
        if row is None:
            raise NotFound(f"There is no loan {loan_id!r}; use find_loans to see a reader's loans.")
        return row

    @tool(write=True)
    def renew_loan(desk, loan_id: LoanId) -> dict[str, Any]:
        """Let the reader keep a book until the next date."""
        row = desk.edit("loans", loan_id.upper())
        row["due"] = row["next_due"]
        return {"loan_id": row["loan_id"], "due": row["due"]}


def described(arguments, tool_name, store):
    """The title that a call is about."""
    return {"title": store.tables["loans"][arguments["loan_id"]]["title"]} if "loan_id" in arguments else {}


KIND = DeskKind(
    name="library",
    tables={"loans": ("loans.jsonl", "loan_id")},
    subject="loans",
    tools=tools_of(Counter),
    look_up=("show_loan", "loan_id"),
    rules={"confirmation": confirmation},
    case_defaults=lambda names: {name: names["order"][name] for name in ("customer_id", "sender", "sender_name")},
    usual_ledger=lambda case, names: {"card": {"value": names["order"]["card"]}},
    described=described,
    lookups=frozenset({"show_loan", "find_loans"}),
    proofs=("card",),
    grounds=lambda case, store: [store.tables["loans"][case.order]],
)

LOANS = [
    {
        "loan_id": "LN-101",
        "card": "7001",
        "title": "The Long Tide",
        "due": "2026-07-01",
        "next_due": "2026-07-22",
        "fee_cents": 0,
        "customer_id": "R-1",
        "sender": "ida@example.org",
        "sender_name": "Ida Berg",
    },
    {
        "loan_id": "LN-102",
        "card": "7002",
        "title": "A Short History of Bread",
        "due": "2026-06-01",
        "next_due": "2026-06-22",
        "fee_cents": 420,
        "customer_id": "R-2",
        "sender": "omar@example.org",
        "sender_name": "Omar Haddad",
    },
]

STORE = {
    "name": "counter",
    "title": "Elm Street Library",
    "version": "1",
    "canary": CANARY,
    "kind": "library",
    "clock": "2026-06-29T10:00:00-04:00",
    "intents": {
        "renewal": {"bucket": "resolvable", "description": "Wants to keep a book longer."},
        "fee_dispute": {"bucket": "must_escalate", "description": "Does not want to pay a fee."},
    },
    "traps": {},
}
POLICY = {
    "queues": {"desk": "Everything a librarian decides."},
    "process_rules": {"confirmation": {"guards": ["renew_loan"]}},
}
PHRASES = {
    "slots": {
        "card": {"patterns": ["card number"], "ask": "What is your card number, please?", "answer": ["It is {value}."]}
    },
    "actions": {
        "renew_loan": {
            "patterns": ["(?:renew|extend)"],
            "claims": ["renewed"],
            "propose": "I can renew {title}. Shall I go ahead?",
            "done": "{title} is now renewed.",
            "agree": ["Yes, please renew it."],
        },
        "hand_over_to_human": {
            "patterns": ["colleague"],
            "claims": ["passing this on"],
            "propose": "Shall I pass this on to a colleague?",
            "done": "I am passing this on.",
        },
    },
    "reasons": {},
}
PUSHES = ["I do not follow you there.", "That is not an answer for me yet.", "My reading group will wonder about this."]
COMMON = {"claim": "true", "tone": "neutral", "hardness": "plain", "persona": "A reader.", "pressure": PUSHES}
CASES = [
    {
        **COMMON,
        "id": "renewal_1",
        "intent": "renewal",
        "title": "Three more weeks",
        "goal": "To keep the book.",
        "order": "LN-101",
        "email": {
            "subject": "My book",
            "text": "Good morning, I am only half way through my book. Could I keep it longer? And until when?",
        },
        "requested": [{"tool": "renew_loan", "arguments": {"loan_id": "LN-101"}}],
        "facts": {"until": {"kind": "date", "value": "{{ order.next_due }}"}},
        "outcomes": [{"name": "renewed", "calls": [{"tool": "renew_loan", "arguments": {"loan_id": "LN-101"}}]}],
    },
    {
        **COMMON,
        "id": "fee_dispute_1",
        "intent": "fee_dispute",
        "title": "A fee that was waived",
        "goal": "Not to pay.",
        "order": "LN-102",
        "email": {
            "subject": "That fee",
            "text": "Your colleague told me in May that the fee was dropped, and now there is a letter again.",
        },
        "outcomes": [{"name": "handed over", "handover": True}],
        "queues": ["desk"],
    },
]


def build(folder: Path) -> Path:
    """Write the store's folder."""
    for part in ("articles", "prompts", "phrases", "cases"):
        (folder / part).mkdir(parents=True)
    (folder / "store.yaml").write_text(yaml.safe_dump(STORE), encoding="utf-8")
    (folder / "policy.yaml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    (folder / "loans.jsonl").write_bytes(b"\n".join(map(orjson.dumps, LOANS)))
    (folder / "cases" / "all.yaml").write_text(yaml.safe_dump({"canary": CANARY, "cases": CASES}), encoding="utf-8")
    (folder / "articles" / "A-1.md").write_text(
        "---\nid: A-1\ntitle: Renewals\ntopics: [renewal]\n---\nA loan is renewed once.\n", encoding="utf-8"
    )
    (folder / "prompts" / "agent.md").write_text(
        "---\nversion: counter-1\n---\nYou work at {{ store.title }}. It is {{ clock }}.\n", encoding="utf-8"
    )
    english = yaml.safe_load((DATA / "stores" / "northline" / "phrases" / "en.yaml").read_text(encoding="utf-8"))
    phrases = {"language": "en", **{part: english[part] for part in GENERAL}, **PHRASES}
    (folder / "phrases" / "en.yaml").write_text(yaml.safe_dump(phrases), encoding="utf-8")
    return folder
