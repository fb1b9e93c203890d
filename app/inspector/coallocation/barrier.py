"""The components of a job as lanes that lead to one barrier, and behind it the ranks that compute as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.inspector import job_times
from app.units import binary_size, count
from broker_core.jobs.components import ComponentStanding

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.jobs.components import CoallocationStory, ComponentStory

MILESTONES = ("Submitted", "Started", "MPI_Init")
_WORLD, _SHORT_WORLD = "MPI_COMM_WORLD", "World"
_COLORS = 6
_PARTS = (0.15, 0.44, 0.73)
"""Where the milestones are on the way to the barrier."""
_DISC, _CELL, _GAP, _EDGE = 5.0, 18.0, 3.0, 6.0
"""Radius of a milestone, least edge of the square of a rank, gap between two, and margin; pixels."""
_OPEN = 12.0
"""Half of the gap that an open barrier has for each lane; pixels."""
_MIDDLE = Qt.AlignmentFlag.AlignCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where everything is, in pixels; `lanes` are the tops of the lanes."""

    milestones: tuple[float, float, float]
    gate: float
    world: QRectF
    lanes: tuple[float, ...]
    line: float
    """Height of a line of text."""
    lane: float
    """Height of a lane."""


class BarrierPicture(QWidget):
    """A lane for each component up to MPI_Init, then the barrier that lets all go at once."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.story: CoallocationStory | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        context.theme.changed.connect(self._fit)

    def show_story(self, story: CoallocationStory | None) -> None:
        """Draw how the components stand; None: nothing."""
        self.story = story
        self.setAccessibleName(in_words(story) if story is not None else "")
        self._fit()

    @property
    def gate_words(self) -> str:
        """What stands on the barrier: how many of how many are there."""
        if self.story is None:
            return ""
        return f"{self.story.gathered} of {len(self.story.components)}"

    def _fit(self) -> None:
        count = len(self.story.components) if self.story is not None else 0
        line = self._line()
        self.setFixedHeight(int(2 * line + count * (self._lane(line) + _EDGE) + 3 * _EDGE))
        self.update()

    def _line(self) -> float:
        return QFontMetricsF(self._context.theme.font("small")).height() + 2

    def _lane(self, line: float) -> float:
        return 2 * line + 2 * _DISC + 3 * _EDGE

    def _layout(self) -> _Layout:
        line = self._line()
        lane = self._lane(line)
        count = len(self.story.components) if self.story is not None else 0
        whole = self.width() - 2 * _EDGE
        world = min(max(84.0, whole * 0.34), self._world_wanted())
        ahead = whole - world - 3 * _EDGE
        milestones = tuple(_EDGE + ahead * part for part in _PARTS)
        gate = _EDGE + ahead
        top = line + 2 * _EDGE
        lanes = tuple(top + number * (lane + _EDGE) for number in range(count))
        box = QRectF(gate + 3 * _EDGE, top - _EDGE, world, count * (lane + _EDGE) + _EDGE)
        return _Layout((milestones[0], milestones[1], milestones[2]), gate, box, lanes, line, lane)

    def _world_wanted(self) -> float:
        """Pixels with which every rank has a square of its own, and the heading is whole."""
        edge, _ = self._cell()
        lanes = self.story.components if self.story is not None else ()
        most = max((one.cpus for one in lanes), default=0)
        measured = QFontMetricsF(self._context.theme.font("small"))
        heading = measured.horizontalAdvance(_WORLD) + self._pill()
        traffic = max((measured.horizontalAdvance(_traffic(one)) for one in lanes), default=0.0) + 4 * _EDGE
        return max(most * (edge + _GAP) - _GAP + 3 * _EDGE, heading, traffic)

    def _pill(self) -> float:
        """Width of the words on the barrier with their ground."""
        return QFontMetricsF(self._context.theme.font("strong")).horizontalAdvance(self.gate_words) + 14

    def _cell(self) -> tuple[float, float]:
        """Width and height of the square of a rank, of which the last one has the longest number."""
        measured = QFontMetricsF(self._context.theme.font("small"))
        last = sum(one.cpus for one in self.story.components) - 1 if self.story is not None else 0
        wide = measured.horizontalAdvance(str(max(0, last))) + 6
        return max(_CELL, wide), max(_CELL, measured.height() + 2)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the world, the lanes, and the barrier over them."""
        if self.story is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        at = self._layout()
        self._draw_heads(painter, at)
        self._draw_world(painter, at)
        for one, top in zip(self.story.components, at.lanes, strict=True):
            self._draw_lane(painter, at, one, top)
        self._draw_gate(painter, at)

    def _draw_heads(self, painter: QPainter, at: _Layout) -> None:
        theme = self._context.theme
        font = theme.font("small")
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        step = at.milestones[1] - at.milestones[0]
        for middle, words in zip(at.milestones, MILESTONES, strict=True):
            painter.drawText(QRectF(middle - step / 2, _EDGE / 2, step, at.line), _MIDDLE, words)
        left = max(at.world.left(), at.gate + self._pill() / 2 + 4)
        head = QRectF(left, _EDGE / 2, at.world.right() - left, at.line)
        fits = QFontMetricsF(font).horizontalAdvance(_WORLD) < head.width()
        painter.drawText(head, _MIDDLE, _WORLD if fits else _SHORT_WORLD)

    def _draw_world(self, painter: QPainter, at: _Layout) -> None:
        theme, story = self._context.theme, self.story
        released = story is not None and story.released is not None
        pen = QPen(theme.color("state-Running" if released else "border-strong"), 1.5 if released else 1)
        if not released:
            pen.setDashPattern([3, 3])
        painter.setPen(pen)
        painter.setBrush(theme.color("state-Running-soft") if released else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(at.world, 8, 8)

    def _draw_lane(self, painter: QPainter, at: _Layout, one: ComponentStory, top: float) -> None:
        theme = self._context.theme
        self._draw_name(painter, at, one, top)
        middle = top + at.line + _EDGE + _DISC
        times = (one.submitted, one.started, one.gathered)
        reached = max((number for number, time in enumerate(times) if time is not None), default=-1)
        color = theme.color("negative") if _failed(one) else self.color(one)
        ahead = QPen(theme.color("border-strong"), 2)
        ahead.setDashPattern([2, 3])
        painter.setPen(ahead)
        painter.drawLine(QPointF(at.milestones[0], middle), QPointF(at.world.left(), middle))
        if reached >= 0:
            painter.setPen(QPen(color, 3))
            end = at.milestones[reached]
            if reached == 2:
                end = at.world.left() if one.released is not None else at.gate - 4
            painter.drawLine(QPointF(at.milestones[0], middle), QPointF(end, middle))
        for x, time in zip(at.milestones, times, strict=True):
            self._draw_milestone(painter, at, QPointF(x, middle), time, color)
        if _failed(one):
            where = at.world.left() if one.released is not None else at.milestones[max(0, reached)]
            self._draw_cross(painter, QPointF(where, middle), color)
        self._draw_ranks(painter, at, one, middle)

    def _draw_name(self, painter: QPainter, at: _Layout, one: ComponentStory, top: float) -> None:
        """The site with its processors at the left, what it does at the right, up to the barrier."""
        theme = self._context.theme
        room = QRectF(_EDGE, top, at.gate - 3 * _EDGE, at.line)
        strong, small = theme.font("strong"), theme.font("small")
        cpus = f"  {count(one.cpus, 'CPU')}"
        beside = QFontMetricsF(small).horizontalAdvance(cpus)
        behind = min(QFontMetricsF(small).horizontalAdvance(one.words), room.width() * 0.4) + _EDGE
        measured = QFontMetricsF(strong)
        name = measured.elidedText(one.site, Qt.TextElideMode.ElideRight, room.width() - beside - behind)
        painter.setFont(strong)
        painter.setPen(theme.color("text"))
        painter.drawText(room, _LEFT, name)
        taken = measured.horizontalAdvance(name)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(room.adjusted(taken, 0, 0, 0), _LEFT, cpus)
        rest = room.adjusted(taken + beside + _EDGE, 0, 0, 0)
        standing = QFontMetricsF(small).elidedText(one.words, Qt.TextElideMode.ElideRight, rest.width())
        painter.setPen(theme.color("negative" if _failed(one) else "muted"))
        painter.drawText(rest, _RIGHT, standing)

    def _draw_milestone(
        self, painter: QPainter, at: _Layout, middle: QPointF, time: float | None, color: QColor
    ) -> None:
        theme = self._context.theme
        painter.setPen(QPen(color if time is not None else theme.color("border-strong"), 2))
        painter.setBrush(color if time is not None else theme.color("surface"))
        painter.drawEllipse(middle, _DISC, _DISC)
        if time is not None:
            step = at.milestones[1] - at.milestones[0]
            below = QRectF(middle.x() - step / 2, middle.y() + _DISC + 2, step, at.line)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("muted"))
            painter.drawText(below, _MIDDLE, job_times.clock(time))

    def _draw_cross(self, painter: QPainter, middle: QPointF, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(middle, _DISC + 2, _DISC + 2)
        painter.setPen(QPen(self._context.theme.color("surface"), 2))
        for turn in (1, -1):
            wing = QPointF(_DISC * 0.5, turn * _DISC * 0.5)
            painter.drawLine(middle - wing, middle + wing)

    def _draw_ranks(self, painter: QPainter, at: _Layout, one: ComponentStory, middle: float) -> None:
        """A square for each rank, or one long one where there are many."""
        theme = self._context.theme
        painter.setFont(theme.font("small"))
        inside = one.released is not None and not _failed(one)
        color = theme.color("negative") if _failed(one) else self.color(one)
        for box, words in self.cells(at, one, middle):
            painter.setPen(QPen(color if inside or _failed(one) else theme.color("border-strong"), 1.2))
            painter.setBrush(color if inside else theme.color("surface"))
            painter.drawRoundedRect(box, 3, 3)
            painter.setPen(theme.color("surface" if inside else "muted"))
            painter.drawText(box, _MIDDLE, words)
        self._draw_traffic(painter, at, one, middle)

    def _draw_traffic(self, painter: QPainter, at: _Layout, one: ComponentStory, middle: float) -> None:
        """Below its ranks: what they have sent to those of other sites, and were sent."""
        left, high = at.world.left() + 2 * _EDGE, self._cell()[1]
        room = QRectF(left, middle + high / 2 + 1, at.world.right() - left - _EDGE, at.line)
        font = self._context.theme.font("small")
        painter.setPen(self._context.theme.color("muted"))
        words = _traffic(one)
        if QFontMetricsF(font).horizontalAdvance(words) > room.width():
            words = words.partition("  ")[0]  # the other half is what the others have sent
        painter.drawText(room, _LEFT, words)

    def cells(self, at: _Layout, one: ComponentStory, middle: float) -> Iterator[tuple[QRectF, str]]:
        """The squares of the ranks of a component, each with what stands in it."""
        edge, high = self._cell()
        room = at.world.width() - 3 * _EDGE
        left, top = at.world.left() + 2 * _EDGE, middle - high / 2
        if one.cpus * (edge + _GAP) - _GAP <= room:
            for number in range(one.cpus):
                yield QRectF(left + number * (edge + _GAP), top, edge, high), str(one.first_rank + number)
        else:
            yield QRectF(left, top, room, high), one.ranks

    def _draw_gate(self, painter: QPainter, at: _Layout) -> None:
        """Closed: one bar across all lanes. Open: its two ends, with the way between them free."""
        story, theme = self.story, self._context.theme
        if story is None or not at.lanes:
            return
        token = self.gate_token()
        top, bottom = at.world.top(), at.world.bottom()
        painter.setPen(QPen(theme.color(token), 5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        if story.released is None:
            painter.drawLine(QPointF(at.gate, top), QPointF(at.gate, bottom))
        else:
            middles = [lane + at.line + _EDGE + _DISC for lane in at.lanes]
            tops = [top, *(middle + _OPEN for middle in middles)]
            for start, end in zip(tops, [*(middle - _OPEN for middle in middles), bottom], strict=True):
                painter.drawLine(QPointF(at.gate, start), QPointF(at.gate, end))
        self._draw_gate_words(painter, at, token, bottom)

    def _draw_gate_words(self, painter: QPainter, at: _Layout, token: str, bottom: float) -> None:
        theme, story = self._context.theme, self.story
        font, wide = theme.font("strong"), self._pill()
        pill = QRectF(at.gate - wide / 2, 1, wide, at.line + 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(token))
        painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        painter.setFont(font)
        painter.setPen(theme.color("surface"))
        painter.drawText(pill, _MIDDLE, self.gate_words)
        if story is not None:
            released = story.released
            words = "barrier closed" if released is None else f"released {job_times.clock(released)}"
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color(token))
            foot = QRectF(0, bottom + 2, at.gate + 40, at.line)
            painter.drawText(foot, _RIGHT, words)

    def gate_token(self) -> str:
        """The color of the barrier, which its words say too."""
        story = self.story
        if story is None or story.given_up:
            return "negative"
        return "state-Scheduled" if story.released is None else "positive"

    def color(self, one: ComponentStory) -> QColor:
        """The color of a site, the same in its lane and of its ranks."""
        return self._context.theme.color(f"series-{one.index % _COLORS + 1}")

    def event(self, event: QEvent) -> bool:
        """Tell the exact times of the lane under the mouse."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.words_at(event.pos().y())
            QToolTip.showText(event.globalPos(), words, self) if words else QToolTip.hideText()
            return True
        return super().event(event)

    def words_at(self, height: float) -> str:
        """The exact times of the lane at this height; empty where there is none."""
        at = self._layout()
        lanes = self.story.components if self.story is not None else ()
        for one, top in zip(lanes, at.lanes, strict=True):
            if top <= height < top + at.lane:
                return "\n".join(_times(one))
        return ""


def _failed(one: ComponentStory) -> bool:
    return one.standing is ComponentStanding.FAILED


def _times(one: ComponentStory) -> list[str]:
    named = (
        ("Submitted", one.submitted),
        ("Started", one.started),
        ("Reached MPI_Init", one.gathered),
        ("Released", one.released),
        ("Ended", one.ended),
    )
    head = f"{one.site}: {count(one.cpus, 'CPU')}, ranks {one.ranks}. {one.words}"
    times = [f"{name}: {job_times.exact(time)}" for name, time in named if time is not None]
    if one.sent is None:
        return [head, *times]
    traffic = f"{binary_size(one.sent)} sent to other sites, {binary_size(one.received or 0)} received"
    return [head, *times, traffic]


def _traffic(one: ComponentStory) -> str:
    """What it has sent to others, and was sent; empty where nobody counts."""
    return f"↑ {binary_size(one.sent)}  ↓ {binary_size(one.received or 0)}" if one.sent is not None else ""


def in_words(story: CoallocationStory) -> str:
    """The picture for those who do not see it."""
    lanes = [", ".join(_times(one)) for one in story.components]
    return ". ".join([f"Barrier: {story.barrier.rstrip('.')}", *lanes])
