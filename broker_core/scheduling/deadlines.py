"""What only the time brings about: patience that ends, cancels asked again, starts that are overdue."""

from __future__ import annotations

from broker_core.reactor.reactor import TimerFired
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.several_ends import SeveralEnds
from broker_core.scheduling.attempts.start_deadlines import StartDeadlines
from broker_core.scheduling.queue.admission import Admission


class Deadlines:
    """All of them."""

    def __init__(
        self, admission: Admission, fences: Fences, starts: StartDeadlines, together: SeveralEnds
    ) -> None:
        self._admission = admission
        self._fences = fences
        self._starts = starts
        self._asked = fences.asked
        self._running, self._queued = starts.pending
        self._together = together

    def owed(self) -> bool:
        """True while something is awaited of a site."""
        return bool(self._asked or self._running or self._queued or self._together.owed())

    def enforce(self, message: TimerFired) -> None:
        """Do what is due."""
        self._admission.expire()
        self._fences.again()
        self._starts.enforce()
        self._together.expire(message)

    def due(self) -> float:
        """See `Step`."""
        moment = self._admission.next_expiry()
        if not self.owed():
            return moment
        return min(moment, self._fences.next(), self._starts.next(), self._together.due())
