"""How the desk stands with its broker."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Signal

from app.context import LinkState


class DeskLink(QObject):
    """Implements app.context.Link; connection trouble is its own state, never a job state."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = LinkState.STARTING
        self.reason = "Starting the broker"
        self.since = time.time()
        self.broker = ""
        """The broker in words, e.g. `embedded broker, version 0.1.0`; empty before the first answer."""
        self.user = ""
        self.dialect = "crossdesk"
        """Whose rules the broker follows where descriptions of several systems disagree."""

    @property
    def up(self) -> bool:
        """True while the broker answers."""
        return self.state is LinkState.CONNECTED

    def set(self, state: LinkState, reason: str = "") -> None:
        """Enter a state; the time is kept while the state stays."""
        if state is not self.state:
            self.since = time.time()
        self.state, self.reason = state, reason
        self.changed.emit()
