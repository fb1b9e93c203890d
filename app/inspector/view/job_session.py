"""The session of a View tab with its job, which the parts of the tab share. Imported late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.console.channel import Connect, ConsoleChannel
from broker_core.client.interactive import ENDED, ShadowSession, Status
from broker_core.client.printable import printable


class JobSession(QObject):
    """Begins with who joins first, and is closed when the last one leaves; nobody joins one that ended."""

    waits = Signal(str)
    """Why nothing goes through now; empty: it does."""
    over = Signal(str)
    """Nothing follows, and why."""

    def __init__(self, connect: Connect, job: str) -> None:
        super().__init__()
        self.job = job
        self.reason = ""
        """Why nothing goes through now."""
        self.ended = False
        self._users = 0
        self._channel = ConsoleChannel(connect, job, 80, 24, attached=False)
        self._channel.status.connect(self._status_changed)
        self._channel.failed.connect(self._failed)
        self._channel.start()

    def join(self) -> None:
        """Another part of the tab uses it."""
        self._users += 1

    def keep(self, one: QObject) -> None:
        """Keep what `do` uses as long as the thread of the session lives."""
        self._channel.keep(one)

    def leave(self) -> None:
        """A part uses it no longer; the program goes on in any case."""
        self._users -= 1
        if self._users == 0:
            self.close()

    def close(self) -> None:
        """Leave the job."""
        self.ended = True
        self._channel.close()

    def do(self, act: Callable[[ShadowSession], Any]) -> None:
        """Have something done in the thread of the session, as soon as there is one."""
        self._channel.do(act)

    def _status_changed(self, status: Status) -> None:
        self.reason = printable(status.reason)
        self.waits.emit(self.reason)
        if status.state in ENDED:
            self._failed(status.reason)

    def _failed(self, reason: str) -> None:
        self.close()
        self.over.emit(printable(reason))
