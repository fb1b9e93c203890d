"""A display on the full screen, until Escape or the end of its job."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.view.display_canvas import RELEASE, DisplayCanvas
from app.widgets.labels import label

KEYS = (
    f"A click gives mouse and keyboard to the program, {RELEASE} takes them back;"
    " then Esc leaves the full screen."
)


class FullScreen(QWidget):
    """Has the canvas as long as it is shown."""

    left = Signal()
    """The canvas is to go back."""

    def __init__(self, canvas: DisplayCanvas, beside: QWidget) -> None:
        """`beside`: the widget on whose screen it appears."""
        super().__init__(beside.window(), Qt.WindowType.Window)
        self.setWindowTitle("Display")
        keys = label(KEYS, role="small")
        keys.setAlignment(Qt.AlignmentFlag.AlignCenter)
        keys.setContentsMargins(8, 4, 8, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(canvas, 1)
        column.addWidget(keys)
        self.showFullScreen()
        canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.left.emit()
