"""The status bar: broker and identity, connection as its own state, what is going on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QToolButton

from app import units
from app.stores.link import ConnectionState

if TYPE_CHECKING:
    from app.context import AppContext

_LINK = {
    ConnectionState.STARTING: ("loader-circle", "muted", "Starting the broker"),
    ConnectionState.CONNECTED: ("circle-check", "positive", "Connected"),
    ConnectionState.SILENT: ("circle-alert", "warning", "Broker does not answer"),
    ConnectionState.RECONNECTING: ("refresh-cw", "warning", "Reconnecting"),
    ConnectionState.UNREACHABLE: ("unplug", "negative", "Broker not reachable"),
    ConnectionState.STOPPED: ("circle-pause", "warning", "The broker was stopped. Start it"),
}


class MainStatusBar(QStatusBar):
    """Left: the connection. Right: transfers, jobs, and the activity panel's button."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setSizeGripEnabled(False)
        self.setContentsMargins(8, 0, 8, 0)
        self.link = QToolButton(autoRaise=True)
        self.link.setAccessibleName("Connection to the broker")
        self.link.setToolButtonStyle(self.link.toolButtonStyle().ToolButtonTextBesideIcon)
        self.link.setIconSize(QSize(14, 14))
        self.link.clicked.connect(lambda: context.trigger("link.retry"))
        self.broker, self.user, self.jobs = QLabel(), QLabel(), QLabel()
        self.work, self.bar = QLabel(), QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress of transfers")
        self.bar.setFixedWidth(120)
        self.activity = QToolButton(autoRaise=True)
        self.activity.setDefaultAction(context.actions.qt("view.bottom"))
        for part in (self.link, self.broker, self.user):
            self.addWidget(part)
        for right in (self.work, self.bar, self.jobs, self.activity):
            self.addPermanentWidget(right)
        context.link.changed.connect(self.refresh)
        context.jobs.changed.connect(self.refresh)
        context.transfers.changed.connect(self._transfers)
        self.refresh()
        self._transfers()

    def refresh(self) -> None:
        """Show link and numbers as they are."""
        link = self._context.link
        icon, token, word = _LINK[link.state]
        self.link.setIcon(self._context.theme.icon(icon, token))
        said = (
            f"{word}: {link.reason[:90]}"
            if link.reason and link.state is ConnectionState.UNREACHABLE
            else word
        )
        self.link.setText(said)
        since = units.exact(link.since)
        self.link.setToolTip(f"{word} since {since}. {link.reason}")
        self.broker.setText(link.broker)
        self.user.setText(f"as {link.user}" if link.user else "")
        states = self._context.jobs.states
        running = states["Running"]
        queued = sum(states[name] for name in ("Submitted", "Waiting", "Ready", "Scheduled"))
        self.jobs.setText(f"{running:,} running, {queued:,} waiting")

    def _transfers(self) -> None:
        running = self._context.transfers.running
        self.work.setVisible(bool(running))
        self.bar.setVisible(bool(running))
        if not running:
            return
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        self.work.setText(running[0].title + more)
        total, done = (sum(getattr(one, name) for one in running) for name in ("total", "done"))
        self.bar.setRange(0, 1000 if total else 0)
        self.bar.setValue(round(1000 * done / total) if total else 0)
