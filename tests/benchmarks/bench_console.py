"""The console: reading coloured text, and painting a large screen of it.

Times are of the processor, so that what else the machine does is not counted.
"""

from __future__ import annotations

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
    """Offscreen, with the fonts and colours of the dark desk."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from app.console.terminal import TerminalView
    from app.theme.theme import DeskTheme
    from app.theme.tokens import Mode
    from tests.app.inspector.recorded import TestDesk

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    view = TerminalView(TestDesk(DeskTheme(app, Mode.DARK), None))
    view.show()
    room = view.viewport().size()
    view.resize(
        view.width() + round(view.cell.width() * COLUMNS) - room.width(),
        view.height() + round(view.cell.height() * ROWS) - room.height(),
    )
    app.processEvents()
    assert view.terminal.size == (COLUMNS, ROWS)
    found = [_parsed(view), *_painted(view), _blocked(view, app)]
    view.close()
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


def _blocked(view, app) -> Figure:  # type: ignore[no-untyped-def]
    """The longest turn of the event loop while 100 MB run through."""
    view.feed((_LINE + "\r\n").encode() * (100_000_000 // (len(_LINE) + 2)))
    longest = 0.0
    while view.behind:
        begin = time.thread_time()
        app.processEvents()
        longest = max(longest, time.thread_time() - begin)
    return Figure(
        "longest block of the window while 100 MB are shown", round(longest * 1000, 1), "ms", at_most=30.0
    )
