"""Fusion as the desktop wears it: own icons in dialogs, room beside icons, no frames of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QProxyStyle,
    QPushButton,
    QStyle,
    QToolButton,
)

from app.theme.wheel import WheelGuard, is_guarded

_Standard = QStyle.StandardPixmap
_DIALOG_ICONS = {
    _Standard.SP_MessageBoxInformation: "info",
    _Standard.SP_MessageBoxQuestion: "circle-question-mark",
    _Standard.SP_MessageBoxWarning: "triangle-alert",
    _Standard.SP_MessageBoxCritical: "circle-alert",
    _Standard.SP_FileDialogToParent: "chevron-up",
    _Standard.SP_FileDialogNewFolder: "plus",
    _Standard.SP_FileDialogListView: "align-left",
    _Standard.SP_FileDialogDetailedView: "table",
    _Standard.SP_FileDialogBack: "undo-2",
    _Standard.SP_ArrowBack: "undo-2",
    _Standard.SP_FileDialogStart: "folder",
    _Standard.SP_ArrowForward: "chevron-right",
    _Standard.SP_DirIcon: "folder",
    _Standard.SP_DirClosedIcon: "folder",
    _Standard.SP_DirOpenIcon: "folder-open",
    _Standard.SP_DirHomeIcon: "folder",
    _Standard.SP_DirLinkIcon: "folder",
    _Standard.SP_FileIcon: "file",
    _Standard.SP_FileLinkIcon: "file",
    _Standard.SP_ComputerIcon: "server",
    _Standard.SP_DesktopIcon: "server",
    _Standard.SP_DriveHDIcon: "server",
    _Standard.SP_LineEditClearButton: "x",
}
"""Icon of Qt's own dialogs to the icon shown instead."""
_GAP = {QPushButton: 2, QToolButton: 4}
"""Pixels added behind the icon of a button, which make 6 with those that Qt leaves."""


class PlainStyle(QProxyStyle):
    """Fusion, whose labels show what they are given, tooltips and message boxes too.

    Qt takes a text for markup when it looks so. A label that is to show markup says so (`RichText`), and
    escapes what is not its own. Fields that a wheel would change get their guard here, too. What Qt asks for
    again and again while it paints, such as `styleHint`, stays in C++: the stylesheet answers it.
    """

    def __init__(self, icon: Callable[[str, str], QIcon]) -> None:
        """`icon`: makes an icon of its name and the token of its color."""
        super().__init__("Fusion")
        self._icon = icon
        self._wheel = WheelGuard(self)

    def polish(self, what: Any) -> Any:
        if isinstance(what, QLabel) and what.textFormat() == Qt.TextFormat.AutoText:
            what.setTextFormat(Qt.TextFormat.PlainText)
        elif is_guarded(what):
            self._wheel.guard(what)
            if isinstance(what, QComboBox) and not what.accessibleDescription():
                what.setAccessibleDescription(
                    what.accessibleName()
                )  # screen readers take the choice for its name
        elif isinstance(what, QPushButton | QToolButton):
            _leave_room(what)
            if isinstance(what, QPushButton) and what.property("kind") == "quiet":
                what.setAutoDefault(False)  # else it takes the look of the default button while it is pressed
        return super().polish(what)

    def standardIcon(self, which: QStyle.StandardPixmap, *circumstances: Any) -> QIcon:
        """Return an icon for Qt's dialogs in the manner of all others."""
        name = _DIALOG_ICONS.get(which)
        return super().standardIcon(which, *circumstances) if name is None else self._icon(name, "muted")


def _leave_room(button: QAbstractButton) -> None:
    """Widen the icon of a button with words by the room beside it: icons paint at the left (`TokenIcon`)."""
    size = button.iconSize()
    worded = bool(button.text()) and not button.icon().isNull()
    if isinstance(button, QToolButton):
        worded = worded and button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    if worded and size.width() == size.height():
        gap = next(gap for kind, gap in _GAP.items() if isinstance(button, kind))
        button.setIconSize(QSize(size.width() + gap, size.height()))
