"""An honest answer to many questions: with every step of its sums and the reason for each day, it is an answer and no pour."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.cases.facts import money
from benchmark_lib.cases.read import long_date
from benchmark_lib.scoring.counting import answers_of, asked_for
from benchmark_lib.store import load_store

ANSWERS = {
    "policy_in_time_1": """Here are your three days:

- **Cairn Daypack 22L** (NL-80401, placed March 29, so the old window of 100 days holds): last day **{last_daypack}**
- **Driftline Soft Carry-On 40L** (NL-80402; suitcases keep 100 days): last day **{last_carry_on}**
- **Weekender Duffel 42L** (NL-80402, placed April 2, the new window from delivery on April 9): the last day was **{last_duffel}**, too late.

May I open a return for the Cairn Daypack in slate (NL-80401) and for the Driftline in burgundy (NL-80402)?""",
    "arithmetic_1": """(a) Bag and wallet: $133.00 less their share of the code $15.96 = $117.04, less $9.00 for delivery = **{back_both}**.
(b) Wallet alone: $64.00 less $7.68 = $56.32. You would keep $113.00, which is $99.44 after its share, below $100.00, so $9.00 is taken off too: **{back_wallet}**.""",
    "arithmetic_8": """**Way one:** the backpack brings $189.00 less 15% = $160.65, less $9.00 for delivery = $151.65. The new one is $219.00. You pay **{way_one}** on top.
**Way two:** $180.20 comes back, nothing is taken off. The new things are $219.00 + $23.00 = $242.00. You pay **{way_two}** on top.

Way two costs you $5.55 less. Shall I start the return for both?""",
    "dense_7": """| Order | Link | Last day to start | Amount credited |
|---|---|---|---|
| NL-81127 | {first_link} | {first_until} | {first_back} ($249.00 - 12%) |
| NL-81128 | {cubes_link} | {cubes_until} | {cubes_back} ($88.00 - 20%) |
| NL-81130 | {weekender_link} | {weekender_until} | {tag_back} |
| NL-81153 | {aluminium_link} | {aluminium_until} | {aluminium_back} ($529.00 + $49.00 - $7.35) |
| NL-81154 | {check_link} | {check_until} | {check_back} ($64.00 + $18.00) |
| **Total** | | | **{all_back}** |

- NL-81130: the code would have taken {forgone} off (15% of $203.00).
- NL-81131: the last day was {wallet_until}.
- NL-81129: the bag is now black and will arrive by {bag_by} at the latest.""",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_explains_itself_tells_all_that_was_asked(name):
    store = load_store("northline:hard")
    case = next(c for c in load_cases(store, name) if c.id == name)
    show = {"money": money, "date": lambda day: long_date(str(day)), "link": str}
    values = {n: show[f.kind](f.value) for n, f in case.facts.items()}
    answers = answers_of([ANSWERS[name].format(**values)], case, store.of(case))
    assert [n for n, fact in case.facts.items() if not fact.told(answers, asked_for(case))] == []
