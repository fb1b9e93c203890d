"""The life of a job as a table (CB-LIFE-02), and the short ways to read it."""

from __future__ import annotations

from enum import StrEnum

from broker_core.jobs.states import FINAL, JobState
from broker_core.jobs.transition_table import IllegalTransition, TransitionTable

__all__ = ["JOB_LIFE", "TRANSITIONS", "EventType", "IllegalTransition", "allowed", "next_state", "successors"]

S = JobState


class EventType(StrEnum):
    """What can happen to a job; the value is the event's name on the wire."""

    SUBMITTED = "job.submitted"
    """The submission passed every check and is durable."""
    REFUSED = "job.refused"
    """The request was refused after an identifier had been given."""
    ACCEPTED = "job.accepted"
    """The scheduler took the job over; batch jobs queue."""
    POSTPONED = "job.postponed"
    """No match now; the reason says why, the job stays Waiting."""
    HELD = "job.held"
    """Not to be matched until released; the reason says by whom and why."""
    RELEASED = "job.released"
    """A hold was lifted."""
    MATCHED = "job.matched"
    """A resource (set) was chosen and locked; a new attempt begins."""
    CHOICE_FAILED = "job.choice_failed"
    """Submission to this choice failed; the next of the list is tried."""
    LIST_EXHAUSTED = "job.list_exhausted"
    """No choice is left; the job waits again."""
    BROKER_DIED = "job.broker_died"
    """The broker was killed while the job was on its way to a site (reliability case 24)."""
    SCHEDULED = "job.scheduled"
    """Every computing element accepted its component."""
    KEPT_WAITING = "job.kept_waiting"
    """Its site keeps it waiting for another reason than before; the reason says which."""
    START_OVERDUE = "job.start_overdue"
    """The site runs it, but its start was not confirmed in time: the attempt is ended (SA-LCH-07)."""
    COMPONENT_CHANGED = "job.component_changed"
    """A component of it was accepted, started, reached MPI_Init or ended, as the details say (CB-AL-08)."""
    TRAFFIC_COUNTED = "job.traffic_counted"
    """How much has passed between its components by way of the broker so far, as the details say."""
    GIVEN_UP = "job.given_up"
    """Something failed at several sites, and all components are being ended; the details say what follows."""
    RETRIED = "job.retried"
    """A component ended before the application started: once more on the same resources (CB-ERR-3)."""
    REMATCHED = "job.rematched"
    """Given up at the site, matched again (CB-ERR-1 to 5, CB-GLI-13), also because its owner asked."""
    RUNNING = "job.running"
    """The application started, on every site of the set."""
    LAUNCHER_REPLACED = "job.launcher_replaced"
    """A new launcher took over the monitoring of a running job (CB-ERR-4)."""
    AGENT_READY = "job.agent_ready"
    """The agent of an interactive job was introduced to a desk; carries the fingerprint of its key."""
    DONE = "job.done"
    """The application ended and its output is collected; carries the exit code."""
    ABORTED = "job.aborted"
    """Ended by an error; the reason says which, where, and what to do."""
    CANCEL_REQUESTED = "job.cancel_requested"
    """The owner asked to cancel; the sites are being told."""
    CANCELED = "job.canceled"
    """Ended by the owner, everywhere."""
    OUTPUT_INCOMPLETE = "job.output_incomplete"
    """Output was fetched, but a listed file was missing (CB-CMD-04)."""
    CLEARED = "job.cleared"
    """Every listed output file was delivered."""
    LEFT_EXPIRES = "job.left_expires"
    """What it left at its site is removed there within a day; carries when. Changes nothing."""
    PURGED = "job.purged"
    """The owner, or its age, removed the ended job with its files; the row goes, this event stays."""
    MESSAGE_LATE = "job.message_late"
    """A message that came late, twice, or from an older attempt: recorded, changes nothing."""

    __hash__ = str.__hash__
    """As for states: looked up several times in every step of a job."""


E = EventType

TRANSITIONS: dict[tuple[JobState | None, EventType], JobState] = {
    (None, E.SUBMITTED): S.SUBMITTED,
    (S.SUBMITTED, E.REFUSED): S.ABORTED,
    (S.SUBMITTED, E.ACCEPTED): S.WAITING,
    (S.WAITING, E.POSTPONED): S.WAITING,
    (S.WAITING, E.HELD): S.WAITING,
    (S.WAITING, E.RELEASED): S.WAITING,
    (S.WAITING, E.MATCHED): S.READY,
    (S.WAITING, E.ABORTED): S.ABORTED,
    (S.READY, E.CHOICE_FAILED): S.READY,
    (S.READY, E.LIST_EXHAUSTED): S.WAITING,
    (S.READY, E.BROKER_DIED): S.READY,
    (S.READY, E.REMATCHED): S.WAITING,
    (S.READY, E.ABORTED): S.ABORTED,
    (S.READY, E.SCHEDULED): S.SCHEDULED,
    (S.SCHEDULED, E.KEPT_WAITING): S.SCHEDULED,
    (S.SCHEDULED, E.START_OVERDUE): S.SCHEDULED,
    (S.SCHEDULED, E.RETRIED): S.READY,
    (S.SCHEDULED, E.REMATCHED): S.WAITING,
    (S.SCHEDULED, E.RUNNING): S.RUNNING,
    (S.RUNNING, E.LAUNCHER_REPLACED): S.RUNNING,
    (S.RUNNING, E.AGENT_READY): S.RUNNING,
    (S.RUNNING, E.REMATCHED): S.WAITING,
    (S.RUNNING, E.DONE): S.DONE,
    (S.RUNNING, E.ABORTED): S.ABORTED,
    (S.DONE, E.OUTPUT_INCOMPLETE): S.DONE,
    (S.DONE, E.CLEARED): S.CLEARED,
    **{
        (state, kind): state
        for state in (S.READY, S.SCHEDULED, S.RUNNING)
        for kind in (E.COMPONENT_CHANGED, E.GIVEN_UP, E.TRAFFIC_COUNTED)
    },
    **{(state, E.CANCEL_REQUESTED): state for state in S if state.active},
    **{(state, E.CANCELED): S.CANCELED for state in S if state.active},
    **{(state, kind): state for state in S if state.ended for kind in (E.LEFT_EXPIRES, E.PURGED)},
    **{(state, E.MESSAGE_LATE): state for state in S},
}
"""Every legal step: (state before, event) to state after. CB-LIFE-02, plus Waiting to Aborted
(CB-SCH-12, CB-ERR-6), and back to Waiting where a site lost it or its owner wants it elsewhere."""


JOB_LIFE = TransitionTable("a job", tuple(JobState), EventType, FINAL, TRANSITIONS)

next_state = JOB_LIFE.after
"""The state after an event, or IllegalTransition."""
allowed = JOB_LIFE.allows
"""True if the table has a step."""
successors = JOB_LIFE.successors
"""The other states that can follow directly, in the order of the life cycle."""
