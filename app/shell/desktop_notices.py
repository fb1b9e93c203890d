"""Notices of the desktop environment, through D-Bus; silent where there is none."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.context import Notice

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk

log = logging.getLogger(__name__)
_SERVICE, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class DesktopNotices(QObject):
    """Repeats notices about jobs outside the window while it is not in front."""

    def __init__(self, desk: WindowDesk, window: QWidget) -> None:
        super().__init__(window)
        self._desk, self._window = desk, window
        desk.noticed.connect(self._tell)

    def _tell(self, notice: Notice) -> None:
        if notice.job and self._desk.preferences["notifications"] and not self._window.isActiveWindow():
            self.send(notice.text)

    def send(self, text: str) -> bool:
        """Send a notice to the desktop; False if there is nobody to show it."""
        from PySide6.QtDBus import QDBusConnection, QDBusMessage

        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return False
        call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _SERVICE, "Notify")
        call.setArguments(["CrossDesk", 0, "", "CrossDesk", text, [], {}, 8000])
        sent = bus.send(call)
        if not sent:
            log.info("The desktop shows no notices")
        return sent
