"""Sites on a plain map of longitude and latitude; no tiles, no network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import units
from app.resources.countries import COUNTRIES, name_of
from app.resources.map_markers import CELL, MapMarker, gathered

if TYPE_CHECKING:
    from app.theme.theme import Theme

_STEPS = (1, 2, 5, 10, 30)
"""Degrees between the lines of the graticule; the widest that gives at least eight lines is taken."""
_MOST_NAMES = 60
_FARTHEST, _NEAREST = 0.8, 400.0
"""Pixels for a degree, at least and at most."""
_MARGIN, _KEY = 44, 30
"""Pixels around the sites, and above them for the key."""


class WorldMap(QWidget):
    """Each site a disc whose area shows its CPUs and whose filled part shows what is free."""

    siteChosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.markers: list[MapMarker] = []
        self._lost = 0
        self._middle, self._scale, self._chosen = QPointF(10, 30), 0.0, ""
        self._seen: list[MapMarker] = []
        self._seen_at = 0.0
        self._fitted = True
        self._grabbed: QPointF | None = None
        self._moved = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(120)
        self.setAccessibleName("Map of sites")
        theme.changed.connect(self.update)

    def show_spots(self, found: list[MapMarker], lost: int) -> None:
        """Show these sites; `lost` is the number of those whose place is not known."""
        first = not self.markers
        self.markers, self._lost = found, lost
        self._seen_at = 0.0
        said = f"Map of {units.count(len(self.markers), 'site')}"
        self.setAccessibleName(f"{said}, {self._lost} without a place" if self._lost else said)
        if first:
            self.fit()
        self.update()

    def choose(self, site: str) -> None:
        """Mark a site."""
        self._chosen = site
        self.update()

    def fit(self) -> None:
        """Show all sites, with some room around them, until the map is moved."""
        self._fitted = True
        if not self.markers or not self.width():
            self._scale = 0.0
            return
        norths = [marker.latitude for marker in self.markers]
        easts = [marker.longitude for marker in self.markers]
        wide, high = max(8.0, max(easts) - min(easts)), max(6.0, max(norths) - min(norths))
        room = self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN - _KEY
        self._scale = max(_FARTHEST, min(room[0] / wide, room[1] / high))
        north = (min(norths) + max(norths)) / 2 + _KEY / 2 / self._scale  # the key stands above the sites
        self._middle = QPointF((min(easts) + max(easts)) / 2, north)
        self.update()

    # --- places

    def seen(self) -> list[MapMarker]:
        """Return what is painted: sites, and squares with several of them; largest first."""
        if self._seen_at != self._pixels():
            self._seen_at = self._pixels()
            self._seen = gathered(self.markers, CELL / self._seen_at)
        return self._seen

    def _pixels(self) -> float:
        return self._scale or min(self.width() / 360, self.height() / 180)

    def _at(self, north: float, east: float) -> QPointF:
        scale, middle = self._pixels(), self._middle
        return QPointF(
            self.width() / 2 + (east - middle.x()) * scale, self.height() / 2 - (north - middle.y()) * scale
        )

    def spot_at(self, place: QPointF) -> MapMarker | None:
        """Return the site under a point; of several the smallest, which lies on top."""
        for marker in reversed(self.seen()):
            away = self._at(marker.latitude, marker.longitude) - place
            if math.hypot(away.x(), away.y()) <= marker.radius + 2:
                return marker
        return None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show all sites in the new size too."""
        super().resizeEvent(event)
        if self._fitted:
            self.fit()

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint graticule, countries and sites."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("surface"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._graticule(painter)
        self._crosses(painter)
        view = QRectF(self.rect()).adjusted(-30, -30, 30, 30)
        for marker in self.seen():
            at = self._at(marker.latitude, marker.longitude)
            if view.contains(at):
                self._spot(painter, marker, at)
        self._names(painter)
        self._key(painter)

    def _graticule(self, painter: QPainter) -> None:
        across = self.width() / self._pixels()
        step = next((step for step in reversed(_STEPS) if across / step >= 8), _STEPS[0])
        painter.setFont(self._theme.font("small"))
        for degree in range(-180, 181, step):
            for upright in (True, False):
                if not upright and abs(degree) > 90:
                    continue
                at = self._at(0 if upright else degree, degree if upright else 0)
                painter.setPen(self._theme.color("border" if degree else "border-strong"))
                if upright:
                    painter.drawLine(QPointF(at.x(), 0), QPointF(at.x(), self.height()))
                else:
                    painter.drawLine(QPointF(0, at.y()), QPointF(self.width(), at.y()))
                painter.setPen(self._theme.color("faint"))
                said = _degrees(degree, "EW" if upright else "NS")
                if upright or 44 < at.y() < self.height() - 20:
                    foot = QPointF(at.x() + 3, self.height() - 5)
                    painter.drawText(foot if upright else QPointF(4, at.y() - 3), said)

    def _here(self) -> set[str]:
        return {marker.country.upper() for marker in self.markers}

    def _crosses(self, painter: QPainter) -> None:
        """A small cross marks every country without sites, for orientation."""
        here = self._here()
        painter.setPen(self._theme.color("border-strong"))
        for code, (north, east, _) in COUNTRIES.items():
            if code not in here:
                at = self._at(north, east)
                painter.drawLine(at - QPointF(2, 0), at + QPointF(2, 0))
                painter.drawLine(at - QPointF(0, 2), at + QPointF(0, 2))

    def _names(self, painter: QPainter) -> None:
        """Name the countries that have sites, where the names do not cover each other."""
        taken: list[QRectF] = []
        font = self._theme.font("small")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        for code in sorted(self._here() & COUNTRIES.keys()):
            north, east, name = COUNTRIES[code]
            at, width = self._at(north, east), metrics.horizontalAdvance(name) + 12
            box = QRectF(at.x() - width / 2, at.y() - 46, width, 16)
            if len(taken) < _MOST_NAMES and not any(box.intersects(other) for other in taken):
                taken.append(box)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self._theme.color("surface"))
                painter.drawRoundedRect(box, 8, 8)
                painter.setPen(self._theme.color("muted"))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)

    def _spot(self, painter: QPainter, marker: MapMarker, at: QPointF) -> None:
        box = QRectF(at.x() - marker.radius, at.y() - marker.radius, 2 * marker.radius, 2 * marker.radius)
        accent = QColor(self._theme.color("accent"))
        painter.setPen(accent)
        painter.setBrush(self._theme.color("accent-soft"))
        painter.drawEllipse(box)
        if marker.total and marker.free:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(accent)
            painter.drawPie(box, 90 * 16, -round(5760 * marker.free / marker.total))
        if marker.sites > 1:
            self._number(painter, marker, at)
        if marker.site == self._chosen and marker.sites == 1:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._theme.color("text"))
            painter.drawEllipse(box.adjusted(-4, -4, 4, 4))

    def _number(self, painter: QPainter, marker: MapMarker, at: QPointF) -> None:
        """The number of sites, on a ground of its own so that it can be read on both colours."""
        said = f"{marker.sites:,}"
        half = QFontMetrics(self._theme.font("small")).horizontalAdvance(said) / 2 + 4
        box = QRectF(at.x() - half, at.y() - 8, 2 * half, 16)
        painter.setFont(self._theme.font("small"))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("raised"))
        painter.drawRoundedRect(box, 8, 8)
        painter.setPen(self._theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, said)

    def _key(self, painter: QPainter) -> None:
        said = "Area: CPUs in all. Filled: free. Wheel zooms, dragging moves."
        if self._lost:
            said += f" {units.count(self._lost, 'site')} without a known place."
        painter.setFont(self._theme.font("small"))
        box = QRectF(8, 6, QFontMetrics(painter.font()).horizontalAdvance(said) + 16, 22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("raised"))
        painter.drawRoundedRect(box, 6, 6)
        painter.setPen(self._theme.color("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, said)

    # --- mouse

    def event(self, event: QEvent) -> bool:
        """Tell the site under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            marker = self.spot_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), _told(marker) if marker else "", self)
            return True
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer."""
        self._fitted = False
        before, scale = event.position(), self._pixels()
        self._scale = max(_FARTHEST, min(_NEAREST, scale * 1.0015 ** event.angleDelta().y()))
        shift = (before - QPointF(self.width() / 2, self.height() / 2)) * (1 / scale - 1 / self._scale)
        self._middle += QPointF(shift.x(), -shift.y())
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to move the map, or choose a site."""
        self._grabbed, self._moved = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the map."""
        if self._grabbed is not None and event.buttons():
            away = event.position() - self._grabbed
            self._fitted = False
            self._moved = self._moved or away.manhattanLength() > 3
            self._middle -= QPointF(away.x(), -away.y()) / self._pixels()
            self._grabbed = event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the site under the pointer, unless the map was moved."""
        marker = None if self._moved else self.spot_at(event.position())
        self._grabbed = None
        if marker is not None:
            if marker.sites > 1:
                self._approach(marker)
            else:
                self.choose(marker.site)
                self.siteChosen.emit(marker.site)

    def _approach(self, marker: MapMarker) -> None:
        """Go nearer to sites that stand together."""
        self._fitted = False
        self._middle, self._scale = (
            QPointF(marker.longitude, marker.latitude),
            min(_NEAREST, self._pixels() * 3),
        )
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all sites again."""
        self.fit()


def _degrees(degree: int, letters: str) -> str:
    return f"{abs(degree)}°{letters[degree < 0] if degree else ''}"


def _told(marker: MapMarker) -> str:
    where = f", {name_of(marker.country)}" if marker.country else ""
    name = marker.site if marker.sites == 1 else f"{marker.sites:,} sites; click to come nearer"
    return (
        f"{name}{where}\n{marker.free:,} of {units.count(marker.total, 'CPU')} free\n"
        f"{units.count(marker.elements, 'computing element')}"
    )
