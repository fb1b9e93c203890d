"""Notices of the desktop environment, through D-Bus; silent where there is none."""

from __future__ import annotations

import asyncio
import logging
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.context import Notice

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk

log = logging.getLogger(__name__)
_SERVICE, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_PATIENCE = 3.0
"""Seconds that the desktop gets to take a notice."""
_SHOWN_MS = 8000


class DesktopNotices(QObject):
    """Repeats notices about jobs outside the window while it is not in front."""

    def __init__(self, desk: WindowDesk, window: QWidget) -> None:
        super().__init__(window)
        self._desk, self._window = desk, window
        desk.noticed.connect(self._tell)

    def _tell(self, notice: Notice) -> None:
        if notice.job and self._desk.preferences["notifications"] and not self._window.isActiveWindow():
            self._desk.run(asyncio.to_thread(show, notice.text), "showing a notice on your desktop")


def show(text: str) -> bool:
    """Have the desktop show a notice; False if there is nobody to show it.

    Qt's own D-Bus sends a number and an empty list from Python as types that no desktop accepts here.
    """
    try:
        from jeepney import DBusAddress, DBusErrorResponse, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        from jeepney.wrappers import unwrap_msg
    except ImportError:  # not on this system
        return False
    address = DBusAddress(_PATH, bus_name=_SERVICE, interface=_SERVICE)
    words = ("CrossDesk", 0, "", "CrossDesk", escape(text), [], {}, _SHOWN_MS)
    try:
        with open_dbus_connection(bus="SESSION") as connection:
            call = new_method_call(address, "Notify", "susssasa{sv}i", words)
            unwrap_msg(connection.send_and_get_reply(call, timeout=_PATIENCE))
    except (OSError, KeyError, TimeoutError, DBusErrorResponse) as error:
        log.info("The desktop shows no notices: %r", error)
        return False
    return True
