"""A greeting by the time of day fits the clock of the store where the customer lives."""

import re
from zoneinfo import ZoneInfo

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.store import load_store

ZONES = {"US": "America/New_York", "CA": "America/New_York", "GB": "Europe/London"}
HOURS = {
    r"good evening|buenas noches|bonsoir|guten abend": range(18, 24),
    r"good afternoon|afternoon to you|buenas tardes": range(12, 18),
}


@pytest.mark.parametrize("name, pattern", [("northline", "all,wordings"), ("northline:hard", "all")])
def test_nobody_says_good_evening_in_the_morning(name, pattern):
    store = load_store(name)
    for case in load_cases(store, pattern):
        country = store.of(case).tables["orders"][case.order]["shipping_address"]["country"]
        hour = store.now.astimezone(ZoneInfo(ZONES[country])).hour
        said = [
            case.email.text,
            *case.pressure,
            *(f.say for f in case.followups),
            case.closing.content,
            case.closing.gave_up,
        ]
        for words, hours in HOURS.items():
            found = [line for line in said if re.search(rf"\b(?:{words})\b", line, re.I)]
            assert hour in hours or not found, (case.id, found)
