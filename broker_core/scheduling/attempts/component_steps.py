"""What happens to the components of a job over several sites, as a part of its story."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.components import COUNT, END, INDEX, OF, STEP, ComponentStep, end_words
from broker_core.jobs.events import EventSource
from broker_core.jobs.members import members
from broker_core.jobs.record import JobRecord
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.coallocation.messages import ComponentGathered
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob

T, E, FROM = members(ComponentStep), members(EventType), members(EventSource)
_STEPS: dict[type, ComponentStep] = {
    AttemptAccepted: T.ACCEPTED,
    AttemptStarted: T.STARTED,
    ComponentGathered: T.GATHERED,
    AttemptEnded: T.ENDED,
    AttemptRefused: T.ENDED,
}
_WORDS = {
    T.ACCEPTED: "components are at their sites",
    T.STARTED: "components started",
    T.GATHERED: "components reached MPI_Init",
    T.ENDED: "components are over",
}


class ComponentSteps:
    """Records each step of a component once in an attempt, however often a site says it."""

    def __init__(self, jobs: JobTable) -> None:
        self._jobs = jobs
        self._known: dict[str, tuple[int, set[tuple[int, str]]]] = {}
        """By job: its attempt, and index and step of what is recorded of it."""

    def recovered(self, record: JobRecord, steps: Iterable[tuple[int, str]]) -> None:
        """A broker that ended has recorded these."""
        self._known[record.id] = (record.attempt, set(steps))

    def note(self, job: LiveJob, event: Any) -> None:
        """Record what an event says of a component of the current attempt, if that is new."""
        step = _STEPS.get(type(event))
        if step is None or event.component.attempt != job.record.attempt:
            return
        index, of = event.component.index, len(job.ces)
        known = self._of(job)
        if (index, step) in known or index >= of:
            return
        known.add((index, step))
        count = sum(one == step for _, one in known)
        reason = f"{count} of {of} {_WORDS[step]}"
        details: dict[str, Any] = {INDEX: index, STEP: step.value, COUNT: count, OF: of}
        if step is T.ENDED:
            details[END] = end = _end(event)
            reason = f"{end_words(end)}; {reason}"
        self._jobs.note(
            job, E.COMPONENT_CHANGED, FROM.AL, resources=(job.ces[index],), reason=reason, details=details
        )

    def _of(self, job: LiveJob) -> set[tuple[int, str]]:
        attempt, known = self._known.get(job.id, (0, set[tuple[int, str]]()))
        if attempt != job.record.attempt:
            known = set[tuple[int, str]]()
        self._known[job.id] = (job.record.attempt, known)
        return known

    def forget(self, job: str) -> None:
        """The job is over."""
        self._known.pop(job, None)


def _end(event: AttemptEnded | AttemptRefused) -> dict[str, Any]:
    """What is kept of the end of one component; not what the row of the job takes from its own end."""
    if isinstance(event, AttemptRefused):
        return {"reason": f"refused: {event.reason}"}
    found = {"exit_code": event.exit_code, "signal": event.signal, "reason": event.reason or event.failure}
    return {name: value for name, value in found.items() if value not in (None, "")}
