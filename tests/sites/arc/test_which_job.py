"""Which of several jobs stands for an attempt; there are several where answers to submissions were lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.arc.jobs import ArcJob, HandOver, Jobs

WAITS = ArcJob("", "t", "PREPARING", HandOver.STAGED)
HALF = replace(WAITS, handed_over=HandOver.INCOMPLETE)
RUNS = replace(WAITS, state="RUNNING", handed_over=HandOver.RELEASED, started=b"1")
DONE = replace(RUNS, state="FINISHED", ended=b"1", closed=True)
KILLED = replace(WAITS, state="FAILED", closed=True, reason="Job is canceled by external request")


def known(*some: ArcJob) -> Jobs:
    """Jobs `a`, `b` ... of one tag, like these."""
    jobs = Jobs()
    for id, one in zip("abc", some, strict=False):
        made = jobs.add(id, "t")
        for name in ("state", "handed_over", "started", "ended", "closed"):
            setattr(made, name, getattr(one, name))
        made.reason = one.reason
    return jobs


def chosen(*some: ArcJob) -> str:
    found = known(*some).chosen("t")
    assert found is not None
    return found.id


def test_one_that_ran_comes_before_one_that_waits() -> None:
    assert chosen(WAITS, RUNS) == "b"
    assert chosen(WAITS, DONE) == "b"


def test_one_whose_release_was_sent_is_kept_although_it_still_waits() -> None:
    assert chosen(WAITS, replace(WAITS, handed_over=HandOver.RELEASING)) == "b"


def test_one_with_its_files_comes_before_one_without() -> None:
    assert chosen(HALF, WAITS) == "b"


def test_one_that_was_killed_before_it_began_comes_last() -> None:
    assert chosen(KILLED, WAITS) == "b"
    assert chosen(KILLED, HALF) == "b"


def test_nothing_is_surplus_while_it_is_not_known_what_ran() -> None:
    ended_unseen = replace(DONE, ended=b"", closed=False)
    assert known(WAITS, ended_unseen).surplus() == []
    assert known(WAITS, replace(WAITS, handed_over=HandOver.UNKNOWN)).surplus() == []
    assert [job.id for job in known(WAITS, DONE).surplus()] == ["a"]
    assert [job.id for job in known(WAITS, WAITS, RUNS).surplus()] == ["a", "b"]


def test_a_job_that_waits_in_vain_for_its_release_never_came() -> None:
    assert replace(KILLED, reason="User file: /go - Timeout waiting").never_came
    assert not KILLED.never_came
    assert not replace(DONE, reason="User file: /go - Timeout waiting").never_came


def test_states_are_told_as_they_are() -> None:
    assert WAITS.sighting().seen is AttemptStatus.HELD
    assert replace(WAITS, handed_over=HandOver.RELEASED).sighting().seen is AttemptStatus.QUEUED
    assert replace(WAITS, state="QUEUING").sighting().seen is AttemptStatus.QUEUED
    assert RUNS.sighting().seen is AttemptStatus.RUNNING
    assert replace(RUNS, state="FINISHED").sighting().seen is AttemptStatus.RUNNING
    assert replace(RUNS, ended=b"1").sighting().seen is AttemptStatus.ENDED
    assert KILLED.sighting().seen is AttemptStatus.ENDED


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("LRMS error: (-1) Job timeout", "wall-limit"),
        ("LRMS error: (271) job killed: wall", "wall-limit"),
        ("LRMS error: (24) Job exceeded time limit.", "wall-limit"),
        ("LRMS error: (271) job killed: vmem", "out-of-memory"),
        ("LRMS error: (1) Job failed", ""),
        ("Timeout waiting", ""),
    ],
)
def test_what_the_site_ended_at_a_limit_is_told_as_that(said: str, failure: str) -> None:
    """Words of the scripts of A-REX for Slurm, HTCondor and others."""
    record = replace(RUNS, state="FAILED", closed=True, reason=said).end_record()
    assert (record.failure if record else "", record.words if record else said) == (failure, said)
    assert replace(RUNS, state="FAILED", closed=True, ended=b"1", reason=said).end_record() is None
