"""Compile the keys of Northline's cases from a template for each intent."""

from __future__ import annotations

import re
from datetime import datetime
from functools import reduce
from operator import getitem
from typing import Any

from benchmark_lib.errors import BadInput
from benchmark_lib.extras.own_desk.compiled import evaluated, names_of
from benchmark_lib.language.sentences import squash
from benchmark_lib.language.values import country_code, same_address
from benchmark_lib.records import ToolCall
from benchmark_lib.store.retail.offers import variants
from benchmark_lib.store.retail.rules import RULES, delivered
from benchmark_lib.store.rules import Before, business_days_between


def compiled_key(intent: str, orders: list[str], ledger: dict[str, Any], store: Any, templates: Any) -> Any:
    """Return a key from an intent, the orders named and the ledger, as fields of `Case`.

    Raise `BadInput` for a slot of the template that neither rows nor ledger name.
    """
    trap, where = store.info["traps"].get(intent), f"northline_templates.yaml: {intent}"
    template = templates["traps" if trap else "intents"][intent]
    names, objects = _read(template.get("object"), [store.tables["orders"][one] for one in orders], ledger, store)

    def valued(value: Any) -> list[str]:
        found = reduce(getitem, value.split(".")[1:], store.policy) if str(value).startswith("policy.") else value
        return [found] if isinstance(found, str) else [one for part in found for one in valued(part)]

    def outcome(acts: Any, values: dict[str, Any], handover: bool) -> dict[str, Any]:
        calls = []
        for act in valued(acts):
            named = {name: values[source] for name, source in templates["arguments"].get(act, {}).items()}
            if missing := [name for name, value in named.items() if not value]:
                raise BadInput(f"{where}: neither ledger nor rows name {' and '.join(missing)}: write it in the ledger")
            calls += [{"tool": act, "arguments": named}] if named else []
        return {"calls": calls, "handover": handover}

    acts, before, forbidden = template.get("remedy", []), list[str](), list[str]()
    queues, reasons = template.get("queue", []) if trap else [], template.get("reasons", [])
    for name, rule in template.get("rules", {}).items():
        if not evaluated(f"1 if ({rule['holds']}) else 0", f"{where}, {name}", names):
            acts, before, forbidden = rule.get("instead", []), rule.get("calls", []), rule.get("forbid", [])
            reasons = rule.get("refuse", [])
            if "queue" in rule and not reasons:
                acts, queues = None, rule["queue"]
            break
    outcomes = [] if acts is None else [outcome(acts, one, False) for one in objects]
    if not queues:
        return {"bucket": "resolvable", "outcomes": outcomes}
    return {
        "bucket": "adversarial" if trap else "must_escalate",
        "outcomes": [*outcomes, outcome(before, objects[0], True)],
        "forbidden": [{"tool": one} for one in valued(templates["forbidden"][trap["kind"]] if trap else forbidden)],
        "queues": valued(queues),
        "reasons": valued(reasons),
    }


def _read(kind: str | None, rows: list[Any], ledger: dict[str, Any], store: Any) -> tuple[Any, list[Any]]:
    """Return the names of formulas, and the arguments for each object that is right."""
    known = {slot: one.value or one.attach for slot, one in ledger.items() if one.when != "never"}
    own = [row for row in rows if row["customer_id"] == rows[0]["customer_id"]]
    rows = ([row for row in own if not row["parcels"]] or own) if kind == "either" else rows
    order, label = rows[0], squash("label" in known and ledger["label"].shows or "")
    short = sum(one["expected_weight_g"] - one["packed_weight_g"] for one in order["parcels"])
    lines = _named(rows, known, short, store) if kind in ("named", "missing") else order["lines"]
    lines = [one for one in lines if kind != "missing" or delivered(order, one["line_id"])]
    line, came = lines[0] if len(lines) == 1 else {}, [str(delivered(order, one["line_id"]) or "") for one in lines]
    found = {name: line.get(name) for name in ("line_id", "variant_id")}
    found |= {"address": _address(str(known.get("address")), order), "variant": line and _wished(line, known, store)}
    rule = store.policy["process_rules"]["recipient"]
    call = ToolCall(0, 0, next(iter(rule["guards"])), {"order_id": order["order_id"], **found}, {}, None, True)
    names = names_of(store, order, {}, known) | {
        **found,
        "objects": lines,
        "attached": [one.attach for one in ledger.values() if one.attach],
        "label_fits": label and line and all(squash(word) in label for word in _words(line, store)),
        "address_allowed": found["address"] and RULES["recipient"](call, Before([], []), store, rule),
        "customer": store.tables["customers"][order["customer_id"]],
        "short": short,
        "weight": _weight(lines, store),
        "delivered": min(came, default=None),
    }
    for parcel in order["parcels"]:
        last = datetime.fromisoformat(max((scan["at"] for scan in parcel["scans"]), default=parcel["shipped_at"]))
        idle = business_days_between(last.date(), store.now.date(), store)
        names |= {"parcel": parcel, "hours": int((store.now - last).total_seconds() // 3600), "idle": idle}
    orders = [(row, row["lines"]) for row in rows] if kind == "either" else [(order, lines)]
    return names, [{**found, **row, "line_ids": [one["line_id"] for one in those]} for row, those in orders]


def _named(rows: list[Any], known: dict[str, Any], short: int, store: Any) -> list[Any]:
    """Return the lines of the first order that the item names, or of missing weight."""
    item, color = (squash(str(known.get(slot, ""))) for slot in ("item", "color"))
    titled = [[one for one in row["lines"] if squash(one["title"]) in item] for row in rows]
    found = titled[0] or ([] if any(titled) else rows[0]["lines"])
    if titled[0] and len({one["product_id"] for one in found}) == len(found):
        return found
    slack = store.policy["missing_item"]["short_by_tolerance_g"]
    ways = [[one for one in found if abs(_weight([one], store) - short) <= slack]]
    ways += [[one for one in found if squash(_words(one, store)[1]) in text] for text in (item, color)]
    return next(filter(None, [*ways, [one for one in found if _wished(one, known, store)]]), found)


def _weight(lines: list[Any], store: Any) -> int:
    return sum(one["quantity"] * variants(store)[one["variant_id"]][1]["weight_g"] for one in lines)


def _wished(line: Any, known: dict[str, Any], store: Any) -> str | None:
    """Return the variant that color and size name first among those that are allowed."""
    product, own = variants(store)[line["variant_id"]]
    said = {part: squash(str(known.get(part) or own[part] or "")) for part in ("color", "size")}
    allowed = [v for v in product["variants"] if v["stock"] and v["price_cents"] == own["price_cents"] and v != own]
    places = {v["variant_id"]: [said[part].find(squash(v[part] or "")) for part in said] for v in allowed}
    return min((name for name, at in places.items() if min(at) >= 0), key=lambda name: places[name], default=None)


def _words(line: Any, store: Any) -> list[str]:
    goods = {**variants(store)[line["variant_id"]][1], **line}
    return [goods[part] or "" for part in ("title", "color", "size")]


def _address(text: str, order: Any) -> dict[str, str] | None:
    """Return an address written in one line, if it is a whole one and not the order's."""
    name, *parts = text.split(", ")
    country = country_code(parts[-1]) if parts else ""
    country = country if len(country) == 2 and parts.pop() else order["shipping_address"]["country"]
    found = re.fullmatch(r"(?:([A-Z]{2}) )?(\w*\d[\w ]*)", parts[-1]) if len(parts) > 1 else None
    if not found:
        return None
    region = found[1] or (parts.pop(-2) if len(parts[-2]) == 2 else "")
    made = {"name": name, "line1": " ".join(parts[:-1]), "region": region, "postcode": found[2], "country": country}
    return None if same_address(made, order["shipping_address"]) else made
