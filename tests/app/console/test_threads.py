"""What a thread reaches of the window is destroyed in the thread of the window."""

from __future__ import annotations

import threading
import weakref

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.console import threads
from tests.waiting import LONG, wait_until


class Told(QObject):
    """Says once from its thread that something is done."""

    done = Signal()

    def start(self, beside: QObject) -> None:
        thread = threading.Thread(target=self._live)
        threads.start(thread, self)
        threads.keep(thread, beside)

    def _live(self) -> None:
        self.done.emit()
        threads.end()


def test_who_lets_go_last_is_never_the_thread(qapp: QApplication) -> None:
    where = dict[str, threading.Thread]()
    heard = list[bool]()
    beside, made = QObject(), Told()
    made.done.connect(lambda: heard.append(True))
    for name, one in (("owner", made), ("beside", beside)):
        weakref.finalize(one, lambda name=name: where.setdefault(name, threading.current_thread()))
    made.start(beside)
    del made, beside, one

    def all_gone() -> bool:
        qapp.processEvents()
        return len(where) == 2

    wait_until(all_gone, LONG, "both are gone")
    assert set(where.values()) == {threading.main_thread()}
    assert heard == [True]
