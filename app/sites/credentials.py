"""Telling that the credential which opens a site expires soon, while it can still be renewed (CB-UI-12)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app import units
from app.context import Notice, Tone

if TYPE_CHECKING:
    from app.context import AppContext

AHEAD = 3600.0
"""Seconds before the end at which it is told."""
_LONGEST_MS = 12 * 3_600_000
"""Timers count milliseconds in 32 bits; a longer wait is taken up again."""


class CredentialNews(QObject):
    """One notice for each credential; it goes when the site is opened by a newer one."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.owner)
        self._context = context
        self._notified: dict[str, float] = {}
        """Site to the end that was told."""
        self._due = QTimer(self, singleShot=True)
        self._due.timeout.connect(self._check)
        context.sites.changed.connect(self._check)

    def _check(self) -> None:
        now, waits = time.time(), [_LONGEST_MS / 1000]
        for view in self._context.sites.views:
            name, until = view.spec.name, view.link.credential_until
            if until is None or not now < until <= now + AHEAD:
                # Of one that has expired the site itself asks.
                waits += [] if until is None or until <= now else [until - AHEAD - now]
                if self._notified.pop(name, None) is not None:
                    self._context.withdraw(_topic(name))
                continue
            waits.append(until - now)
            if self._notified.get(name) != until:
                self._notified[name] = until
                self._tell(name, until, now)
        self._due.start(int(min(waits) * 1000) + 1)

    def _tell(self, name: str, until: float, now: float) -> None:
        words = (
            f"The credential for {name} expires at {units.since(until, now)}. Jobs there run on; nothing is "
            "sent or brought home after that until you make a new one, e.g. with arcproxy."
        )
        self._context.notify(Notice(words, Tone.WARNING, "view.sites", topic=_topic(name)))


def _topic(name: str) -> str:
    return f"credential of {name}"
