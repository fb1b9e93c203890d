"""Everything waiting goes through the whole selection again from time to time (SA-LCH-02, SA-LCH-03)."""

from __future__ import annotations

from broker_core.scheduling.queue.fresh_answers import FreshAnswers
from broker_core.scheduling.queue.scheduling_pass import SchedulingPass
from broker_core.scheduling.state import SchedulerState


class RematchInterval:
    """Opens the whole queue each time its interval is over."""

    def __init__(self, state: SchedulerState, rounds: SchedulingPass, answers: FreshAnswers) -> None:
        self._state = state
        self._rounds = rounds
        self._answers = answers
        self._due = 0.0

    def due(self) -> float:
        """See `Step`."""
        return self._due

    def run(self) -> None:
        """See `Step`."""
        state, now = self._state, self._state.jobs.now
        if now.monotonic < self._due:
            return
        self._due = now.monotonic + state.rules.rematch_interval
        self._rounds.open_all()
        self._answers.want()
        if waiting := len(state.queue):
            known = len(state.cache.entries)
            reason = f"{waiting} waiting jobs are looked at again"
            state.decisions.add(now.wall, "", "", "round", reason=reason, considered=known)
