"""The mouse wheel scrolls; it changes a value only in the field that has the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QSlider, QWidget


class WheelGuard(QObject):
    """Lets sliders, combo and spin boxes without the keyboard pass the wheel on, so that their page scrolls.

    One serves the whole program: the style gives it every such field (`guard`). A filter of the application
    itself would be called from Qt for each event of each object, and comes too late: by then the wheel has
    given the field the keyboard.
    """

    def guard(self, field: QWidget) -> None:
        """Take a field on; it no longer gets the keyboard by the wheel."""
        if field.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the wheel from a field without the keyboard; not accepted, it goes on to the parent."""
        if event.type() != QEvent.Type.Wheel or not isinstance(watched, QWidget) or watched.hasFocus():
            return False
        event.ignore()
        return True


def is_guarded(what: object) -> bool:
    """True for fields whose value a wheel would change."""
    return isinstance(what, QComboBox | QAbstractSpinBox | QSlider)
