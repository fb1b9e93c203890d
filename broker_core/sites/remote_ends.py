"""What an attempt's end at a remote site is, from the starter's marker or from its absence."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.sites.endings import CANCELED, outcome_of, usage_of
from broker_core.sites.remote_attempt import Presence, RemoteAttempt
from broker_core.worker.markers import EndedMark


def end_by_marker(one: RemoteAttempt, mark: EndedMark, now: float, begun: float) -> AttemptEnded:
    """The starter says how it ended. `now`: wall clock; `begun`: nothing at the site happened before."""
    code, number, failure, reason = outcome_of(mark, None)
    ended_there = number or mark.terminated or failure == "lost"
    if one.is_canceled and failure not in ("wall-limit", "lease") and ended_there:
        code, number, failure, reason = None, None, *CANCELED
    elif mark.terminated and not failure:
        code, number, failure = None, None, "lost"
        reason = "The site's batch system ended it: canceled there, at a time limit, or with its node."
    started = one.mark
    return AttemptEnded(
        component=one.attempt,
        time=min(max(mark.time, begun), now),
        exit_code=code,
        signal=number,
        failure=failure,
        reason=reason,
        usage=usage_of(started, mark),
        started=min(max(started.time, begun), now) if started else None,
    )


def end_without_marker(one: RemoteAttempt, now: float, site: str) -> AttemptEnded:
    """The site has it no more, and no starter recorded an end."""
    if one.is_canceled:
        failure, reason = CANCELED
    elif one.mark is not None:
        failure = "lost"
        reason = f"{site} does not know it any more, and its Job Starter gave no sign of life."
    elif one.presence is Presence.STUCK:
        failure = "never-starts"
        reason = f"{site} would never start it: {one.reason}."
    elif one.presence is not Presence.NEVER or one.id:
        failure = "starter"
        reason = f"{site} ended it before the Job Starter began" + (f": {one.reason}." if one.reason else ".")
    else:
        failure, reason = "lost", f"{site} has no such attempt."
    started = one.mark
    return AttemptEnded(
        one.attempt,
        now,
        None,
        failure=failure,
        reason=reason,
        started=min(started.time, now) if started else None,
    )
