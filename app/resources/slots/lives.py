"""Where a glidein and its two slots are in their lives, drawn as lines of states (CB-UI-10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.resources.slots import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.theme.theme import Theme
    from broker_core.wire.slots import GlideinView, SlotView

_HIGH, _GAP, _ACROSS, _EDGE, _WIDEST = 26.0, 10.0, 22.0, 4.0, 132.0
"""Of a box, between two lines, between two boxes, at the edge, and of a box at most; pixels."""
_DOT = 9.0
"""Across a state without its word, where there is no room for words."""
_MIDDLE = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class LifeLine:
    """One line: its name, its states with their words, the one it is in, and how that looks."""

    name: str
    states: Mapping[str, str]
    now: str
    token: str
    about: str
    back: frozenset[int] = frozenset()
    """Places of states from which there is a way back to the one before."""


def lines_of(glidein: GlideinView) -> list[LifeLine]:
    """Return the lines of a glidein and of its two slots."""
    names = {state: style.word for state, style in words.STATES.items()}
    about = f"{glidein.site}: {words.ABOUT.get(glidein.state, glidein.state)}"
    token = words.style(glidein).token
    first = LifeLine("Glidein", names, glidein.state, token, about, frozenset({5, 6}))
    return [first, *map(_slot_line, glidein.slots)]


def _slot_line(slot: SlotView) -> LifeLine:
    """A free slot's own states; those of the job where it is taken."""
    name = words.ROLES.get(slot.role, slot.role)
    states = {**words.SLOT_STATES, **words.STEPS}
    del states["Claimed"]
    now = slot.step if slot.taken else slot.state
    token = "state-Running" if slot.taken else "positive" if slot.state == "Free" else "muted"
    return LifeLine(name, states, now, token, words.slot_sentence(slot), frozenset({5}))


class SlotLives(QWidget):
    """Draws the lines below each other; with words where they fit, else with dots and the present word."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.lines: list[LifeLine] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._fit)
        self.show_glidein(None)

    def show_glidein(self, glidein: GlideinView | None) -> None:
        """Draw the lives of a glidein and its slots; None: nothing."""
        self.lines = [] if glidein is None else lines_of(glidein)
        self.setAccessibleName(". ".join(line.about.rstrip(".") for line in self.lines) or "No glidein")
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(int(3 * self._high() + 2 * _GAP + 2 * _EDGE))
        self.update()

    def _high(self) -> float:
        return max(_HIGH, self._measured("small").height() + 8)

    def _measured(self, font: str) -> QFontMetricsF:
        return QFontMetricsF(self._theme.font(font))

    def _margin(self) -> float:
        """Where the boxes begin: behind the longest name."""
        names = [line.name for line in self.lines] or [""]
        return _EDGE + max(map(self._measured("small").horizontalAdvance, names)) + 12

    def boxes(self, line: int) -> list[QRectF]:
        """Return the boxes of the states of a line, in widget coordinates."""
        count, left, high = len(self.lines[line].states), self._margin(), self._high()
        pitch = min((self.width() - left - _EDGE + _ACROSS) / count, _WIDEST + _ACROSS)
        top = _EDGE + line * (high + _GAP)
        return [QRectF(left + at * pitch, top, pitch - _ACROSS, high) for at in range(count)]

    def worded(self) -> bool:
        """Return whether the words of all states fit into their boxes."""
        longest = max(
            (self._measured("medium").horizontalAdvance(word) for line in self.lines for word in
             line.states.values()), default=0.0,
        )  # fmt: skip
        return all(self.boxes(number)[0].width() >= longest + 8 for number in range(len(self.lines)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw each line: its name, the ways, the states."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        worded = self.worded()
        for number, line in enumerate(self.lines):
            boxes = self.boxes(number)
            painter.setFont(self._theme.font("small"))
            painter.setPen(self._theme.color("muted"))
            name = QRectF(_EDGE, boxes[0].top(), self._margin() - _EDGE, boxes[0].height())
            painter.drawText(name, _LEFT, line.name)
            self._draw_line(painter, line, boxes) if worded else self._draw_dots(painter, line, boxes)

    def _draw_line(self, painter: QPainter, line: LifeLine, boxes: list[QRectF]) -> None:
        for at, (state, word) in enumerate(line.states.items()):
            if at:
                self._draw_way(painter, boxes[at - 1], boxes[at], at in line.back)
            self._draw_box(painter, boxes[at], word, line.token if state == line.now else "")

    def _draw_way(self, painter: QPainter, start: QRectF, end: QRectF, back: bool) -> None:
        color = self._theme.color("border-strong")
        painter.setPen(QPen(color, 1))
        left, right = (
            QPointF(start.right() + 4, start.center().y()),
            QPointF(end.left() - 4, end.center().y()),
        )
        painter.drawLine(left, right)
        for tip, turn in ((right, -1), (left, 1)) if back else ((right, -1),):
            painter.drawLine(tip, tip + QPointF(4 * turn, -3))
            painter.drawLine(tip, tip + QPointF(4 * turn, 3))

    def _draw_box(self, painter: QPainter, box: QRectF, word: str, token: str) -> None:
        theme = self._theme
        painter.setPen(QPen(theme.color(token or "border"), 1.6 if token else 1))
        painter.setBrush(theme.color(f"{token}-soft" if _has_soft(token) else "surface"))
        painter.drawRoundedRect(box, 6, 6)
        font = QFont(theme.font("small"))
        font.setWeight(QFont.Weight.DemiBold if token else QFont.Weight.Normal)
        painter.setFont(font)
        painter.setPen(theme.color("text" if token else "faint"))
        painter.drawText(box, _MIDDLE, word)

    def _draw_dots(self, painter: QPainter, line: LifeLine, boxes: list[QRectF]) -> None:
        theme, step = self._theme, 2 * _DOT
        left, middle = boxes[0].left(), boxes[0].center().y()
        for at, state in enumerate(line.states):
            here = state == line.now
            painter.setPen(QPen(theme.color(line.token if here else "border-strong"), 1.4))
            painter.setBrush(theme.color(line.token) if here else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(left + at * step + _DOT / 2, middle), _DOT / 2, _DOT / 2)
        painter.setPen(theme.color("text"))
        right = left + len(line.states) * step + 4
        room = QRectF(right, boxes[0].top(), self.width() - right, boxes[0].height())
        painter.drawText(room, _LEFT, line.states.get(line.now, ""))

    def event(self, event: QEvent) -> bool:
        """Tell about the line under the mouse."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = int((event.pos().y() - _EDGE) // (self._high() + _GAP))
            about = self.lines[at].about if 0 <= at < len(self.lines) else ""
            QToolTip.showText(event.globalPos(), about, self) if about else QToolTip.hideText()
            return True
        return super().event(event)


def _has_soft(token: str) -> bool:
    return token.startswith("state-") or token in ("positive", "warning", "negative", "accent")
