"""Orders of candidates by the policy that was chosen."""

from __future__ import annotations

from broker_core.matching.match import match
from broker_core.policies.ordering import ORDERINGS
from tests.matching.made import job, resource


def test_the_chosen_policy_orders_what_matching_finds() -> None:
    found = match(job(), [resource("a", 9, 5), resource("b", 9, 2), resource("c", 9, 9)]).candidates
    orders = {
        name: [one.resource.site for one in ordered(found, 1, 10)] for name, ordered in ORDERINGS.items()
    }
    assert orders == {"best-fit": ["b", "a", "c"], "worst-fit": ["c", "a", "b"], "first-fit": ["a", "b", "c"]}
