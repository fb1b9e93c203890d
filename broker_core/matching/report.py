"""The answer of matching as it goes over the wire: counts first, then a page of resources."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from broker_core.matching.clauses import Clause
from broker_core.matching.node_shapes import free_gpus
from broker_core.matching.rejected import reason
from broker_core.matching.sets.group import Group
from broker_core.wire import matches as wire

if TYPE_CHECKING:
    from broker_core.matching.match import Matches

Made = dict[Clause, wire.ClauseView]
"""Clauses as they were made for resources before: those of many are alike."""


def report(
    matches: Matches,
    *,
    offset: int = 0,
    limit: int | None = None,
    only: str = "all",
    text: str = "",
    fails: str = "",
    ces: Sequence[str] = (),
    explain: bool = True,
    policy: str = "",
) -> wire.MatchReport:
    """Counts, analysis and a page: candidates in order, then the others, those nearest to matching first.

    `only`, `text` and `fails` select as in `wire.matches.MatchRequest`; `ces` are shown in place of a page.
    Without `explain` the resources come without clauses. Sets of computing elements keep to `offset` and
    `limit` too.
    """
    work = steps(
        matches, offset=offset, limit=limit, only=only, text=text, fails=fails, ces=ces, explain=explain,
        policy=policy,
    )  # fmt: skip
    while True:
        try:
            next(work)
        except StopIteration as done:
            made: wire.MatchReport = done.value
            return made


def steps(
    matches: Matches,
    *,
    offset: int = 0,
    limit: int | None = None,
    only: str = "all",
    text: str = "",
    fails: str = "",
    ces: Sequence[str] = (),
    explain: bool = True,
    policy: str = "",
) -> Generator[None, None, wire.MatchReport]:
    """The same in steps of well under a millisecond each as a rule, for callers that others wait for."""
    places = _failing(matches, (yield from _selected(matches, only, text)), fails)
    shown = places[offset:] if limit is None else places[offset : offset + limit]
    if ces:
        shown = list(_named(matches, ces))
    made: Made = {}
    resources, groups = [], []
    for place in shown:
        if not _gone(matches, place):
            resources.append(_resource(matches, place, explain, made))
        yield
    for one in matches.groups[offset : None if limit is None else offset + limit]:
        if not any(_gone(matches, place) for place in one.members):
            groups.append(_group(matches, one))
        yield
    return wire.MatchReport(
        resources=resources,
        advice=matches.advice,
        analysis=matches.analysis,
        known=matches.known,
        matching=len(matches.candidates),
        selected=len(places),
        clauses=[wire.ClauseCountView(**asdict(count)) for count in matches.counts],
        groups=groups,
        groups_total=len(matches.groups),
        trace=[] if offset else matches.trace(),
        policy=policy,
        notes=matches.notes,
        offset=0 if ces else offset,
    )


def _selected(matches: Matches, only: str, text: str) -> Generator[None, None, Sequence[int]]:
    """Places in the list of all: first the candidates, then the rejected."""
    matching = len(matches.candidates)
    first = matching if only == "rejected" else 0
    places = range(first, matching if only == "matching" else matching + len(matches.rejected))
    if not text:
        return places
    wanted, found = text.lower(), []
    for place in places:
        if wanted in _searched(matches, place):
            found.append(place)
        yield
    return found


def _failing(matches: Matches, places: Sequence[int], clause: str) -> Sequence[int]:
    """Those at which the clause of this text does not hold; all of them if it is empty."""
    if not clause:
        return places
    tests = [at for at, count in enumerate(matches.counts) if count.text == clause]
    rows = np.concatenate((matches.candidates.rows, matches.rejected.rows))
    fails = np.asarray(matches.findings.failed[tests].any(axis=0))[rows]
    return [place for place in places if fails.item(place)]


def _searched(matches: Matches, place: int) -> str:
    row = _row(matches, place)
    columns = matches.view.pool.columns
    rejected = place - len(matches.candidates)
    told = "" if rejected < 0 else matches.rejected.reason(rejected)
    return f"{columns.ces[row]} {columns.sites[row]} {told}".lower()


def _row(matches: Matches, place: int) -> int:
    candidates = matches.candidates
    if place < len(candidates):
        return int(candidates.rows[place])
    return int(matches.rejected.rows[place - len(candidates)])


def _gone(matches: Matches, place: int) -> bool:
    """True for a resource that was removed since the match: its row is empty, or another one's."""
    return matches.view.pool.gone(_row(matches, place))


def _named(matches: Matches, ces: Sequence[str]) -> Iterator[int]:
    rows = np.concatenate((matches.candidates.rows, matches.rejected.rows))
    for ce in ces:
        row = matches.view.pool.columns.row_of(ce)
        if row is not None:
            yield from np.flatnonzero(rows == row).tolist()


def _resource(matches: Matches, place: int, explain: bool, made: Made) -> wire.MatchedResource:
    candidates = matches.candidates
    row = _row(matches, place)
    fits = place < len(candidates)
    found = matches.explain(row) if explain or not fits else ()
    pool = matches.view.pool
    return wire.MatchedResource(
        ce=pool.columns.ces[row],
        site=pool.columns.sites[row],
        matches=fits,
        rank=candidates.rank_of(place) if fits else None,
        total_cpus=int(pool.total[row]),
        free_cpus=int(pool.free[row]),
        waiting=int(pool.waiting[row]),
        expected_wait=pool.columns.expected_wait(row),
        reason="" if fits else reason(found),
        now_only=not fits and place - len(candidates) < matches.rejected.now_only,
        close_files=int(candidates.close_files[place]) if fits else 0,
        order=_order(matches, place) if fits else "",
        clauses=[_clause(one, made) for one in found] if explain else [],
    )


def _clause(one: Clause, made: Made) -> wire.ClauseView:
    found = made.get(one)
    if found is None:
        found = made[one] = wire.ClauseView(
            text=one.text, value=one.value, origin=one.origin, explanation=one.explanation
        )
    return found


def _order(matches: Matches, place: int) -> str:
    """What the built-in order looks at, in the order in which it does."""
    candidates, cpus = matches.candidates, matches.description.cpus
    limit = matches.context.queue_limit(matches.description.interactive)
    told = []
    if candidates.waiting[place] > limit:
        told.append(f"{candidates.waiting[place]} jobs wait there, more than {limit}")
    if candidates.close_files[place]:
        told.append(f"{candidates.close_files[place]} files of InputData close by")
    rank = candidates.rank_of(place)
    if rank is None:
        told.append("no rank")
    elif rank or matches.description.ad is None or matches.description.ad.get("rank") is not None:
        told.append(f"rank {rank:.10g}")  # without an expression it is 0 everywhere, which says nothing
    surplus = int(candidates.free[place]) - cpus
    plural = "" if abs(surplus) == 1 else "s"
    spare, lacking = f"{surplus} free CPU{plural} to spare", f"{-surplus} CPU{plural} too few free now"
    told.append(spare if surplus >= 0 else lacking)
    if matches.description.request.gpus and (gpus := free_gpus(matches.view, _row(matches, place))):
        told.append(gpus)
    return ", ".join(told)


def _group(matches: Matches, group: Group) -> wire.MatchedGroup:
    candidates = matches.candidates
    members = list(group.members)
    ranks = [candidates.rank_of(place) for place in members]
    return wire.MatchedGroup(
        size=len(members),
        rank=group.rank,
        calculation=matches.grouping.calculation(group, ranks),
        total_cpus=int(candidates.total[members].sum()),
        free_cpus=int(candidates.free[members].sum()),
        members=[_resource(matches, place, explain=False, made={}) for place in members],
        cpus=list(matches.grouping.cpus(group, matches.description.cpus)),
        components=[
            wire.MatchedComponent(member=member, cpus=cpus)
            for member, cpus in matches.grouping.components(group, matches.description.cpus)
            if matches.grouping.fixed
        ],
    )
