"""The console: reading coloured text, and painting a large screen of it.

Times are of the processor, so that what else the machine does is not counted.
"""

from __future__ import annotations

import gc
import os
import statistics
import time

from tests.benchmarks.figure import Figure

COLUMNS, ROWS = 200, 60
_LINE = "".join(
    f"\x1b[3{number % 8}mcolumn{number} \x1b[1;38;2;{number * 9};80;200mvalue {number}\x1b[0m "
    for number in range(12)
)


def measure() -> list[Figure]:
    """Offscreen, with the fonts and colours of the dark desk, and garbage collected as the desk does."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from app.console.preload import first_key
    from app.console.terminal.view import TerminalView
    from app.console.warm_up import rehearse
    from app.shell.garbage import GarbageCollector
    from app.theme.theme import Theme
    from app.theme.tokens import Mode
    from tests.app.inspector.recorded import TestContext

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    rehearse(first_key())
    gc.freeze()
    collector = GarbageCollector()
    view = TerminalView(TestContext(Theme(app, Mode.DARK), None))
    view.show()
    room = view.viewport().size()
    view.resize(
        view.width() + round(view.cell.width() * COLUMNS) - room.width(),
        view.height() + round(view.cell.height() * ROWS) - room.height(),
    )
    app.processEvents()
    assert view.terminal.size == (COLUMNS, ROWS)
    found = [_parsed(view), *_painted(view), *_blocked(view, app)]
    view.close()
    collector.deleteLater()
    gc.enable()
    return found


def _parsed(view) -> Figure:  # type: ignore[no-untyped-def]
    data = (_LINE + "\r\n").encode() * 50_000
    begin = time.process_time()
    view.terminal.feed(data)
    rate = len(data) / 1e6 / (time.process_time() - begin)
    return Figure("coloured text parsed", round(rate, 1), "MB/s", at_least=50.0)


def _painted(view) -> list[Figure]:  # type: ignore[no-untyped-def]
    """From what changed to the pixels: everything on the screen is another text each time."""
    taken = []
    for turn in range(40):
        text = "\r\n".join(f"{turn} {row} {_LINE}"[: 10 + row * 40] for row in range(ROWS))
        view.terminal.feed(b"\x1b[H" + text.encode())
        begin = time.thread_time()
        view.refresh()
        view.viewport().repaint()
        taken.append((time.thread_time() - begin) * 1000)
    return [
        Figure(
            f"repaint of {COLUMNS}x{ROWS} cells, median",
            round(statistics.median(taken), 2),
            "ms",
            at_most=8.0,
        )
    ]


def _blocked(view, app) -> list[Figure]:  # type: ignore[no-untyped-def]
    """The longest turn of the event loop while 100 MB run through, and with 100,000 lines kept after it."""
    view.feed((_LINE + "\r\n").encode() * (100_000_000 // (len(_LINE) + 2)))
    shown = _longest(app, lambda: view.behind)
    kept = [_longest(app, lambda: view.terminal.busy, act) for act in _acts(view)]
    return [
        Figure("longest block of the window while 100 MB are shown", shown, "ms", at_most=30.0),
        Figure(
            "longest block with 100,000 lines kept: resized, searched, scrolled, selected, copied",
            max(kept),
            "ms",
            at_most=30.0,
        ),
    ]


def _acts(view):  # type: ignore[no-untyped-def]
    """What users do with many lines."""
    narrower = view.width() - 10 * round(view.cell.width())
    return [
        lambda: view.resize(narrower, view.height()),
        lambda: view.find_text("value 7"),
        lambda: view.find_step(-1),
        lambda: view.verticalScrollBar().setValue(50_000),
        lambda: view.find_text(""),
        lambda: (view.terminal.select_all(), view.refresh()),
        lambda: view.copy(),
        lambda: view.paste("text " * 200_000),
    ]


def _longest(app, going, act=lambda: None) -> float:  # type: ignore[no-untyped-def]
    """Milliseconds of the processor that one turn took at most, the act among them, and half a second on."""
    begin = time.thread_time()
    act()
    longest, end = time.thread_time() - begin, time.perf_counter() + 0.5
    while going() or time.perf_counter() < end:
        begin = time.thread_time()
        app.processEvents()
        longest = max(longest, time.thread_time() - begin)
    return round(longest * 1000, 1)
