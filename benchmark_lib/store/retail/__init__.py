"""Declare a retail desk: orders of goods, parcels, returns and replacements."""

from ..desk import CLOSE, HANDOVER
from ..kinds import DeskKind
from ..tools import tools_of
from . import cases, more_tools, offers, tools
from .rules import RULES, TELLINGS

PROCEDURE = "run_procedure"
"""Tool that carries out a procedure that an article names."""
SENT = {"create_replacement", "create_reshipment"}
ALIKE = {
    **dict.fromkeys(SENT, SENT | {PROCEDURE}),
    CLOSE: {CLOSE, HANDOVER},
    "update_line_item": {"update_line_item", "update_shipping_address", PROCEDURE},
    "update_shipping_address": {"update_shipping_address", "update_line_item", *SENT},
    "open_carrier_claim": {"open_carrier_claim", PROCEDURE},
    "start_return": {"start_return", PROCEDURE},
}
"""For each tool, those whose calls make its claim true enough."""

KIND = DeskKind(
    name="retail",
    tables=offers.TABLES,
    files=(),
    subject="orders",
    tools=tools_of(tools),
    more_tools=tools_of(more_tools),
    beside=frozenset({"gear"}),
    look_up=("get_order", "order_id"),
    rules=RULES,
    tellings=TELLINGS,
    objects=("order_id", "line_id", "line_ids"),
    members=("line_ids",),
    case_names=cases.case_names,
    case_defaults=cases.case_defaults,
    usual_ledger=cases.usual_ledger,
    attachments=("photo", "label"),
    aside=frozenset({"open_carrier_claim"}),
    identity_slots=cases.identity_slots,
    repeated_slots=("name", "postcode"),
    evidence_slots=cases.evidence_slots,
    named_in=offers.named_in,
    described=cases.described,
    everything=cases.everything,
    lookups=frozenset({"get_order", "find_orders", "track_shipment"}),
    alike=ALIKE,
    between=offers.between,
    proofs=("order_id", "postcode"),
    of_proofs=("name", "address"),
    open_to=offers.open_to,
    own_slots={
        "order_id": ("order_id",),
        "line_id": ("item", "which_one"),
        "line_ids": ("item", "which_one"),
        "variant_id": ("color", "size", "which_one"),
        "address": ("address",),
    },
    choice_slots=("color", "size", "which_one", "item", "goal"),
    vague_slots=("goal", "reason", "use", "which_one"),
    checked_slots=("address_checked", "neighbours_checked"),
    slots_not_had=("email", "name", "phone", "item"),
    grounds=cases.grounds,
    catalogue=("products",),
    unsound=cases.unsound,
    days=cases.days,
    sample="northline",
    optional=(
        "goods", "currency", "languages", "links", "slice", "edits", "refunds", "goodwill", "duplicates",
        "not_offered", "not_offered_queue", "person_asked_for", "wrong_item", "missing_item", "damaged", "warranty",
    ),
)  # fmt: skip
