"""The desktop program: options, first painting, event loop, and the last boundary of errors."""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.shell.window import MainWindow

log = logging.getLogger("crossdesk")
_CALLS = 500


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the options of the desktop."""
    parser = argparse.ArgumentParser(prog="crossdesk", description="Open the CrossDesk desktop.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="descriptions to open")
    parser.add_argument("--state-dir", type=Path, help="directory of the broker's state")
    parser.add_argument("--theme", choices=("system", "light", "dark", "contrast"))
    parser.add_argument(
        "--screenshot", type=Path, metavar="PNG", help="save a picture of the window and exit"
    )
    parser.add_argument("--job", default="", help="job that the picture shows")
    parser.add_argument(
        "--view", default="", help="tab of the job, or a place: sites, statistics, welcome, help"
    )
    parser.add_argument("--size", default="1280x800", help="size of the picture, e.g. 1280x800")
    return parser.parse_args(list(words))


def binding_keeps_none() -> bool:
    """False where the Qt binding loses a reference to None in every call, which would end the program."""
    if sys.hexversion >= 0x030C0000:  # in a form that makes the rest unreachable for no type checker
        return True
    from PySide6.QtCore import QObject

    probe, before = QObject(), sys.getrefcount(None)
    for _ in range(_CALLS):
        probe.setObjectName("x")
    return before - sys.getrefcount(None) < _CALLS // 2


def main(argv: Sequence[str] | None = None) -> int:
    """Open the desktop; returns its exit code."""
    options = arguments(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if options.screenshot:
        import os

        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if not binding_keeps_none():
        import PySide6

        sys.stderr.write(
            f"CrossDesk cannot run with PySide6 {PySide6.__version__} on Python {sys.version.split()[0]}: it "
            "loses references and would end the program. Install PySide6_Essentials 6.11.\n"
        )
        return 1
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from PySide6.QtGui import QGuiApplication
    from PySide6.QtWidgets import QApplication

    from app.shell.garbage import GarbageCollector, short_turns

    QGuiApplication.setApplicationName("crossdesk")
    QGuiApplication.setApplicationDisplayName("CrossDesk")
    QGuiApplication.setDesktopFileName("crossdesk")
    app = QApplication(["crossdesk"])
    app.setQuitOnLastWindowClosed(False)  # the loop ends once the tasks of the closed window have ended
    GarbageCollector(app)
    short_turns()
    import asyncio

    from app.shell.event_loop import DesktopLoop

    loop = DesktopLoop(app)
    asyncio.set_event_loop(loop)
    window = build(app, options)
    _boundary(window, loop)
    with loop:
        return int(loop.run_until_complete(live(window, options)))


def build(app: QApplication, options: argparse.Namespace) -> MainWindow:
    """Make the window; nothing is connected yet."""
    from app.shell.window import MainWindow
    from app.shell.window_context import WindowContext
    from app.stores.preferences import Preferences
    from app.theme.theme import Theme
    from app.theme.tokens import Mode

    preferences = Preferences()
    theme = Theme(app, Mode(options.theme or preferences["theme"]), preferences["font_size"])
    return MainWindow(WindowContext(theme, preferences, options.state_dir))


async def live(window: MainWindow, options: argparse.Namespace) -> int:
    """Show the window, build the rest after its first painting, and live until it is closed."""
    import asyncio

    closed = asyncio.Event()
    window.closing.connect(closed.set)
    painted = asyncio.Event()
    window.painted.connect(painted.set)
    if options.screenshot:
        window.resize(*(int(part) for part in options.size.split("x")))
    window.show()
    await painted.wait()
    window.build_deferred()
    gc.freeze()  # what stands now stays: the collector need not look at it again, which would stop the window
    from app.shell.inspection import serve

    watched = await serve()
    window.context.begin()
    for path in options.files:
        window.handlers.open_file(path)
    try:
        if options.screenshot:
            from app.shell.screenshot import save

            return await save(window, options)
        from app.shell.opened import reopen

        reopen(window)
        _first_run(window)
        from app.editor.recovery import recover

        recover(window.context)
        await closed.wait()
    finally:
        await window.context.close()
        if watched is not None:
            watched.close()
    return 0


def _first_run(window: MainWindow) -> None:
    if not window.context.preferences["welcomed"]:
        window.context.preferences["welcomed"] = True
        window.context.trigger("view.welcome")


def _boundary(window: MainWindow, loop: Any) -> None:
    """Whatever is raised and not handled is logged and told, and the window lives on."""
    tell = window.context.tell_problem

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            window.close()
        else:
            tell(error.with_traceback(trace), "handling what was clicked or came in")

    def handler(loop: Any, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            tell(error, "its tasks ran")
        else:
            log.error("In the loop: %s", context.get("message"))

    sys.excepthook = hook
    loop.set_exception_handler(handler)


if __name__ == "__main__":
    sys.exit(main())
