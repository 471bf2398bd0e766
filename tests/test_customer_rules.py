"""The table of rules by which the scripted customer decides: the example of each rule is its test."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.conversation import AgentFault, ScriptedCustomer, converse
from benchmark_lib.conversation.customer_rules import RULES
from benchmark_lib.extras.audit.audit import at_once
from benchmark_lib.store import load_store


@pytest.fixture(scope="module")
def every_case():
    stores = [load_store("northline"), load_store("northline:hard")]
    return {case.id: (case, store) for store in stores for case in load_cases(store)}


class Says:
    def __init__(self, lines):
        self.lines = lines

    def reply(self, talk):
        if talk.turn > len(self.lines):
            raise AgentFault("over")
        return self.lines[talk.turn - 1]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.applies.__name__)
def test_a_rule_answers_as_its_example_says(every_case, rule):
    case, store = every_case[rule.case]
    customer = ScriptedCustomer(case, store.of(case))
    record = at_once(converse(case, store, Says(rule.desk), customer))
    assert rule.applies.__name__ in customer.rules and rule.answer in record.messages[-1].text
    assert rule.applies.__doc__.count("\n") == 0
