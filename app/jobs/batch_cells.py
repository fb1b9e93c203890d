"""What the line of a batch shows in each column and is ordered by; from its totals, so never from one job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from app import units
from app.jobs.batch_totals import BatchTotals
from app.jobs.folding import BETWEEN, style_of_batch, summary
from broker_core.jobs.annotations import counted_tags
from broker_core.jobs.site_names import site_name

Cell = Callable[[BatchTotals, float], str]
"""Totals and the moment shown to a text."""
_SOON = 60
"""Seconds below which the end is foretold no finer."""


def _site(totals: BatchTotals, now: float) -> str:
    names = {site_name(site) for site in totals.sites}
    return next(iter(names), "") if len(names) < 2 else units.count(len(names), "site")


def _kind(totals: BatchTotals, now: float) -> str:
    return next(iter(totals.kinds)) if len(totals.kinds) == 1 else ""


def _ended(totals: BatchTotals, now: float) -> str:
    return units.ago(totals.ended, now) if _is_over(totals) else ""


def _is_over(totals: BatchTotals) -> bool:
    return not any(outcome.active for outcome in totals.outcomes())


CELLS: dict[str, Cell] = {
    "state": lambda totals, now: summary(totals.tally()),
    "name": lambda totals, now: totals.name,
    "kind": _kind,
    "site": _site,
    "cpus": lambda totals, now: f"{totals.cpus:,}",
    "submitted": lambda totals, now: units.ago(totals.submitted, now),
    "wait": lambda totals, now: units.duration(totals.wait),
    "runtime": lambda totals, now: units.duration(totals.runtime),
    "memory": lambda totals, now: units.binary_size(totals.memory) if totals.memory else "",
    "exit": lambda totals, now: totals.exit,
    "ended": _ended,
    "tags": lambda totals, now: ", ".join(tag for tag, _ in counted_tags(totals.tags)),
}
"""Column to the text of its cell; columns without an entry are empty for a batch."""

_KEYS: dict[str, Callable[[BatchTotals], Any]] = {
    "state": lambda totals: next(iter(style_of_batch(totals.tally()).word.split()), ""),
    "name": lambda totals: totals.name.lower(),
    "kind": lambda totals: _kind(totals, 0.0),
    "site": lambda totals: min(totals.sites, default="").lower(),
    "cpus": lambda totals: totals.cpus,
    "submitted": lambda totals: totals.submitted or 0.0,
    "wait": lambda totals: totals.wait or 0.0,
    "runtime": lambda totals: totals.runtime or 0.0,
    "memory": lambda totals: totals.memory or -1e30,
    "exit": lambda totals: float(totals.exits.total()) or -1e30,
    "tags": lambda totals: CELLS["tags"](totals, 0.0).lower(),
    "ended": lambda totals: (totals.ended or 0.0) if _is_over(totals) else -1e30,
}


def _each_tag(totals: BatchTotals) -> str:
    return "\n".join(f"{tag}: {units.count(number, 'job')}" for tag, number in counted_tags(totals.tags))


def batch_key(column: str, batch: str, totals: BatchTotals) -> Any:
    """What a batch is ordered by in a column; of the same type as the keys of jobs there."""
    if column == "id":
        return batch
    found = _KEYS.get(column)
    return found(totals) if found else ""


def members(shown: int, total: int) -> str:
    """How many jobs a batch has, and of how many the query shows only a part."""
    jobs = units.count(total, "job")
    return jobs if shown == total else f"{shown:,} of {jobs}"


def until_end(totals: BatchTotals, now: float) -> str:
    """`about 4 min left`, or nothing where there is no ground for it."""
    seconds = totals.remaining(now)
    if seconds is None:
        return ""
    if seconds < _SOON:
        return "less than a minute left"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"about {minutes} min left"
    hours = round(seconds / 3600)
    return f"about {hours} h left" if hours < 48 else f"about {round(hours / 24)} days left"


def progress(totals: BatchTotals, counted: Counter[str], now: float) -> str:
    """How far a batch is, in words: `32 of 40 done · 8 failed`, with an estimate of its end."""
    return BETWEEN.join(part for part in (summary(counted), until_end(totals, now)) if part)


def tips(totals: BatchTotals, column: str, counted: Counter[str], now: float) -> str:
    """What the tooltip of a cell says."""
    tip = _TIPS.get(column)
    text = tip(totals) if tip else ""
    return text or progress(totals, counted, now)


def _each_site(totals: BatchTotals) -> str:
    names: Counter[str] = Counter()
    for site, number in totals.sites.items():
        names[site_name(site)] += number
    return "\n".join(f"{name}: {units.count(number, 'job')}" for name, number in sorted(names.items()))


_TIPS: Mapping[str, Callable[[BatchTotals], str]] = {
    "site": _each_site,
    "tags": _each_tag,
    "submitted": lambda totals: units.exact(totals.submitted),
    "ended": lambda totals: units.exact(totals.ended),
    "wait": lambda totals: "Mean time until its jobs were started" if totals.wait is not None else "",
    "runtime": lambda totals: "Mean time that its jobs ran to their end" if totals.runtime else "",
    "exit": lambda totals: totals.exit and f"Failed jobs by their exit code or signal: {totals.exit}",
}
