"""What a look at a remote site says of one attempt, and when to believe that it is over."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.jobs.attempt_events import (
    AttemptEnded,
    AttemptFound,
    AttemptReport,
    AttemptRuns,
    AttemptStarted,
    AttemptWaits,
)
from broker_core.sites.adapter import AttemptStatus, PollResult, Sighting
from broker_core.sites.remote.attempt_life import arrived, begun
from broker_core.sites.remote.remote_attempt import (
    Absence,
    Origin,
    Presence,
    RemoteAttempt,
    Reported,
    RequestDone,
    Requested,
    RequestSent,
    Unrequested,
)
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.worker.markers import started_mark

PRESENT = (AttemptStatus.HELD, AttemptStatus.QUEUED, AttemptStatus.RUNNING)
"""What a site says of a job that it has."""
_LOOKS = 3


def note_sighting(one: RemoteAttempt, sighting: Sighting, now: float) -> bool:
    """Remember what was seen; True if it is another picture than before."""
    before = (one.seen, one.mark is None, one.arrived is None)
    present = sighting.seen in PRESENT
    one.seen = sighting.seen
    one.reason = sighting.reason if present else sighting.reason or one.reason
    one.presence = _presence(one.presence, sighting)
    one.id = sighting.id or one.id
    if one.arrived is None:
        one.life = arrived(one.life, now)
    if one.mark is None and (mark := started_mark(sighting.started, 0.0)) is not None:
        one.life = begun(one.life, mark)
    if present:
        if sighting.seen is not AttemptStatus.HELD and isinstance(one.release, RequestSent):
            one.release = RequestDone()
        one.absence = None
    return before != (one.seen, one.mark is None, one.arrived is None)


def _presence(before: Presence, sighting: Sighting) -> Presence:
    if sighting.hopeless:
        return Presence.STUCK
    if sighting.seen in PRESENT:
        return Presence.LISTED
    return Presence.NEVER if before is Presence.NEVER else Presence.DELISTED


def notices(one: RemoteAttempt, sighting: Sighting, now: float) -> Iterator[AttemptReport]:
    """What the engine is to hear, each once. `now`: wall clock."""
    mark = one.mark
    if sighting.started and mark is not None and one.reported is not Reported.STARTED:
        one.reported = Reported.STARTED
        yield AttemptStarted(one.attempt, min(mark.time or now, now), mark.node or sighting.node, mark.pid)
    elif sighting.seen is AttemptStatus.RUNNING and one.reported is Reported.NOTHING:
        one.reported = Reported.RUNS
        yield AttemptRuns(one.attempt)
    elif sighting.seen is AttemptStatus.HELD and one.origin is Origin.NAMED:
        one.origin = Origin.NAMED_HELD
        yield AttemptFound(one.attempt, one.id)
    elif (
        sighting.seen is AttemptStatus.QUEUED
        and not sighting.hopeless
        and sighting.reason != one.reported_wait
    ):
        one.reported_wait = sighting.reason
        yield AttemptWaits(one.attempt, sighting.reason)


def is_over(
    one: RemoteAttempt, polled: PollResult, began: float, now: float, settings: RemoteSettings
) -> bool:
    """True for an attempt that the site does not have any more, though no marker tells its end.

    The site may lie, and network file systems show markers late: several looks over some time have to agree.
    `began`: when the look began; what arrived later could not be seen.
    """
    sighting = polled.attempts.get(one.tag)
    if one.is_ending:
        return False
    if sighting is not None and sighting.hopeless:
        return True
    if (sighting is not None and sighting.seen in PRESENT) or _unseeable(one, polled, began):
        return False
    if sighting is not None and sighting.beat != one.beat:
        # The batch system has forgotten it, but it lives.
        one.beat, one.absence = sighting.beat, None
    looks, patience = _looks(one), _patience(one, settings)
    before = one.absence or Absence(0, began, 0.0)
    # In a long pause this machine may have stood still, and with it what runs here: a share of it counts.
    seconds = before.seconds + min(now - before.at, patience / looks)
    one.absence = Absence(before.looks + 1, now, seconds)
    return one.absence.looks >= looks and seconds >= patience


def _unseeable(one: RemoteAttempt, polled: PollResult, began: float) -> bool:
    """True if the site could not show it in that look though it has it, or will have it."""
    if one.arrived is not None:
        return one.arrived >= began
    # Only what nobody hands over (again) can be missed.
    wanted = one.is_ordered and not one.is_canceled
    return wanted or one.is_offered or one.tag not in polled.missing


def not_heard_from(one: RemoteAttempt, now: float, site: str) -> AttemptEnded:
    """The end of an attempt whose lease is over for certain."""
    return AttemptEnded(
        one.attempt,
        now,
        None,
        failure="lease",
        reason=f"{site} has not been heard from for longer than the lease, so the job has been ended there.",
        started=min(one.mark.time, now) if one.mark else None,
    )


def _looks(one: RemoteAttempt) -> int:
    return 1 if one.is_canceled else _LOOKS


def _patience(one: RemoteAttempt, settings: RemoteSettings) -> float:
    """A cancel of what the batch system knew is believed at once: it kills all processes.

    One of what was found again and not seen is not: its submission may still be under way at the site.
    """
    if one.is_canceled and one.arrived is None and not one.is_ordered:
        return settings.short_patience
    if one.is_canceled and (one.presence is not Presence.NEVER or one.mark is None):
        return 0.0
    # What was let go may have run to its end between two looks, its markers being on their way.
    unreleased = isinstance(one.release, Unrequested | Requested)
    waited = one.mark is None and one.seen is AttemptStatus.HELD and unreleased
    return settings.short_patience if waited else settings.patience
