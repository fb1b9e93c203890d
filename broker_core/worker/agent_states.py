"""The states of the Bypass agent and what moves it from one to the next (CB-BYP-05), without any clock."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where the agent stands."""

    CONNECTED = "connected"
    BUFFERING = "buffering"
    DRAINING = "draining"
    DEAD = "dead"
    CLOSED = "closed"


class Event(StrEnum):
    """What happens to it."""

    WRITE = "write"
    SEND_FAILED = "send failed"
    CONNECT_FAILED = "interval elapsed, connect failed"
    CONNECTED = "connect succeeded"
    DRAINED = "all buffered data sent"
    PROGRAM_ENDED = "program ended"


TABLE: dict[tuple[State, Event], State] = {
    (State.CONNECTED, Event.WRITE): State.CONNECTED,
    (State.CONNECTED, Event.SEND_FAILED): State.BUFFERING,
    (State.BUFFERING, Event.WRITE): State.BUFFERING,
    (State.BUFFERING, Event.CONNECT_FAILED): State.BUFFERING,
    (State.BUFFERING, Event.CONNECTED): State.DRAINING,
    (State.DRAINING, Event.WRITE): State.DRAINING,
    (State.DRAINING, Event.DRAINED): State.CONNECTED,
    (State.DRAINING, Event.SEND_FAILED): State.BUFFERING,
    (State.CONNECTED, Event.PROGRAM_ENDED): State.CLOSED,
}
"""What is not listed changes nothing, apart from the counting and the end of the program below."""


class Machine:
    """One agent; the first desk has not come yet, so it begins with Buffering."""

    def __init__(self, max_retries: int) -> None:
        self._max = max_retries
        self.state = State.BUFFERING
        self.retries = 0
        """Failed attempts since the connection broke."""
        self._program_ended = False

    def on(self, event: Event) -> State:
        """Take an event; returns the state after it."""
        before = self.state
        self.state = TABLE.get((before, event), before)
        if event is Event.PROGRAM_ENDED:
            self._program_ended = True
        if before is not State.BUFFERING and self.state is State.BUFFERING:
            self.retries = 0
        if before is State.BUFFERING and event is Event.CONNECT_FAILED:
            self._count()
        if self._program_ended and self.state is State.CONNECTED:
            self.state = State.CLOSED
        return self.state

    @property
    def over(self) -> bool:
        """Nothing changes any more."""
        return self.state in (State.DEAD, State.CLOSED)

    def _count(self) -> None:
        self.retries += 1
        if self._max and self.retries >= self._max:
            self.state = State.CLOSED if self._program_ended else State.DEAD
