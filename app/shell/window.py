"""The main window: docks, tabs, toolbar and status bar around the views."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QMainWindow, QWidget

from app.actions.registry import Actions
from app.console.threads import wait_for_all
from app.jobs.pane import JobsPane
from app.shell import opened
from app.shell.activity import BottomPanel
from app.shell.inspector_layout import InspectorLayout
from app.shell.sidebar import Sidebar
from app.shell.status import MainStatusBar
from app.shell.tabs import MainTabs
from app.shell.toasts import Toasts
from app.shell.toolbar import MainToolbar
from app.shell.window_context import WindowContext
from app.stores.roaming import Roaming
from app.widgets.labels import label
from app.widgets.tool_button import tool_button
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import Notice
    from app.inspector.inspector import Inspector
    from app.theme.theme import Theme
    from broker_core.client.programs.batch_scripts.translation import Translation


_Feature = QDockWidget.DockWidgetFeature
"""A pane is not torn off by its title: a tab of the inspector can be, and a job has a tab of its own."""
LAYOUT = 4
"""Number of the layout; a stored one of another number is left aside. Before 4 a page could squeeze panes."""
_SIZE, _LEAST = QSize(1280, 800), QSize(900, 560)
_CHOOSE_MS = 100
"""Between two looks for rows that are to be selected."""
_FRAME = QSize(8, 36)
"""Room for the frame and title that a window manager puts around the window."""


class MainWindow(QMainWindow):
    """What is needed for the first painting is made here; the rest by `build_deferred`, right after it."""

    painted = Signal()
    """The window was painted for the first time."""
    closing = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.context = context
        context.setParent(self)
        self.inspector: Inspector | None = None
        self._deferred_built = False
        self.setWindowTitle("CrossDesk")
        self.setObjectName("main")
        self.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        context.actions = self.actions_ = Actions(context.theme, self)
        self.toolbar = MainToolbar(context)
        self.addToolBar(self.toolbar)
        self.sidebar, self.tabs, self.jobs = Sidebar(context), MainTabs(context), JobsPane(context)
        self.tabs.open_view("jobs", "Jobs", "inbox", lambda: self.jobs)
        self.setCentralWidget(self.tabs)
        self.left = self._dock("sidebar", "Views", self.sidebar, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.left.setTitleBarWidget(QWidget())
        self.right = self._dock("inspector", "Inspector", QWidget(), Qt.DockWidgetArea.RightDockWidgetArea)
        self.bottom = self._dock(
            "activity", "Activity", BottomPanel(context), Qt.DockWidgetArea.BottomDockWidgetArea
        )
        self.bottom.hide()
        self.inspector_layout = InspectorLayout(context, self, self.right)
        self.tabs.currentChanged.connect(lambda: self.inspector_layout.follow(self.tabs.currentWidget()))
        for corner in (Qt.Corner.BottomLeftCorner, Qt.Corner.BottomRightCorner):
            side = Qt.DockWidgetArea.LeftDockWidgetArea
            if corner is Qt.Corner.BottomRightCorner:
                side = Qt.DockWidgetArea.RightDockWidgetArea
            self.setCorner(corner, side)
        self.setStatusBar(MainStatusBar(context))
        self.toasts = Toasts(context, self, self.shows)
        self.roaming = Roaming(context, context.session, context.preferences, self)
        self.roaming.adopted.connect(self.jobs.restore)
        self.roaming.adopted.connect(context.saved.changed)
        self.roaming.adopted.connect(context.templates.changed)
        self.roaming.adopted.connect(context.presets.changed)
        self.setMinimumSize(_LEAST.boundedTo(self._fitting()))  # else what pages and panes ask for
        self.resize(self._fitting())
        self._default_sizes()
        self._initial = self.saveState(LAYOUT)
        self.restore()

    def _dock(self, name: str, title: str, inner: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title)
        dock.setObjectName(name)
        dock.setWidget(inner)
        dock.setFeatures(_Feature.DockWidgetClosable | _Feature.DockWidgetMovable)
        dock.setTitleBarWidget(_PaneTitle(dock, self.context.theme))
        self.addDockWidget(area, dock)
        return dock

    def _default_sizes(self) -> None:
        self.resizeDocks([self.left], [192], Qt.Orientation.Horizontal)
        self.inspector_layout.fit()
        self.resizeDocks([self.bottom], [180], Qt.Orientation.Vertical)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the sidebar take its share."""
        super().resizeEvent(event)
        self.sidebar.share(event.size().width())

    # --- after the first painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint, and build the rest as soon as the first picture stands."""
        super().paintEvent(event)
        if not self._deferred_built:
            self._deferred_built = True
            QTimer.singleShot(0, self, self.painted.emit)

    def build_deferred(self) -> None:
        """Make what the first picture did not need: inspector, drops, palette, handlers."""
        from app.drops.target import install
        from app.shell.handlers import Handlers
        from app.shell.news import ExpiryNews, News
        from app.shell.site_targets import site_places
        from app.sites.credentials import CredentialNews

        inspector = self.make_inspector()
        self.handlers = Handlers(self.context, self, self)
        self.news = (
            News(self.context, self.jobs.table.book),
            ExpiryNews(self.context),
            CredentialNews(self.context),
        )
        self.drops = install(self.context, self, partial(site_places, self))
        for view in (self.jobs, self.sidebar):
            self.actions_.listen(view)
        self.context.link.changed.connect(lambda: self.actions_.link(self.context.link.up))
        self.actions_.link(self.context.link.up)
        self.jobs.chosen.connect(inspector.show_jobs)
        self.jobs.opened.connect(self._open_from_table)
        inspector.opened.connect(self.open_job)
        self.sidebar.query_chosen.connect(self.show_query)
        self.tabs.currentChanged.connect(self._mark_place)
        self.jobs.bar.changed.connect(lambda query: self.sidebar.mark_query(query.text))
        self.context.job_wanted.connect(self.show_job)
        self.context.jobs_wanted.connect(self.show_jobs)
        self.context.log_wanted.connect(self.show_log)
        self.context.query_wanted.connect(self.show_query)
        self.context.editor_wanted.connect(self.open_editor)
        self.jobs.bar.show_text(self.context.preferences["query"])
        self.jobs.setFocus()

    def make_inspector(self) -> Inspector:
        """Put the inspector into its dock."""
        from app.inspector.inspector import Inspector

        made = self.inspector = Inspector(self.context)
        self.right.setWidget(made)
        self.inspector_layout.fit()
        return made

    # --- showing things

    def _mark_place(self) -> None:
        """Let the sidebar mark what is in front, and give it the keyboard."""
        page = self.tabs.currentWidget()
        self.actions_.refresh()
        if page is self.jobs:
            self.sidebar.mark_query(self.jobs.bar.edit.text())
            self.jobs.view.setFocus()
        elif page is not None:
            self.sidebar.mark_view(self.tabs.name_of(page))
            site = getattr(page, "chosen", None)
            if isinstance(site, str):
                self.sidebar.mark_site(site)
            page.setFocus()

    def shows(self, notice: Notice) -> bool:
        """True if the user sees what becomes of the jobs that a notice is about without being told."""
        about, page = {notice.job, notice.batch} - {""}, self.tabs.currentWidget()
        if not about or notice.other or not self.isActiveWindow():
            return False
        if page is self.jobs:
            shown = set(self.jobs.on_screen())
            if self.inspector is not None and self.inspector.isVisible():
                shown.update(self.inspector.ids)
            return not about.isdisjoint(shown)
        return notice.job in getattr(page, "ids", ())

    def show_query(self, text: str) -> None:
        """Show the jobs of a query."""
        self.tabs.show_page(self.jobs)
        self.jobs.bar.show_text(text)

    def show_job(self, job: str, tab: str = "") -> None:
        """Select a job and show it in the inspector; a query that hides it is emptied.

        Its console is wanted for typing, its display for looking and clicking: these open as a tab of the
        main area, where there is room.
        """
        if tab in ("console", "display"):
            self.jobs.view.choose(job)
            self.open_job(job, tab)
            return
        self.tabs.show_page(self.jobs)
        if not self.jobs.view.choose(job):
            if self.inspector is not None:
                self.inspector.show_jobs([job])
            self._reveal([job], lambda: self.jobs.view.choose(job))
        self.right.show()
        if tab and self.inspector is not None:
            self.inspector.show_tab(tab)

    def show_log(self, job: str, path: str, offset: int) -> None:
        """Show a line of a job's file in the inspector; the page in front stays there."""
        if self.inspector is not None:
            if self.inspector.ids != [job]:
                self.inspector.show_jobs([job])
            self.right.show()
            self.inspector.show_line(path, offset)

    def show_jobs(self, ids: list[str]) -> None:
        """Select several jobs together; a query that hides some of them is emptied."""
        self.tabs.show_page(self.jobs)
        if not self.jobs.view.choose_all(ids):
            self._reveal(ids, lambda: self.jobs.view.choose_all(ids))
        self.right.show()

    def _reveal(self, ids: Collection[str], choose: Callable[[], bool], tries: int = 50) -> None:
        """Select jobs that the table does not show; a query goes if it hides them.

        Only their rows tell: one that was just submitted in a project has its tag with its row.
        """
        if self.context.preferences["query"]:
            if tries and not self.context.jobs.at.keys() >= set(ids):
                again = partial(self._reveal, ids, choose, tries - 1)
                QTimer.singleShot(_CHOOSE_MS, self, again)
                return
            self.context.jobs.flush()
            if choose():
                return
            self.jobs.bar.show_text("")
        self._choose_later(choose)

    def choose_again(self, ids: list[str]) -> None:
        """Select jobs that were selected before, as far as the query shows them; the page in front stays."""
        if ids:
            self._choose_later(lambda: self.jobs.view.choose_all(ids), 10)

    def _choose_later(self, choose: Callable[[], bool], tries: int = 50) -> None:
        """Select what is wanted once its rows have come."""
        if tries and not choose():
            QTimer.singleShot(_CHOOSE_MS, self, lambda: self._choose_later(choose, tries - 1))

    def open_job(self, job: str, view: str = "") -> None:
        """Open a job in a tab of its own, with the view in front that was looked at."""
        from app.inspector.inspector import Inspector

        def make() -> Inspector:
            page = Inspector(self.context)
            page.show_jobs([job])
            return page

        page = self.tabs.open_job(job, make)
        if view and isinstance(page, Inspector):
            page.stand_for("view" if view == "display" else view)

    def _open_from_table(self, job: str) -> None:
        """Open a job in a tab; one that can be talked to is meant to be typed at."""
        row = self.context.jobs.row(job) or {}
        talks = row.get("interactive") and row["state"] == JobState.RUNNING
        self.open_job(job, "console" if talks else "")

    def open_editor(
        self, text: str, path: Path | None, files: tuple[Path, ...], translation: Translation | None = None
    ) -> None:
        """Open a description in an editor tab and remember its file."""
        editor = self.tabs.open_editor(text, path, tuple(files))
        if translation is not None:
            editor.show_script(translation)
        if path is not None:
            kept = [one for one in self.context.preferences["recent_files"] if one != str(path)]
            self.context.preferences["recent_files"] = [str(path), *kept][:10]

    # --- layout

    def restore(self) -> None:
        """Give the window the size and layout it had; what does not fit this screen is left aside."""
        kept = self.context.preferences
        if kept["geometry"]:
            self.restoreGeometry(_bytes(kept["geometry"]))
            screen = QGuiApplication.screenAt(self.geometry().center()) or QGuiApplication.primaryScreen()
            if not screen.availableGeometry().intersects(self.geometry()):
                self.resize(self._fitting())
        if kept["layout"]:
            self.restoreState(_bytes(kept["layout"]), LAYOUT)

    def _fitting(self) -> QSize:
        """The usual size, or what a small screen has beside the frame of the window manager."""
        room = self.screen().availableGeometry().size() - _FRAME
        return _SIZE.boundedTo(room) if QGuiApplication.platformName() != "offscreen" else _SIZE

    def reset(self) -> None:
        """Put all panes back where they were at first."""
        self.restoreState(self._initial, LAYOUT)
        self._default_sizes()

    def keep(self) -> None:
        """Remember size and layout, what is open, and what is selected."""
        if self._deferred_built:
            opened.keep(self)
        self.inspector_layout.unfold()
        self.context.preferences["geometry"] = _text(self.saveGeometry())
        self.context.preferences["layout"] = _text(self.saveState(LAYOUT))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the layout; the broker and its jobs go on."""
        self.keep()
        self.tabs.close_all()
        if self.inspector is not None:
            self.inspector.close_all()
        wait_for_all()
        self.closing.emit()
        super().closeEvent(event)


class _PaneTitle(QWidget):
    """The name of a pane, and the button that closes it; the pane is moved by it as by Qt's own."""

    def __init__(self, dock: QDockWidget, theme: Theme) -> None:
        super().__init__()
        self.close_ = tool_button(theme.icon("x", "muted"), f"Close {dock.windowTitle()}")
        self.close_.clicked.connect(dock.close)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 2, 6, 2)
        line.addWidget(label(dock.windowTitle(), "muted"), 1)
        line.addWidget(self.close_)


def _text(content: QByteArray) -> str:
    return base64.b64encode(content.data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except ValueError:
        return QByteArray()
