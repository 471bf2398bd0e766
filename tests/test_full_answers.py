"""An honest answer to many questions: with every step of its sums and the reason for each day, it is an answer and no pour."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.cases.read import long_date
from benchmark_lib.language.values import money
from benchmark_lib.scoring.facts import answers_of
from benchmark_lib.store import load_store

ANSWERS = {
    "arithmetic_1": """| | Articles | Sum | Comes back |
|---|---|---|---|
| (a) NL-80501 | Toiletry Bag, Travel Wallet | $133.00 − 12% ($15.96) = $117.04; the umbrella is worth less than $100.00, so − $9.00 for delivery | **{back_a}** |
| (b) NL-80514 | Document Wallet | $79.00 − 12% ($9.48) | **{back_b}** |
| (c) NL-80515 | Passport Holder | $49.00 − $9.00 for delivery, as only the sling remains ($74.00) | **{back_c}** |
| (d) NL-80516 | Tracker Sleeve | delivery was taken off the earlier return | **{back_d}** |
| (e) NL-80517 | Wet & Dry Cube | $29.00 − 10% ($2.90) | **{back_e}** |
| **Total** | | | **{back_in_all}** |

The blanket of (b) was delivered on March 20, so its time ended on **{blanket_ended}**; it stays with you.
The umbrella can still be sent back until **{umbrella_last}**, the foam pillow until **{pillow_last}**.""",
    "arithmetic_2": """| Order | Item | Latest day at home | Plan |
|---|---|---|---|
| NL-80502 | Garment Bag | **{home_latest}** | stays, you are still at home |
| NL-80518 | Orbit Sling | **{sling_home}** | to the lake: **{sling_lake_first}** to **{sling_lake_last}** |
| NL-80519 | Harrow Backpack | **{backpack_home}** | to the lake: **{backpack_lake_first}** to **{backpack_lake_last}** |

Of NL-80520 one parcel has left, so nothing of it can be changed. The adapter comes home between **{adapter_first}** and **{adapter_last}**.

- NL-80503 (wallet, to your home): earliest **{wallet_earliest}**, latest **{wallet_latest}**
- NL-80521 (blanket and bottle, to the lake): earliest **{blanket_first}**, latest **{blanket_last}**""",
    "arithmetic_8": """**What comes back**
- Backpack alone: $189.00 − 15% = $160.65, − $9.00 for delivery because the straps are worth less than $100.00 = **{back_one}**
- Backpack and straps: $212.00 − 15% = **{back}**, nothing taken off
- Shirt folder: **{back_folder}**
- Toiletry bag: $59.00 − 10% = **{back_toiletry}**

**The new order** (you have used the code; delivery is free)
- Way one: 45L $219.00 + folder L $44.00 + toiletry bag Large $69.00 = **{new_one}**
- Way two: the same plus straps $23.00 = **{new_two}**

**On top in all**
- Way one: $332.00 − $151.65 − $39.00 − $53.10 = **{top_one}**
- Way two: $355.00 − $180.20 − $39.00 − $53.10 = **{top_two}** (cheaper)

The sleeve came on March 20, so its time ended on **{sleeve_ended}**.""",
    "dense_7": """| Order | Carried out | Credited |
|---|---|---|
| NL-81127 | return: carry-on, $249.00 less 12% ($29.88) | {case_back} |
| NL-81128 | return: whole order, {cubes_link} | {cubes_back} |
| NL-81195 | return: four tags, three sleeves, two folders; $460.80 - $179.54 - $32.10 | {sleeves_back} |
| NL-81196 | return: aluminium case, one umbrella; held back $9.00 + $2.64 | {aluminium_back} |
| NL-81197 | return: garment bag; $265.05 - $61.00 - $11.94 - $9.00 - $32.11 | {garment_back} |
| NL-81198 | swap: case in sage, toiletry bag in navy Large ({large_costs}), socks in navy M; return: rolltop, umbrella | {rolltop_back} |
| NL-81129 | bag in black, here by {bag_by} at the latest | |
| NL-81131 | stays, its last day was {wallet_ended} | |
| NL-81130 | return: luggage tag | {tag_back} |

Group orders: {sleeves_back} + {aluminium_back} + {garment_back} + {rolltop_back} = **{group_back}**
All: {group_back} + {case_back} + {cubes_back} + {tag_back} = **{all_back}**

- The sleeves that remain: until **{sleeves_until}**
- A tech sleeve: until **{tech_until}** (July 4 is a Saturday)
- Cartons of the group orders: by **{hand_in}**""",
    "needle_4": """Here is where each order stands:

- **NL-81241, Meridian Carry-On**: plan frozen, return open, {blue_link}. $249.00 less the share of the code ($29.88) = **{blue_back}** comes back.
- **NL-81242, Weekender Duffel**: the plan is paid, {weekender_link}. **{weekender_back}** comes back.
- **NL-81243**: nothing opened. Backpack: last day **{backpack_until}**. Socks: last day **{socks_until}**.""",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_explains_itself_tells_all_that_was_asked(name):
    store = load_store("northline:hard")
    case = next(c for c in load_cases(store, name) if c.id == name)
    show = {"money": money, "date": lambda day: long_date(str(day)), "link": str}
    values = {n: show[f.kind](f.value) for n, f in case.facts.items()}
    answers = answers_of([ANSWERS[name].format(**values)], case, store.of(case))
    assert [n for n, fact in case.facts.items() if not fact.told(answers, case.values_asked, rivals_only=True)] == []
