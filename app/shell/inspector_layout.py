"""Where the inspector stands: a share of the window's width, beside pages of which it shows something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer

from app.stores.preferences import DEFAULTS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

    from app.context import AppContext

_BESIDE, _NARROW = 900, 320
"""Pixels that sidebar and jobs table need for their usual columns: until the user drags the edge, the
inspector leaves them these, if that leaves it enough itself."""
_LEAST, _MOST = 0.15, 0.7
"""Shares of the window's width that the inspector may take."""


class InspectorLayout(QObject):
    """Keeps the inspector's share as the window grows, and folds it away beside pages without jobs.

    A page that it belongs to says so by an attribute `inspects`.
    """

    def __init__(self, context: AppContext, window: QMainWindow, dock: QDockWidget) -> None:
        super().__init__(window)
        self._context, self._window, self._dock = context, window, dock
        self._beside, self._wanted = True, True
        window.installEventFilter(self)

    def follow(self, page: QWidget | None) -> None:
        """Another page is in front: fold away, or come back as the user left it."""
        if self._dock.isFloating():
            return
        self._remember()
        self._beside = bool(getattr(page, "inspects", False))
        self._dock.setVisible(self._beside and self._wanted)
        self.fit()

    def unfold(self) -> None:
        """Stand as beside the jobs, for what is remembered of the window."""
        self._remember()
        if not self._dock.isFloating():
            self._dock.setVisible(self._wanted)

    def _remember(self) -> None:
        if self._beside:
            self._wanted = not self._dock.isHidden()

    def fit(self) -> None:
        """Take the share of the window's width."""
        share = min(max(_LEAST, self._context.preferences["inspector_share"]), _MOST)
        if not self._dock.isHidden() and not self._dock.isFloating():
            width = round(share * self._window.width())
            if share == DEFAULTS["inspector_share"]:
                width = max(_NARROW, min(width, self._window.width() - _BESIDE))
            self._window.resizeDocks([self._dock], [width], Qt.Orientation.Horizontal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the window, and learn the share that the user drags the edge to."""
        if event.type() == QEvent.Type.Resize:
            self.fit()
        elif event.type() == QEvent.Type.MouseButtonRelease:
            QTimer.singleShot(0, self, self._learn)  # the edge is put in its place by then
        return False

    def _learn(self) -> None:
        if self._dock.isHidden() or self._dock.isFloating():
            return
        share = self._context.preferences["inspector_share"]
        if abs(self._dock.width() - share * self._window.width()) > 2:
            self._context.preferences["inspector_share"] = self._dock.width() / self._window.width()
