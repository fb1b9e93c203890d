"""How one source does: what the views show of it, and when it is asked again."""

from __future__ import annotations

import logging
from collections.abc import Callable

from broker_core.information.updater import SourceAnswer, SourceSettings
from broker_core.wire.resources import SourceView
from broker_core.wire.site_states import SourceCondition

log = logging.getLogger("crossdesk.information")
SLOW = 10.0
"""Seconds after which a source that has not answered is called slow."""
LONGEST_PAUSE = 600.0
"""Seconds that failures in a row may put the next question off, unless the interval is longer."""


def nobody() -> None:
    """Nobody wants to know."""


class SourceState:
    """The state of one source, as told by its runner."""

    def __init__(self, settings: SourceSettings, changed: Callable[[], None] = nobody) -> None:
        """`changed` is called whenever the state is another one."""
        self.settings = settings
        self._changed = changed
        self.view = SourceView(
            name=settings.name,
            kind=settings.kind,
            state=SourceCondition.OK,
            address=settings.address,
            interval=settings.interval,
        )
        self._failures = 0

    def disable(self, reason: str) -> None:
        """It is never asked."""
        self._say(SourceCondition.DISABLED, reason)

    def asking(self, now: float) -> None:
        """It has been asked. `now`: seconds since the epoch, here and below."""
        self.view.last_started = now
        self.view.next = None
        self.view.state = SourceCondition.ASKING
        self._changed()

    def slow(self, seconds: float) -> None:
        """It has not answered for so long; nobody waits for it."""
        deadline = self.settings.deadline
        given_up = f"It is given up after {deadline:g} s; others go on."
        self._say(SourceCondition.SLOW, f"No answer for {seconds:g} s. {given_up}")

    def heard(self, answer: SourceAnswer, now: float, duration: float) -> None:
        """It has answered, after `duration` seconds."""
        if self._failures:
            log.info("The source %s answers again", self.settings.name)
        self._failures = 0
        view = self.view
        view.last_heard, view.duration = now, duration
        view.resources = len(answer.facts)
        view.silent = list(answer.silent)
        view.refused, view.remarks = answer.refused, list(answer.remarks)
        self._say(SourceCondition.OK, "")

    def failed(self, reason: str) -> None:
        """It has not answered, or not well; what it said before grows old."""
        self._failures += 1
        level = logging.WARNING if self._failures == 1 else logging.DEBUG
        log.log(level, "The source %s fails: %s", self.settings.name, reason)
        self._say(SourceCondition.FAILED, reason)

    @property
    def fails(self) -> bool:
        """It did not answer the last time that it was asked, or not well."""
        return self._failures > 0

    def pause(self) -> float:
        """Seconds until the next question: the interval, and longer after failures in a row."""
        interval = self.settings.interval
        longest = max(LONGEST_PAUSE, interval)
        return min(interval * 2.0 ** min(max(self._failures - 1, 0), 20), longest)

    def _say(self, state: SourceCondition, reason: str) -> None:
        self.view.state, self.view.reason = state, reason
        self._changed()
