"""Orders of candidates, and of the queue."""

from __future__ import annotations

from broker_core.matching.match import Candidate
from broker_core.policies.ordering import ORDERINGS
from broker_core.policies.queueing import first_come
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


def started(reach: dict[str, str], able: str) -> list[str]:
    return list(first_come(reach, lambda job: frozenset(reach[job]), lambda job: job in able))


def test_a_waiting_job_holds_back_those_that_share_a_resource() -> None:
    assert started({"p": "x", "q": "xy", "r": "z", "s": "y"}, able="qrs") == ["r"]


def test_a_job_that_can_never_run_holds_back_nobody() -> None:
    assert started({"p": "", "q": "x", "r": "x"}, able="pqr") == ["q", "r"]
