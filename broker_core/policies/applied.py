"""A policy applied to all that matches a job: single computing elements, or sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from broker_core.jobs.placement import SLOT_SYSTEM, computing_element
from broker_core.matching.match import Matches, match
from broker_core.policies.guarded import arranged, failed
from broker_core.policies.policy import Policy, Request, sets, single
from broker_core.resources.pool import Exclusion


def applied(policy: Policy, name: str, found: Matches) -> Matches:
    """The matches in the order of a policy, or with a note in the built-in order if it failed.

    Single computing elements that the policy drops do not match, with that reason; sets that it drops are
    not listed.
    """
    request = _request(found)
    choices = sets(found.candidates, found.groups) if found.several else single(found.candidates)
    order = arranged(policy, choices, request)
    found = replace(found, policy_note=failed(name, order.problem))
    if found.several:
        return found.with_groups(tuple(found.groups[place] for place in order.places))
    if len(order.places) == len(found.candidates):
        return replace(found, candidates=found.candidates.taken(order.places))
    return _without(name, found, order.places)


def by_ways(found: Matches, slots_first: bool) -> Matches:
    """The matches of an interactive job with free processors before virtual slots, or the reverse, each in
    the order that they had (CB-SCH-08a)."""
    if not found.description.interactive or found.several:
        return found
    ces, rows = found.view.pool.columns.ces, found.candidates.rows.tolist()
    slots = [computing_element(ces[row]).system == SLOT_SYSTEM for row in rows]
    order = sorted(range(len(rows)), key=lambda at: slots[at] is not slots_first)
    return replace(found, candidates=found.candidates.taken(order))


def _request(found: Matches) -> Request:
    job, context = found.description, found.context
    return Request(
        job.cpus,
        context.queue_limit(job.interactive),
        job.interactive,
        found.several,
        context.fuzzy_seed,
    )


def _without(name: str, found: Matches, places: Sequence[int]) -> Matches:
    """Match again with what was dropped barred, so that its reason is told like any other."""
    bar = Exclusion("policy", f"the policy {name} leaves it out", now_only=False)
    rows = found.candidates.rows
    kept = rows[np.asarray(places, np.intp)]
    pool = found.view.pool
    barred = pool.barred | dict.fromkeys(np.setdiff1d(rows, kept).tolist(), bar)
    again = match(found.description, replace(pool, barred=barred), context=found.context)
    place_of = {row: place for place, row in enumerate(again.candidates.rows.tolist())}
    return replace(again, candidates=again.candidates.taken([place_of[row] for row in kept.tolist()]))
