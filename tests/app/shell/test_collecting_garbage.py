"""Garbage is collected in the window's thread only."""

from __future__ import annotations

import gc
import threading
import weakref

from pytestqt.qtbot import QtBot

from app.shell.garbage import GarbageCollector


class Cycle:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


def test_another_thread_frees_nothing_and_the_windows_thread_does(qtbot: QtBot) -> None:
    collector = GarbageCollector()
    freed_in: list[threading.Thread] = []
    weakref.finalize(Cycle(), lambda: freed_in.append(threading.current_thread()))
    busy = threading.Thread(target=lambda: [[] for _ in range(100_000)])
    busy.start()
    busy.join()
    assert not gc.isenabled()
    assert not freed_in
    made = [[] for _ in range(5000)]  # type: ignore[var-annotated]
    qtbot.waitUntil(lambda: freed_in == [threading.main_thread()], timeout=60_000)
    assert len(made) == 5000
    collector.deleteLater()


def test_garbage_that_was_set_aside_goes_when_nobody_uses_the_window(qtbot: QtBot) -> None:
    collector = GarbageCollector()
    gone: list[bool] = []
    old = Cycle()
    weakref.finalize(old, lambda: gone.append(True))
    gc.collect(1)
    collector.collect_all(in_use=True)
    del old
    collector.collect_all(in_use=True)
    assert not gone
    collector.collect_all(in_use=False)
    assert gone == [True]
    gc.unfreeze()
    collector.deleteLater()
