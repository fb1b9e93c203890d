"""A hand that counts: what a user needs of clicks and drags to do something in a window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QModelIndex, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QAction, QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QListView, QMenu, QPushButton, QWidget

from tests.waiting import eventually

if TYPE_CHECKING:
    from tests.app.windows import Stage

_LEFT, _COPY, _NONE = Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier


class Clicks:
    """Mouse and keys of a user. A double click counts as one; letters typed into a field do not count."""

    def __init__(self) -> None:
        self.count, self.drags = 0, 0

    def click(self, on: QWidget, at: QPoint | None = None) -> None:
        """Click into the middle of what can be seen of a widget, or at a place."""
        assert on.isVisible(), f"{on.accessibleName() or on} cannot be clicked: it is not seen"
        assert on.isEnabled(), f"{on.accessibleName() or on} cannot be clicked: it is disabled"
        self.count += 1
        QTest.mouseClick(on, _LEFT, _NONE, at or on.visibleRegion().boundingRect().center())

    def double_click(self, on: QWidget, at: QPoint) -> None:
        """Click twice at a place, as a mouse does: a press and a release come before the double click."""
        self.count += 1
        QTest.mouseClick(on, _LEFT, _NONE, at)
        QTest.mouseDClick(on, _LEFT, _NONE, at)

    def press(self, on: QWidget, key: Qt.Key) -> None:
        """Press a key that does something; it counts like a click."""
        self.count += 1
        QTest.keyClick(on, key)

    def type(self, into: QWidget, text: str) -> None:
        """Write into a field that has the keyboard, or gets it for nothing; it does not count."""
        QTest.keyClicks(into, text)

    async def button(self, below: QWidget, text: str) -> None:
        """Click a button by its text, once it is there, can be seen and is enabled."""

        def found() -> QPushButton | None:
            all_ = (one for one in below.findChildren(QPushButton) if one.isVisible() and one.isEnabled())
            return next((one for one in all_ if one.text() == text), None)

        self.click(await eventually(found, what=f"a button “{text}”"))

    async def job(self, on: Stage, job: str, how: str = "once") -> None:
        """Click the line of a job, or that of its folded batch: once, twice, or for its menu."""
        view, table = on.window.jobs.view, on.window.jobs.table

        def place() -> QPoint | None:
            lines = range(table.rowCount())
            line = next((line for line in lines if job in table.ids_at(line)), None)
            box = view.visualRect(table.index(line, 0)) if line is not None else QRect()
            return box.center() if not box.isEmpty() else None

        at = await eventually(place, what="the line of the job can be seen")
        act = {"once": self.click, "twice": self.double_click, "menu": self.menu}[how]
        act(view.viewport(), at)

    def menu(self, on: QWidget, at: QPoint) -> None:
        """Click with the right button at a place, which opens a menu."""
        self.count += 1
        QTest.mouseClick(on, Qt.MouseButton.RightButton, _NONE, at)
        reason = QContextMenuEvent.Reason.Mouse  # made by the window system, not by the click alone
        QApplication.sendEvent(on, QContextMenuEvent(reason, at, on.mapToGlobal(at)))

    async def entry(self, below: QWidget, text: str) -> None:
        """Click an entry of the menu that stands open."""

        def found() -> tuple[QMenu, QAction] | None:
            entries = (
                (menu, action)
                for menu in below.findChildren(QMenu)
                if menu.isVisible()
                for action in menu.actions()
            )
            return next((one for one in entries if one[1].text().split("\t")[0] == text), None)

        menu, action = await eventually(found, what=f"an entry “{text}”")
        self.click(menu, menu.actionGeometry(action).center())

    async def choose_file(self, window: QWidget, path: Path) -> None:
        """Take a file in the dialog that stands open, with one double click."""
        dialog = await eventually(lambda: window.findChild(QFileDialog), what="the dialog of files")
        dialog.setDirectory(str(path.parent))
        view = dialog.findChild(QListView, "listView")

        def place() -> QPoint | None:
            model, root = view.model(), view.rootIndex()
            rows = (model.index(row, 0, root) for row in range(model.rowCount(root)))
            found: QModelIndex | None = next((one for one in rows if one.data() == path.name), None)
            box = view.visualRect(found) if found is not None else QRect()
            return box.center() if box.isValid() else None

        self.double_click(view.viewport(), await eventually(place, what=f"{path.name} is listed"))

    def drop(self, window: QWidget, at: QPoint, *paths: Path) -> None:
        """Drag files in from another program and drop them at a place of the window."""
        self.drags += 1
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        enter = QDragEnterEvent(at, _COPY, mime, _LEFT, _NONE)
        QApplication.sendEvent(window, enter)
        assert enter.isAccepted()
        QApplication.sendEvent(window, QDropEvent(QPointF(at), _COPY, mime, _LEFT, _NONE))
