"""What of the desktop follows its user: kept by the broker, so that another machine shows the same."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.stores.preferences import Preferences

if TYPE_CHECKING:
    from app.stores.broker import BrokerAccess
    from app.stores.session import BrokerSession

NAME = "desk"
"""Name of the broker's document."""
FOLLOWING = ("saved_queries", "projects", "templates", "presets", "columns", "sort", "compact")
"""Preferences that are the user's; the others are this machine's (its screen, its folders)."""
_SETTLED_MS = 800


class Roaming(QObject):
    """Keeps the preferences that follow the user and the broker's document alike; the later change wins."""

    adopted = Signal()
    """Preferences were taken over from the broker: views that show them read them again."""

    def __init__(
        self, broker: BrokerAccess, session: BrokerSession, preferences: Preferences, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._broker, self._kept = broker, preferences
        self._timer = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._timer.timeout.connect(self._send)
        self._kept.on_change.append(self._changed)
        session.on_connected.append(self._connected)

    def _changed(self, name: str) -> None:
        if name in FOLLOWING:
            self._kept["roamed"] = time.time()
            self._timer.start()

    def _connected(self) -> None:
        self._broker.run(self._meet(), "reading your queries, templates, presets and columns from the broker")

    def _send(self) -> None:
        self._broker.run(self._save(), "keeping your queries, templates, presets and columns with the broker")

    async def _meet(self) -> None:
        found = await self._broker.client.document(NAME)
        at = found.get("at") if isinstance(found, dict) else None
        if isinstance(at, float) and at > self._kept["roamed"]:
            adopt(self._kept, found, at)
            self.adopted.emit()
        elif self._kept["roamed"] and at != self._kept["roamed"]:
            await self._save()

    async def _save(self) -> None:
        values = {name: self._kept[name] for name in FOLLOWING}
        await self._broker.client.save_document(NAME, {"at": self._kept["roamed"], **values})


def adopt(preferences: Preferences, found: dict[str, Any], at: float) -> None:
    """Take over what a document says; a value of another type than expected is left aside."""
    known = {name: found[name] for name in FOLLOWING if type(found.get(name)) is type(preferences[name])}
    preferences.update(known | {"roamed": at})
