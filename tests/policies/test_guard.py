"""Policies that go wrong: the built-in order steps in, and nothing is ever added (CB-SCH-03)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from broker_core.matching.match import Matches, match
from broker_core.policies.applied import applied
from broker_core.policies.policy import Choices, Policy, Request
from tests.matching.made import job, resource


def found() -> Matches:
    return match(job(), [resource(name, 9, free) for name, free in (("a", 5), ("b", 2), ("c", 9))])


def sites(policy: Policy) -> tuple[list[str], str]:
    ordered = applied(policy, "mine", found())
    return [one.resource.site for one in ordered.candidates], ordered.policy_note


def raising(choices: Choices, request: Request) -> Sequence[int]:
    raise RuntimeError("no idea")


def adding(choices: Choices, request: Request) -> Sequence[int]:
    return [0, 1, 2, 3]


def repeating(choices: Choices, request: Request) -> Sequence[int]:
    return [0, 0]


def negative(choices: Choices, request: Request) -> Sequence[int]:
    return [-1]


def of_words(choices: Choices, request: Request) -> Sequence[int]:
    return ["a"]  # type: ignore[list-item]


def without_end(choices: Choices, request: Request) -> Sequence[int]:
    return None  # type: ignore[return-value]


def spoiling(choices: Choices, request: Request) -> Sequence[int]:
    choices.free[:] = 0
    return [0]


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (raising, "RuntimeError: no idea"),
        (adding, "it named choice 3, but there are only 3"),
        (repeating, "it named a choice twice"),
        (negative, "it named choice -1, but there are only 3"),
        (of_words, "ValueError"),
        (without_end, "TypeError"),
        (spoiling, "ValueError: assignment destination is read-only"),
    ],
)
def test_a_policy_that_fails_gives_way_to_the_built_in_order(policy: Policy, why: str) -> None:
    order, problem = sites(policy)
    assert order == ["b", "a", "c"]
    assert problem.startswith(f"The policy mine failed, the built-in order counts: {why}")


def test_what_a_policy_drops_does_not_match_and_says_why() -> None:
    def roomy(choices: Choices, request: Request) -> Sequence[int]:
        return np.flatnonzero(choices.free > 4)[::-1]

    ordered = applied(roomy, "roomy", found())
    assert ordered.policy_note == ""
    assert [one.resource.site for one in ordered.candidates] == ["c", "a"]
    (rejected,) = ordered.rejected
    assert (rejected.resource.site, rejected.reason) == ("b", "the policy roomy leaves it out")


def test_a_policy_sees_names_counts_and_what_is_wanted() -> None:
    seen = []

    def looking(choices: Choices, request: Request) -> Sequence[int]:
        seen.append((choices.ces[0], int(choices.free[0]), int(choices.sizes[0]), request.cpus))
        return range(len(choices))

    sites(looking)
    assert seen == [(("b:2119/jobmanager-fork-q",), 2, 1, 1)]


def test_a_policy_that_drops_all_leaves_nothing() -> None:
    assert sites(lambda choices, request: []) == ([], "")
