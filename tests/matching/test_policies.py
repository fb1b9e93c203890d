"""Orders of candidates, and matchmaking by them."""

from __future__ import annotations

from broker_core.broker.matchmaking import matchmaker
from broker_core.jdl.check import check
from broker_core.matching.match import Candidate
from broker_core.policies.ordering import ORDERINGS
from broker_core.scheduling.demand import Demand
from tests.matching.made import resource


def test_each_policy_orders_candidates_its_own_way() -> None:
    candidates = [
        Candidate(resource(name, 9, free), 0.0) for name, free in (("a", 5), ("b", 2), ("c", 9), ("d", 1))
    ]
    orders = {
        name: "".join(one.resource.site for one in policy(candidates, 2, 10))
        for name, policy in ORDERINGS.items()
    }
    assert orders == {"best-fit": "bacd", "worst-fit": "cabd", "first-fit": "abcd"}


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
    assert orders == {"best-fit": ["b", "a", "c"], "worst-fit": ["c", "a", "b"], "first-fit": ["b", "a", "c"]}
