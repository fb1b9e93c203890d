"""Which jobs a list shows: what may be written after `--state`."""

from __future__ import annotations

from enum import StrEnum

from broker_core.jobs.states import JobState


class StateChoice(StrEnum):
    """How jobs stand, and the two states that the story of a job tells apart within an outcome."""

    SUBMITTED = "submitted"
    WAITING = "waiting"
    READY = "ready"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"
    CANCELED = "canceled"
    ABORTED = "aborted"
    CLEARED = "cleared"

    @property
    def asked(self) -> str:
        """The name under which the broker is asked: outcomes in small letters, states by their names."""
        return (
            self.value
            if self in (StateChoice.FAILED, StateChoice.DONE)
            else JobState(self.value.capitalize()).value
        )
