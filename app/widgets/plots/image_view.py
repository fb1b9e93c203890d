"""An image, fitted to the pane or zoomed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".ppm", ".pgm", ".pbm", ".xpm")
_MOST_PIXELS = 100_000_000


def decode(content: bytes) -> tuple[QImage | None, str]:
    """Return the image, or None and why it cannot be shown. Safe in a thread."""
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    if size.width() * size.height() > _MOST_PIXELS:
        return None, f"It has {size.width()} × {size.height()} pixels, too many to show here."
    image = reader.read()
    return (None, reader.errorString()) if image.isNull() else (image, "")


class ImageView(QWidget):
    """Scaled to fit at first; buttons and Ctrl+wheel zoom, dragging moves."""

    def __init__(self, context: AppContext, parent: QWidget | None = None, *, enlarge: bool = False) -> None:
        """`enlarge`: a small one fills the room, too."""
        super().__init__(parent)
        self.canvas = _Canvas(context)
        self.canvas.most_fit = 32.0 if enlarge else 1.0
        self.told = label(role="small", fluid=True)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.addWidget(self.told, 1)
        for icon, said, does in (
            ("zoom-out", "Zoom out", lambda: self.zoom(0.8)),
            ("zoom-in", "Zoom in", lambda: self.zoom(1.25)),
            ("maximize-2", "Fit to the pane", self.fit),
        ):
            button = QToolButton()
            button.setIcon(context.theme.icon(icon))
            button.setToolTip(said)
            button.setAccessibleName(said)
            button.clicked.connect(lambda _=False, does=does: does())
            bar.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.canvas, 1)
        self.canvas.told = self._tell

    def show_image(self, image: QImage) -> None:
        """Show an image; one of the same size keeps its zoom, so that a growing series can be watched."""
        same = image.size() == self.canvas.image.size()
        self.canvas.image = image
        if not same:
            self.fit()
        self.canvas.setAccessibleName(f"Image, {image.width()} by {image.height()} pixels")
        self.canvas.update()
        self._tell()

    def zoom(self, by: float) -> None:
        """Make it larger or smaller."""
        self.canvas.zoom(by, QPointF(self.canvas.rect().center()))

    def fit(self) -> None:
        """Show all of it."""
        self.canvas.scale = 0.0
        self.canvas.update()
        self._tell()

    def show_nothing(self) -> None:
        """Forget the image."""
        self.canvas.image = QImage()
        self.canvas.update()
        self.told.setText("")

    def _tell(self) -> None:
        size = self.canvas.image.size()
        self.told.setText(f"{size.width()} × {size.height()} pixels, {self.canvas.shown_scale() * 100:.0f} %")


class _Canvas(QWidget):
    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.image = QImage()
        self.scale, self.most_fit = 0.0, 1.0
        self._offset, self._last = QPointF(), QPointF()
        self.told: Callable[[], None] = lambda: None
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        context.theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(320, 240)

    def shown_scale(self) -> float:
        if self.scale or self.image.isNull():
            return self.scale or 1.0
        across, down = self.image.width(), self.image.height()
        return min(self.most_fit, (self.width() - 16) / across, (self.height() - 16) / down)

    def _box(self) -> QRectF:
        scale = self.shown_scale()
        box = QRectF(0, 0, self.image.width() * scale, self.image.height() * scale)
        box.moveCenter(QRectF(self.rect()).center() + (self._offset if self.scale else QPointF()))
        return box

    def zoom(self, by: float, about: QPointF) -> None:
        before, box = self.shown_scale(), self._box()
        after = max(0.02, min(before * by, 32.0))
        middle = about + (box.center() - about) * (after / before)
        self.scale, self._offset = after, middle - QRectF(self.rect()).center()
        self.update()
        self.told()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._context.theme.color("sunken"))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.shown_scale() < 3)
        painter.drawImage(self._box(), self.image)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1.25 if event.angleDelta().y() > 0 else 0.8, event.position())
            event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._last = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.scale:
            self._offset += event.position() - self._last
            self._last = event.position()
            self.update()
