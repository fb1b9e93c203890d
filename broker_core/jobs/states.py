"""The states of a job (CB-LIFE-01), each with its meaning."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """Where a job is in its life. The value is the exact name of CB-LIFE-01."""

    SUBMITTED = "Submitted"
    """Handed to the scheduler. Entered at submission; ended by the scheduler taking the job over."""
    WAITING = "Waiting"
    """Received by the scheduler, no resources assigned. A hold is a reason of this state."""
    READY = "Ready"
    """Has a list of execution resources and is being submitted to the selected ones."""
    SCHEDULED = "Scheduled"
    """Every computing element of the set has it; it sits in their queues."""
    RUNNING = "Running"
    """Runs at the remote site or sites."""
    DONE = "Done"
    """Finished, with an exit code; the output can be fetched."""
    CLEARED = "Cleared"
    """The user has fetched all output files."""
    ABORTED = "Aborted"
    """Ended by an error in submission or execution."""
    CANCELED = "Canceled"
    """Ended by the user."""

    __hash__ = str.__hash__
    """That of enum is written in Python, and states are looked up several times in every step of a job."""

    @property
    def final(self) -> bool:
        """True where nothing can follow (CB-LIFE-03)."""
        return self in FINAL

    @property
    def ended(self) -> bool:
        """True where the job runs no more: the final states, and Done."""
        return self in _ENDED

    @property
    def active(self) -> bool:
        """True while the job can still be cancelled."""
        return not self.ended


CHOOSING = frozenset({JobState.SUBMITTED, JobState.WAITING, JobState.READY})
"""States in which no site has the job yet."""
FINAL = frozenset({JobState.CLEARED, JobState.ABORTED, JobState.CANCELED})
"""States that nothing leaves (CB-LIFE-03)."""
_ENDED = FINAL | {JobState.DONE}
