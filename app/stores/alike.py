"""Jobs that are alike in all that actions ask about: very many jobs are a few kinds of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from app.stores.jobs import JobStore

_TRUTHS = ("exit_code", "held", "canceling", "interactive", "started", "batch")
"""Columns of which actions ask only whether there is something."""


class Alike(NamedTuple):
    """Jobs that are alike."""

    row: Mapping[str, Any]
    """state, site, `unheard` and `repeated` as they are; of other columns whether there is something."""
    number: int


def alike(rows: JobStore, jobs: Sequence[str], unheard: Callable[[str], float | None]) -> list[Alike]:
    """Return what kinds of jobs these are. `unheard`: since when the site of a job is not heard from."""
    found = Counter(_kinds(rows, [job for job in jobs if job in rows.at]))
    return [Alike(_row(kind, unheard), number) for kind, number in found.items()]


def those(
    rows: JobStore,
    jobs: Sequence[str],
    unheard: Callable[[str], float | None],
    test: Callable[[Mapping[str, Any]], bool],
) -> list[str]:
    """Return those of the jobs that pass a test, in their order."""
    known = [job for job in jobs if job in rows.at]
    verdicts: dict[tuple[Any, ...], bool] = {}
    passed = []
    for job, kind in zip(known, _kinds(rows, known), strict=True):
        verdict = verdicts.get(kind)
        if verdict is None:
            verdict = verdicts[kind] = test(_row(kind, unheard))
        if verdict:
            passed.append(job)
    return passed


def _kinds(rows: JobStore, jobs: Sequence[str]) -> list[tuple[Any, ...]]:
    if not jobs:
        return []
    numbers = [rows.at[job] for job in jobs]
    pick = itemgetter(*numbers, numbers[0])  # of one number it would not make a tuple
    truths = [map(bool, pick(rows.columns[name])) for name in _TRUTHS]
    again = map(rows.repeated.__contains__, (*jobs, jobs[0]))
    kinds = zip(pick(rows.columns["state"]), pick(rows.columns["site"]), again, *truths, strict=True)
    return list(kinds)[:-1]


def _row(kind: tuple[Any, ...], unheard: Callable[[str], float | None]) -> dict[str, Any]:
    state, site, repeated, *truths = kind
    named = {"state": state, "site": site, "repeated": repeated, "unheard": unheard(site)}
    return named | dict(zip(_TRUTHS, truths, strict=True))
