"""What a look at a remote site says of one attempt, and when to believe that it is over."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.sites.adapter import Polled, Seen, Sighting
from broker_core.sites.contract import Ended, Held, Notice, Runs, Started, Waits
from broker_core.sites.remote_settings import RemoteSettings
from broker_core.sites.tracked import Tracked
from broker_core.worker.markers import ended_mark, started_mark

PRESENT = (Seen.HELD, Seen.QUEUED, Seen.RUNNING)
"""What a site says of a job that it has."""
_LOOKS = 3


def note_sighting(tracked: Tracked, sighting: Sighting, now: float) -> bool:
    """Remember what was seen; True if it is another picture than before."""
    before = (tracked.seen, tracked.started is None, tracked.arrived is None)
    tracked.seen = sighting.seen
    tracked.reason = sighting.reason if sighting.seen in PRESENT else sighting.reason or tracked.reason
    tracked.hopeless = sighting.hopeless
    tracked.id = sighting.id or tracked.id
    if tracked.arrived is None:
        tracked.arrived = now
    if tracked.started is None and sighting.started:
        tracked.started = started_mark(sighting.started, 0.0)
    tracked.ended = ended_mark(sighting.ended, 0.0) if sighting.ended else None
    if sighting.seen in PRESENT:
        tracked.was_listed = True
        tracked.let_go |= sighting.seen is not Seen.HELD and tracked.release_sent is not None
        tracked.gone_looks, tracked.gone_for = 0, 0.0
    return before != (tracked.seen, tracked.started is None, tracked.arrived is None)


def notices(tracked: Tracked, sighting: Sighting, now: float) -> Iterator[Notice]:
    """What the engine is to hear, each once. `now`: wall clock."""
    mark = tracked.started
    if sighting.started and mark is not None and not tracked.told_start:
        tracked.told_start = tracked.told_runs = True
        yield Started(tracked.attempt, min(mark.time or now, now), mark.node or sighting.node, mark.pid)
    elif sighting.seen is Seen.RUNNING and not tracked.told_runs:
        tracked.told_runs = True
        yield Runs(tracked.attempt)
    elif sighting.seen is Seen.HELD and tracked.order is None and not tracked.told_held:
        tracked.told_held = True
        yield Held(tracked.attempt, tracked.id)
    elif sighting.seen is Seen.QUEUED and not sighting.hopeless and sighting.reason != tracked.told_waits:
        tracked.told_waits = sighting.reason
        yield Waits(tracked.attempt, sighting.reason)


def is_over(tracked: Tracked, polled: Polled, began: float, now: float, settings: RemoteSettings) -> bool:
    """True for an attempt that the site does not have any more, though no marker tells its end.

    The site may lie, and network file systems show markers late: several looks over some time have to agree.
    `began`: when the look began; what arrived later could not be seen.
    """
    if tracked.ending or not tracked.sent:
        return False
    sighting = polled.attempts.get(tracked.tag)
    if tracked.ended is None and sighting is not None and sighting.hopeless:
        return True
    if tracked.ended is not None or (sighting is not None and sighting.seen in PRESENT):
        return False
    if tracked.arrived is None:
        # Only what nobody hands over (again) can be missed.
        wanted = tracked.order is not None and not tracked.cancel_asked
        if wanted or tracked.handing or tracked.tag not in polled.missing:
            return False
    elif tracked.arrived >= began:
        return False
    if sighting is not None and sighting.beat != tracked.beat:
        # The batch system has forgotten it, but it lives.
        tracked.beat = sighting.beat
        tracked.gone_looks, tracked.gone_for = 0, 0.0
    looks, patience = _looks(tracked), _patience(tracked, settings)
    since = tracked.gone_at if tracked.gone_looks else began
    # In a long pause this machine may have stood still, and with it what runs here: a share of it counts.
    tracked.gone_for += min(now - since, patience / looks)
    tracked.gone_at = now
    tracked.gone_looks += 1
    return tracked.gone_looks >= looks and tracked.gone_for >= patience


def not_heard_from(tracked: Tracked, now: float, site: str) -> Ended:
    """The end of an attempt whose lease is over for certain."""
    return Ended(
        tracked.attempt,
        now,
        None,
        failure="lease",
        reason=f"{site} has not been heard from for longer than the lease, so the job has been ended there.",
        started=min(tracked.started.time, now) if tracked.started else None,
    )


def _looks(tracked: Tracked) -> int:
    return 1 if tracked.cancel_asked else _LOOKS


def _patience(tracked: Tracked, settings: RemoteSettings) -> float:
    """A cancel of what the batch system knew is believed at once: it kills all processes.

    One of what was found again and not seen is not: its submission may still be under way at the site.
    """
    if tracked.cancel_asked and tracked.arrived is None and tracked.order is None:
        return settings.short_patience
    if tracked.cancel_asked and (tracked.was_listed or tracked.started is None):
        return 0.0
    # What was let go may have run to its end between two looks, its markers being on their way.
    waited = tracked.started is None and tracked.seen is Seen.HELD and tracked.release_sent is None
    return settings.short_patience if waited else settings.patience
