"""Bundled line icons, drawn in a token's colour at the moment of painting."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from broker_core.client import shipped

if TYPE_CHECKING:
    from app.theme.theme import DeskTheme

_THIN = b'stroke-width="1.75"'


@lru_cache(maxsize=512)
def _renderer(name: str, color: str) -> QSvgRenderer:
    source = shipped.data(f"icons/{name}.svg")
    source = source.replace(b"currentColor", color.encode()).replace(b'stroke-width="2"', _THIN)
    return QSvgRenderer(QByteArray(source))


class TokenIcon(QIconEngine):
    """Paints one icon in the colour that its token has now, so that a new theme needs no new icons."""

    def __init__(self, theme: DeskTheme, name: str, token: str) -> None:
        super().__init__()
        self._theme, self._name, self._token = theme, name, token
        shipped_name = f"icons/{name}.svg"
        if not shipped.exists(shipped_name):
            raise FileNotFoundError(shipped_name)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Paint into `rect`; a disabled icon is faint."""
        token = "faint" if mode is QIcon.Mode.Disabled else self._token
        _renderer(self._name, self._theme.color(token).name()).render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return a picture of `size` device pixels."""
        made = QPixmap(size)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return made

    def clone(self) -> QIconEngine:
        """Return an equal engine, as Qt asks when an icon is changed."""
        return TokenIcon(self._theme, self._name, self._token)
