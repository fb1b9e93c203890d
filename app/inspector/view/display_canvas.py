"""The picture of a program's display, with the mouse and keyboard that go back to it."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from app.inspector.view.display_keys import symbol_of

RELEASE = "Ctrl+Alt+G"
"""What gives mouse and keyboard back, as QEMU has it."""
_BUTTONS = {Qt.MouseButton.LeftButton: 1, Qt.MouseButton.MiddleButton: 2, Qt.MouseButton.RightButton: 3}
_UP, _DOWN, _LEFT, _RIGHT = 4, 5, 6, 7
_STEP = 120
"""Of a wheel, in eighths of a degree."""
_MOST_STEPS = 20
_MOVES_MS = 15
_FADED = 0.4
_FRAME = 3
_LEAST = QSize(160, 120)


class DisplayCanvas(QWidget):
    """Paints the newest picture as large as there is room for; larger than it is where that is wanted."""

    painted = Signal()
    """The newest picture is on the screen."""
    captured = Signal(bool)
    """Mouse and keyboard go to the program from now on, or no longer."""
    moved = Signal(int, int)
    """The pointer is at this pixel of the display."""
    pressed = Signal(int, bool)
    """A button, as X11 counts them, went down or up."""
    typed = Signal(int, bool)
    """A key, by its symbol in X11, went down or up."""

    def __init__(self) -> None:
        super().__init__()
        self.image = QImage()
        self._opacity = 1.0
        self._most_scale = 1.0
        self.captures = False
        """Mouse and keyboard go to the program."""
        self._down: dict[int, int] = {}
        self._turned = QPoint()
        self._pending: QPoint | None = None
        """Where the pointer is, not told yet."""
        self._moving = QTimer(self, singleShot=True, interval=_MOVES_MS)
        self._moving.timeout.connect(self._move_on)
        self._ground = self._focus = QColor("black")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(_LEAST)
        self.setAccessibleName("Display of the program")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def show_image(self, image: QImage) -> None:
        """Show a picture."""
        same = image.size() == self.image.size()
        self.image = image
        if not same:
            self.updateGeometry()
        self.update()

    def set_colors(self, ground: QColor, focus: QColor) -> None:
        """The color beside the picture, and that of the frame around one that has the keyboard."""
        self._ground, self._focus = ground, focus
        self.update()

    def fade(self, *, on: bool) -> None:
        """Show the picture as an old one."""
        self._opacity = _FADED if on else 1.0
        self.update()

    def set_enlarged(self, *, on: bool) -> None:
        """Enlarge a picture that is smaller than the room, in its middle; or show it as it is, above."""
        self._most_scale = math.inf if on else 1.0
        self.update()

    def capture(self, *, on: bool) -> None:
        """Have mouse and keyboard go to the program, or no longer."""
        if on == self.captures or (on and self.image.isNull()):
            return
        self.captures = on
        self._down.clear()
        self._pending = None
        self.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)
        self.update()
        if on:
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.captured.emit(on)

    def shown_at(self) -> QRectF:
        """Where the picture is."""
        if self.image.isNull():
            return QRectF()
        ratio = self.devicePixelRatioF()
        width, height = self.image.width() / ratio, self.image.height() / ratio
        scale = min(self._most_scale, self.width() / width, self.height() / height)
        left, below = (self.width() - width * scale) / 2, self.height() - height * scale
        top = below / 2 if self._most_scale > 1 else 0
        return QRectF(round(left), round(top), width * scale, height * scale)

    def pixel_at(self, position: QPointF) -> QPoint:
        """The pixel of the display below a position; the nearest one beside the picture."""
        box = self.shown_at()
        x = (position.x() - box.left()) / max(1.0, box.width()) * self.image.width()
        y = (position.y() - box.top()) / max(1.0, box.height()) * self.image.height()
        most_x, most_y = max(0, self.image.width() - 1), max(0, self.image.height() - 1)
        return QPoint(max(0, min(int(x), most_x)), max(0, min(int(y), most_y)))

    def sizeHint(self) -> QSize:
        """As high as the picture is in the width that there is."""
        if self.image.isNull():
            return _LEAST
        size = self.image.size() / self.devicePixelRatioF()
        return size.scaled(self.width(), size.height(), Qt.AspectRatioMode.KeepAspectRatio).boundedTo(size)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._ground)
            if self.image.isNull():
                return
            box = self.shown_at()
            exact = round(box.width() * self.devicePixelRatioF()) == self.image.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not exact)
            painter.setOpacity(self._opacity)
            painter.drawImage(box, self.image)
            if self.captures or self.hasFocus():
                width = _FRAME if self.captures else 1
                painter.setPen(QPen(self._focus, width))
                inside = (width - 1) / 2
                painter.drawRect(box.adjusted(inside, inside, -inside - 1, -inside - 1))
        self.painted.emit()

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.capture(on=True)
        self._move(event.position())
        self._press(event.button(), down=True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._move(event.position())
        self._press(event.button(), down=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._move(event.position())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.captures:
            super().wheelEvent(event)
            return
        self._turned += event.angleDelta()
        for turned, less, more in ((self._turned.y(), _DOWN, _UP), (self._turned.x(), _RIGHT, _LEFT)):
            for _ in range(min(_MOST_STEPS, abs(turned) // _STEP)):
                for down in (True, False):
                    self.pressed.emit(more if turned > 0 else less, down)
        rest = [turned - int(turned / _STEP) * _STEP for turned in (self._turned.x(), self._turned.y())]
        self._turned = QPoint(*rest)
        event.accept()

    def _move(self, position: QPointF) -> None:
        if self.captures:
            self._pending = self.pixel_at(position)
            if not self._moving.isActive():
                self._move_on()

    def _move_on(self) -> None:
        """Tell where the pointer is now: a slow network gets no queue of where it was."""
        pixel, self._pending = self._pending, None
        if pixel is not None:
            self.moved.emit(pixel.x(), pixel.y())
            self._moving.start()

    def _press(self, button: Qt.MouseButton, *, down: bool) -> None:
        self._move_on()
        if self.captures and button in _BUTTONS:
            self.pressed.emit(_BUTTONS[button], down)

    # Keyboard

    def event(self, event: QEvent) -> bool:
        """Shortcuts of the window are keys of the program while it has the keyboard."""
        if self.captures and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        return not self.captures and super().focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.captures and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.capture(on=True)
        elif not self.captures:
            super().keyPressEvent(event)
        elif _releases(event):
            self.capture(on=False)
        else:
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            symbol = symbol_of(event.key(), event.text(), shift=shift)
            self._move_on()
            if symbol is not None:
                self._down[event.nativeScanCode() or event.key()] = symbol
                self.typed.emit(symbol, True)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.captures:
            super().keyReleaseEvent(event)
        elif not event.isAutoRepeat():
            symbol = self._down.pop(event.nativeScanCode() or event.key(), None)
            if symbol is not None:
                self.typed.emit(symbol, False)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()
        self.capture(on=False)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.capture(on=False)


def _releases(event: QKeyEvent) -> bool:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    return event.key() == Qt.Key.Key_G and event.modifiers() & both == both
