"""Orders of candidates, and matchmaking by them."""

from __future__ import annotations

from broker_core.broker.matchmaking import matchmaker
from broker_core.jdl.check import check
from broker_core.policies.ordering import ORDERINGS
from broker_core.scheduling.demand import Demand
from tests.matching.made import resource


def test_the_chosen_policy_orders_what_matchmaking_finds() -> None:
    description = check('Executable = "/bin/true";').description
    assert description is not None
    resources = [resource("a", 9, 5), resource("b", 9, 2), resource("c", 9, 9)]
    orders = {
        name: [
            one.resource.site
            for one in matchmaker(lambda name=name: name)(Demand("", description), resources).candidates
        ]
        for name in ORDERINGS
    }
    assert orders == {"best-fit": ["b", "a", "c"], "worst-fit": ["c", "a", "b"], "first-fit": ["a", "b", "c"]}
