"""What a drop would do, said over the window while the pointer carries something."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app.theme.theme import Theme

_INSET = 10
_ICON = 40


class Overlay(QWidget):
    """Covers the window; lets all events through."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._theme = theme
        self._refused = False
        self._holes: list[QRect] = []
        self._spot = QRect()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(self.tr("What dropping will do"))
        self.icon, self.headline, self.detail = QLabel(), QLabel(), QLabel()
        self.headline.setProperty("role", "title")
        self.detail.setProperty("role", "muted")
        self._lay_out()
        self.hide()
        window.installEventFilter(self)

    def _lay_out(self) -> None:
        card = QFrame()
        card.setProperty("role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(32, 24, 32, 24)
        inside.setSpacing(8)
        for label in (self.icon, self.headline, self.detail):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            inside.addWidget(label)
        self.detail.setWordWrap(True)
        card.setMinimumWidth(440)
        card.setMaximumWidth(640)
        outside = QVBoxLayout(self)
        outside.addWidget(card, 0, Qt.AlignmentFlag.AlignCenter)

    def open_at(self, holes: list[QRect], spot: QRect) -> None:
        """Leave these places of the window undimmed, with a frame around `spot`, which may be empty."""
        if (holes, spot) != (self._holes, self._spot):
            self._holes, self._spot = holes, spot
            self.update()

    def say(self, headline: str, detail: str, icon: str, refused: bool = False) -> None:
        """Show a headline and a line below it."""
        self._refused = refused
        token = "negative" if refused else "accent"
        self.icon.setPixmap(self._theme.icon(icon, token).pixmap(_ICON, _ICON))
        self.headline.setText(headline)
        self.detail.setText(detail)
        self.setAccessibleDescription(f"{headline}. {detail}")
        self._cover()
        self.raise_()
        self.show()
        self.update()

    def _cover(self) -> None:
        if (window := self.parentWidget()) is not None:
            self.setGeometry(window.rect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the window."""
        if event.type() == QEvent.Type.Resize:
            self._cover()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim the window and draw the frame of the place to drop on."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(self._theme.color("ground"))
        ground.setAlphaF(0.82)
        dimmed = QRegion(self.rect())
        for hole in self._holes:
            dimmed -= QRegion(hole)
        painter.setClipRegion(dimmed)
        painter.fillRect(self.rect(), ground)
        painter.setClipping(False)
        token = "negative" if self._refused else "accent"
        pen = QPen(self._theme.color(token), 2, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        whole = self.rect().adjusted(_INSET, _INSET, -_INSET, -_INSET)
        frame = whole if self._spot.isEmpty() else self._spot.adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(QRectF(frame), 8, 8)
