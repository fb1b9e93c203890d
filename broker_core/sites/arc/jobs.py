"""What is known of this broker's jobs at a computing element."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from broker_core.sites.adapter import AttemptStatus, EndRecord, Sighting
from broker_core.worker.markers import started_mark

WAITING = frozenset(("ACCEPTING", "ACCEPTED", "PREPARING"))
"""States of A-REX in which a job can wait for its input files."""
QUEUED = frozenset(("PREPARED", "SUBMITTING", "QUEUING", "HELD", "OTHER"))
OVER = frozenset(("FINISHED", "FAILED", "KILLED"))
"""Not WIPED: A-REX lists no job whose session it deleted. It says so of a live one whose state it moves to
another of its folders: it removes the old file, makes the new one, and may be frozen in between."""
STATES = (*sorted(WAITING), *sorted(QUEUED), "RUNNING", "EXITINGLRMS", "EXECUTED", "FINISHING", "KILLING")
"""States of a job that is not over, by the names of the REST interface."""

_LIMITS = {
    "out-of-memory": re.compile(r"killed: v?mem|out.of.memory|exceeded \w* ?memory", re.IGNORECASE),
    "wall-limit": re.compile(r"job timeout|killed: (?:wall|cput)|exceeded \w* ?time", re.IGNORECASE),
}
"""Kind of failure to how A-REX's scripts for batch systems say so."""


class HandOver(IntEnum):
    """How far the hand-over of a job is, in its order."""

    UNKNOWN = 0
    """Another process did it, and its session was not looked into yet."""
    INCOMPLETE = 1
    """Not all input files are there."""
    STAGED = 2
    """All input files are there."""
    RELEASING = 3
    """Its release was sent; whether it arrived may not be known."""
    RELEASED = 4


@dataclass(slots=True)
class ArcJob:
    """One job at A-REX."""

    id: str
    tag: str
    state: str = "ACCEPTING"
    handed_over: HandOver = HandOver.UNKNOWN
    started: bytes = b""
    ended: bytes = b""
    outputs: bytes = b""
    reason: str = ""
    closed: bool = False
    """It is over, and what it left was read."""
    looked_at: float = 0.0
    """By the monotonic clock, when its session was last read."""
    cancel_asked: float | None = None
    """By the monotonic clock."""

    @property
    def is_over(self) -> bool:
        """A-REX has done with it, or its starter has recorded the end."""
        return self.state in OVER or bool(self.ended)

    @property
    def is_waiting(self) -> bool:
        """It waits for its release, or to be whole."""
        return self.state in WAITING and self.handed_over is not HandOver.RELEASED

    @property
    def is_staged(self) -> bool:
        """All its input files are there."""
        return self.handed_over >= HandOver.STAGED

    @property
    def never_ran(self) -> bool:
        """It is over, and its starter never began."""
        return self.closed and not self.started and not self.ended

    @property
    def is_unclear(self) -> bool:
        """Whether it was released, or ran, has not been looked at."""
        return (self.state in OVER and not self.closed and not self.ended) or (
            self.handed_over is HandOver.UNKNOWN
        )

    @property
    def never_came(self) -> bool:
        """It ended without having had a chance: A-REX gave up waiting for its release."""
        return self.never_ran and "Timeout waiting" in self.reason

    def end_record(self) -> EndRecord | None:
        """What A-REX says of the end of a job that ran, where its starter could not; None: nothing of use."""
        if self.ended or not self.closed or not self.started:
            return None
        kinds = (kind for kind, words in _LIMITS.items() if words.search(self.reason))
        return next((EndRecord(self.state, kind, self.reason) for kind in kinds), None)

    def sighting(self) -> Sighting:
        """The job as a poll tells it."""
        mark = started_mark(self.started, 0.0)
        return Sighting(
            seen=self._seen(),
            id=self.id,
            reason=self.reason,
            node=mark.node if mark else "",
            started=self.started,
            ended=self.ended,
            outputs=self.outputs,
        )

    def _seen(self) -> AttemptStatus:
        if self.ended or self.closed:
            return AttemptStatus.ENDED
        if self.is_waiting:
            return AttemptStatus.HELD
        return (
            AttemptStatus.QUEUED
            if self.state in QUEUED | WAITING and not self.started
            else AttemptStatus.RUNNING
        )


class Jobs:
    """All jobs of this broker, by the ids of A-REX and by tag."""

    def __init__(self) -> None:
        self.of: dict[str, ArcJob] = {}
        """Id to job."""
        self.foreign: set[str] = set()
        """Ids that belong to nobody here, and need not be asked about again."""
        self.leaving: dict[str, float] = {}
        """Id of each job that A-REX was told to remove to when it said yes, by the monotonic clock."""
        self._tags: dict[str, list[ArcJob]] = {}

    def add(self, id: str, tag: str) -> ArcJob:
        """The job with this id, new or known."""
        found = self.of.get(id)
        if found is None:
            found = self.of[id] = ArcJob(id, tag)
            self._tags.setdefault(tag, []).append(found)
        return found

    def drop(self, job: ArcJob) -> None:
        """Forget a job."""
        if self.of.pop(job.id, None) is not None:
            self._tags[job.tag].remove(job)
            if not self._tags[job.tag]:
                del self._tags[job.tag]

    def all_of(self, tag: str) -> list[ArcJob]:
        """Every job with this tag: more than one where an answer to a submission was lost."""
        return list(self._tags.get(tag, ()))

    def chosen(self, tag: str) -> ArcJob | None:
        """The job that stands for the attempt: the one that was released, else one that is whole."""
        return min(self.all_of(tag), key=_order, default=None)

    def surplus(self) -> list[ArcJob]:
        """Jobs that do not stand for their attempts, where that is clear."""
        many = (tag for tag, found in self._tags.items() if len(found) > 1)
        clear = (tag for tag in many if not any(job.is_unclear for job in self.all_of(tag)))
        return [job for tag in clear for job in self.all_of(tag) if job is not self.chosen(tag)]

    def tags(self) -> Iterable[str]:
        """All tags."""
        return self._tags.keys()


def _order(job: ArcJob) -> tuple[bool, bool, bool, str]:
    unreleased = job.is_waiting and job.handed_over < HandOver.RELEASING
    return job.never_ran, unreleased, not job.is_staged, job.id
