"""How the desktop stands with its broker."""

from __future__ import annotations

import time
from enum import StrEnum

from PySide6.QtCore import QObject, Signal


class ConnectionState(StrEnum):
    """How the window stands with its broker; never a job state."""

    STARTING = "starting"
    CONNECTED = "connected"
    SILENT = "silent"
    """The broker is there, its connection stands, and nothing has come for seconds: it hangs."""
    RECONNECTING = "reconnecting"
    UNREACHABLE = "unreachable"
    STOPPED = "stopped"
    """Somebody stopped the broker on purpose; the window waits to be asked, or for a broker that answers."""


class BrokerLink(QObject):
    """The connection of the window; its trouble is its own state, never a job state."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ConnectionState.STARTING
        self.reason = "Starting the broker"
        self.since = time.time()
        self.last_answer = 0.0
        """When the broker answered last, seconds since the epoch; 0: never yet."""
        self.broker = ""
        """The broker in words, e.g. `embedded broker, version 0.1.0`; empty before the first answer."""
        self.user = ""
        self.dialect = "crossdesk"
        """Whose rules the broker follows where descriptions of several systems disagree."""

    @property
    def up(self) -> bool:
        """True while the broker answers."""
        return self.state is ConnectionState.CONNECTED

    def known_until(self, now: float) -> float:
        """The moment up to which it is known how jobs stand: now, or when the broker answered last."""
        return now if self.up or not self.last_answer else min(now, self.last_answer)

    def set(self, state: ConnectionState, reason: str = "") -> None:
        """Enter a state; the time is kept while the state stays."""
        if state is not self.state:
            self.since = time.time()
        self.state, self.reason = state, reason
        self.changed.emit()
