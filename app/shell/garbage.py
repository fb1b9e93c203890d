"""Garbage is collected in the window's thread only.

Python collects cycles in whichever thread happens to allocate. A widget that is freed in another thread
leaves its timers behind in Qt's list, and the program ends in a segmentation fault when one is due.
"""

from __future__ import annotations

import gc
import sys

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

LOOK_MS, SOON_MS = 50, 10
"""Between two looks: usually, and while so much is made that a usual pause would leave too much for one."""
_MANY, _TOO_MANY = 5000, 20_000
"""New objects since the last look that are many: a collection goes through them in a millisecond. And those
of the younger generations with which the middle one is collected, before it takes too long."""
FULL_MS, LONGEST_MS = 30_000, 600_000
"""Between two full collections: at least, and at most while the window is used. Each looks at everything,
which stops the window for a moment."""
_TURN_S = 0.00005
"""A hundredth of the usual: painting a table calls back into Python hundreds of times, and waits as often."""


class GarbageCollector(QObject):
    """Turns automatic collection off and collects by Python's own thresholds from a timer instead.

    Full collections wait until the user turns to another program; meanwhile what lives long is set aside.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._since_due, self._since_full = QElapsedTimer(), QElapsedTimer()
        self._since_due.start()
        self._since_full.start()
        self._young = 0
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation that is due, with the younger ones."""
        counts = gc.get_count()
        due = [count > most for count, most in zip(counts, gc.get_threshold(), strict=True)]
        self._timer.setInterval(SOON_MS if counts[0] > _MANY else LOOK_MS)
        if due[1] and due[2] and self._since_due.hasExpired(FULL_MS):
            self._since_due.restart()
            self.collect_all(in_use=_in_use())
        elif due[0]:
            self._young += counts[0]
            middle = due[1] or self._young > _TOO_MANY
            gc.collect(1 if middle else 0)
            self._young = 0 if middle else self._young

    def collect_all(self, *, in_use: bool) -> None:
        """Look at everything, or set what has lived so far aside until nobody uses the window."""
        if in_use and not self._since_full.hasExpired(LONGEST_MS):
            gc.collect(1)
        else:
            gc.unfreeze()
            gc.collect()
            self._since_full.restart()
        gc.freeze()


def _in_use() -> bool:
    return QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive


def short_turns() -> None:
    """Let other threads give way soon, for the whole process; their work takes hardly longer."""
    sys.setswitchinterval(_TURN_S)
