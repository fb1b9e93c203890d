"""Who may pass whom in the queue (CB-SCH-07, CB-SCH-09)."""

from __future__ import annotations

from broker_core.policies.queues import FCFS, QUEUES, BoundedBackfill, Fcfs, QueuePolicy


def started(policy: QueuePolicy, head: int, others: list[int]) -> list[int]:
    """CPUs of the jobs that start behind a blocked head, if CPUs are free for all of them."""
    policy.blocked("head", head)
    gone = []
    for cpus in others:
        if policy.passes("head", cpus):
            policy.passed("head", cpus)
            gone.append(cpus)
    return gone


def test_first_come_first_served_lets_nobody_pass() -> None:
    assert started(Fcfs(), 32, [1, 16]) == []


def test_together_the_others_get_no_more_than_the_blocked_job_needs() -> None:
    assert started(BoundedBackfill(), 32, [16, 10, 20]) == [16, 10]
    assert started(BoundedBackfill(), 32, [16, 10, 20, 6, 1]) == [16, 10, 6]
    assert started(BoundedBackfill(), 32, [33, 32, 1]) == [32]


def test_the_budget_is_not_filled_up_while_the_job_waits() -> None:
    policy = BoundedBackfill()
    assert started(policy, 8, [5]) == [5]
    assert started(policy, 8, [5, 3, 1]) == [3]
    assert started(policy, 8, [1]) == []


def test_the_next_blocked_job_has_a_budget_of_its_own() -> None:
    policy = BoundedBackfill()
    assert started(policy, 8, [8]) == [8]
    policy.gone("head")
    assert started(policy, 8, [8]) == [8]


def test_nobody_passes_a_job_that_is_not_known_to_be_blocked() -> None:
    assert not BoundedBackfill().passes("stranger", 1)


def test_both_can_be_chosen_by_name() -> None:
    assert list(QUEUES) == [FCFS, "bounded-backfill"]
    assert all(name for name in (type(make()).__doc__ for make in QUEUES.values()))
