"""Declare a retail desk: orders of goods, parcels, returns and replacements."""

from ..kinds import DeskKind
from ..tools import tools_of
from . import cases, claims, more_tools, offers, sound, tools
from . import rows
from .rules import RULES, TELLINGS

KIND = DeskKind(
    name="retail",
    tables=rows.TABLES,
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
    identity_slots=rows.identity_slots,
    repeated_slots=("name", "postcode"),
    evidence_slots=rows.evidence_slots,
    named_in=offers.named_in,
    described=rows.described,
    everything=rows.everything,
    lookups=frozenset({"get_order", "find_orders", "track_shipment"}),
    alike=claims.ALIKE,
    shows=claims.shows,
    arrives=rows.arrives,
    differs=claims.differs,
    between=offers.between,
    proves=claims.proves,
    private={"phone": frozenset(), "method": frozenset({"billing"})},
    proofs=("order_id", "postcode"),
    of_proofs=("name", "address"),
    choice_slots=("color", "size", "which_one", "item", "goal"),
    vague_slots=("goal", "reason", "use", "which_one"),
    checked_slots=("address_checked", "neighbours_checked"),
    slots_not_had=("email", "name", "phone", "item"),
    grounds=sound.grounds,
    catalogue=("products",),
    unsound=sound.unsound,
    days=sound.days,
    sample="northline",
    optional=(
        "goods",
        "currency",
        "languages",
        "links",
        "slice",
        "edits",
        "refunds",
        "goodwill",
        "duplicates",
        "not_offered",
    )
    + ("not_offered_queue", "person_asked_for", "wrong_item", "missing_item", "damaged", "warranty"),
)
