"""The picture of a directed graph: boxes in layers, by mouse and keys; ten thousand nodes do not slow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip

from app.widgets import glyphs
from app.widgets.plots.graph_layout import Edge, GraphLayout, lay_out
from app.widgets.state_style import StateShape

if TYPE_CHECKING:
    from app.theme.theme import Theme

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 152.0, 44.0, 20.0, 44.0, 20.0
_LEAST, _MOST, _STEP = 0.2, 1.5, 1.25
_READABLE = 0.45
"""Zoom below which words would be dust: boxes alone are drawn."""
_CURVED = 500
"""Edges up to which they are curves with arrows; more are straight lines."""
_DRAWN = 6000
"""Edges that are drawn at most; those of the current node always are."""
_DIRECTIONS = {
    Qt.Key.Key_Left: QPointF(-1, 0), Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1), Qt.Key.Key_Down: QPointF(0, 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A box: its key, two lines of words, and how it stands."""

    key: str
    title: str
    detail: str = ""
    ghost: bool = False
    """It is named, and not there."""


@dataclass(frozen=True, slots=True)
class NodeFace:
    """How a node stands: a color token and a shape, and the words for both."""

    token: str
    shape: StateShape
    words: str


class GraphView(QAbstractScrollArea):
    """Shows nodes and edges; a click, or Return, chooses a node."""

    chosen = Signal(str)
    """Key of the node."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.nodes: dict[str, GraphNode] = {}
        self.edges: tuple[Edge, ...] = ()
        self.layout_ = GraphLayout({}, 0, 0, frozenset())
        self.faces: Mapping[str, NodeFace] = {}
        self.current, self.zoom = "", 1.0
        self._curves = QPainterPath()
        self._pressed: QPoint | None = None
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self.viewport().update)

    def show_graph(
        self, nodes: Sequence[GraphNode], edges: Sequence[Edge], layout: GraphLayout | None = None
    ) -> None:
        """Show a graph; `layout` if it is known already. The current node and the zoom stay if they can."""
        fresh = not self.nodes
        self.nodes = {node.key: node for node in nodes}
        self.edges = tuple(edge for edge in edges if edge[0] in self.nodes and edge[1] in self.nodes)
        self.layout_ = layout or lay_out(list(self.nodes), self.edges)
        self.current = self.current if self.current in self.nodes else next(iter(self.nodes), "")
        self._curves = QPainterPath()
        for edge in self.edges if len(self.edges) <= _CURVED else ():
            self._curves.addPath(self._curve(edge))
        if fresh:
            self.fit()
        self._bound()
        self._name()
        self.viewport().update()

    def show_faces(self, faces: Mapping[str, NodeFace]) -> None:
        """Show how nodes stand; those that are not in `faces` have nothing to say."""
        self.faces = faces
        self._name()
        self.viewport().update()

    @property
    def hidden_edges(self) -> int:
        """Number of edges that are drawn only at their nodes."""
        return max(0, len(self.edges) - _DRAWN)

    # --- cells

    def box(self, key: str) -> QRectF:
        """The box of a node in the picture, without zoom."""
        column, row = self.layout_.cells[key]
        left, top = _MARGIN + column * (_WIDTH + _ACROSS), _MARGIN + row * (_HEIGHT + _DOWN)
        return QRectF(left, top, _WIDTH, _HEIGHT)

    def _extent(self) -> QSize:
        columns, rows = self.layout_.columns, self.layout_.rows
        wide = 2 * _MARGIN + columns * (_WIDTH + _ACROSS) - _ACROSS
        high = 2 * _MARGIN + rows * (_HEIGHT + _DOWN) - _DOWN
        return QSize(round(wide), round(high)) if self.nodes else QSize(0, 0)

    def _origin(self) -> QPointF:
        """Where the picture begins in the viewport: in its middle while there is room."""
        spare = self.viewport().size() - self._extent() * self.zoom
        bars = QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        return QPointF(max(0, spare.width()) / 2, 0) - bars

    def node_at(self, at: QPoint) -> str:
        """Key of the node at a point of the viewport; empty for none."""
        point = (QPointF(at) - self._origin()) / self.zoom
        return next((key for key in self.nodes if self.box(key).contains(point)), "")

    def middle_of(self, key: str) -> QPoint:
        """The middle of a node in the viewport."""
        return (self.box(key).center() * self.zoom + self._origin()).toPoint()

    def _bound(self) -> None:
        seen, whole = self.viewport().size(), self._extent() * self.zoom
        for bar, have, need in (
            (self.horizontalScrollBar(), seen.width(), whole.width()),
            (self.verticalScrollBar(), seen.height(), whole.height()),
        ):
            bar.setRange(0, max(0, need - have))
            bar.setPageStep(have)
            bar.setSingleStep(round(_HEIGHT))

    def fit(self) -> None:
        """Choose the zoom at which the whole width is seen, as long as its words are readable."""
        wide = max(1, self._extent().width())
        self.set_zoom(min(1.0, max(_READABLE, self.viewport().width() / wide)))

    def set_zoom(self, zoom: float) -> None:
        """Zoom; the current node stays where it is seen."""
        self.zoom = max(_LEAST, min(_MOST, zoom))
        self._bound()
        self._show_current()
        self.viewport().update()

    def step_zoom(self, steps: int) -> None:
        """Zoom in, or (below 0) out."""
        self.set_zoom(self.zoom * _STEP**steps)

    def _show_current(self) -> None:
        if not self.current:
            return
        box = self.box(self.current)
        for bar, low, high, have in (
            (self.horizontalScrollBar(), box.left(), box.right(), self.viewport().width()),
            (self.verticalScrollBar(), box.top(), box.bottom(), self.viewport().height()),
        ):
            first, last = round(low * self.zoom - _MARGIN), round(high * self.zoom + _MARGIN)
            bar.setValue(max(min(bar.value(), first), last - have))

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is in sight: edges first, the nodes over them."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), self._theme.color("surface"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        origin = self._origin()
        painter.translate(origin)
        painter.scale(self.zoom, self.zoom)
        top_left = -origin / self.zoom
        seen = QRectF(top_left, self.viewport().size().toSizeF() / self.zoom)
        self._draw_edges(painter, seen)
        for key in self.nodes:
            if self.box(key).intersects(seen):
                self._draw_node(painter, key)

    def _draw_edges(self, painter: QPainter, seen: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.color("border-field"), 1.2))
        if len(self.edges) <= _CURVED:
            painter.drawPath(self._curves)
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            lines = (self._line(edge) for edge in self.edges[:_DRAWN])
            painter.drawLines([line for line in lines if _crosses(line, seen)])
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mine = [edge for edge in self.edges if self.current in edge]
        for edges, token in ((mine, "accent"), (self.layout_.against, "negative")):
            painter.setPen(QPen(self._theme.color(token), 1.8))
            for edge in edges:
                painter.drawPath(self._curve(edge))

    def _line(self, edge: Edge) -> QLineF:
        above, below = self.box(edge[0]), self.box(edge[1])
        return QLineF(above.center().x(), above.bottom(), below.center().x(), below.top())

    def _curve(self, edge: Edge) -> QPainterPath:
        """From the lower edge of a box to the upper edge of the one that waits, with an arrow."""
        line = self._line(edge)
        bend = max(_DOWN / 2, abs(line.dy()) / 2.5)
        path = QPainterPath(line.p1())
        path.cubicTo(line.p1() + QPointF(0, bend), line.p2() - QPointF(0, bend), line.p2())
        for side in (-4, 4):
            path.moveTo(line.p2() + QPointF(side, -6))
            path.lineTo(line.p2())
        return path

    def _draw_node(self, painter: QPainter, key: str) -> None:
        node, face, box, theme = self.nodes[key], self.faces.get(key), self.box(key), self._theme
        token = face.token if face else "border-field"
        here = key == self.current
        pen = QPen(theme.color("focus" if here and self.hasFocus() else token), 2 if here else 1.2)
        if node.ghost:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(theme.color("selection" if here else "raised"))
        painter.drawRoundedRect(box, 6, 6)
        if self.zoom < _READABLE:
            return
        room = box.adjusted(10, 4, -8, -4)
        if face is not None:
            glyphs.paint(
                painter, QRectF(box.left() + 8, box.center().y() - 7, 14, 14), face.shape, theme.color(token)
            )
            room.setLeft(room.left() + 18)
        lines = [
            (node.title, "medium", "selection-text" if here else "text"),
            (node.detail, "small", "muted"),
        ]
        shown = [line for line in lines if line[0]]
        for number, (words, font, color) in enumerate(shown):
            made = theme.font(font)
            made.setPixelSize(
                {"medium": 13, "small": 11}[font]
            )  # the boxes grow by zoom, not by the size of text
            painter.setFont(made)
            painter.setPen(theme.color(color))
            line = QRectF(
                room.left(),
                room.top() + number * room.height() / len(shown),
                room.width(),
                room.height() / len(shown),
            )
            cut = QFontMetrics(made).elidedText(words, Qt.TextElideMode.ElideMiddle, int(line.width()))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, cut)

    # --- hands

    def choose(self, key: str) -> None:
        """Make a node the current one, and show it."""
        if key in self.nodes:
            self.current = key
            self._show_current()
            self._name()
            self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the node below the pointer; beside nodes the picture is moved."""
        key = self.node_at(event.position().toPoint())
        if key and event.button() is Qt.MouseButton.LeftButton:
            self.choose(key)
            self.chosen.emit(key)
        else:
            self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        if self._pressed is not None and event.buttons():
            moved, self._pressed = at - self._pressed, at
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - moved.x())
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() - moved.y())
        shape = Qt.CursorShape.PointingHandCursor if self.node_at(at) else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls, with Ctrl it zooms."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.step_zoom(1 if event.angleDelta().y() > 0 else -1)
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go to the nearest node that way, Return chooses, + and - zoom."""
        direction = _DIRECTIONS.get(Qt.Key(event.key()))
        if direction is not None:
            self.choose(self._nearest(direction))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current:
            self.chosen.emit(self.current)
        elif event.text() in ("+", "-"):
            self.step_zoom(1 if event.text() == "+" else -1)
        else:
            super().keyPressEvent(event)

    def _nearest(self, direction: QPointF) -> str:
        """The next node in the row of the current one, or in a row that way; itself if there is none."""
        if not self.current:
            return ""
        here = self.box(self.current).center()
        found = []
        for key in self.nodes:
            way = self.box(key).center() - here
            ahead = QPointF.dotProduct(way, direction)
            aside = abs(QPointF.dotProduct(way, QPointF(direction.y(), direction.x())))
            if ahead > 1 and (direction.y() or aside < 1):
                found.append((ahead, aside, key))
        return min(found)[2] if found else self.current

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell the whole of a node under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            key = self.node_at(event.pos())
            QToolTip.showText(
                event.globalPos(), self.words(key), self.viewport()
            ) if key else QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._bound()

    # --- words

    def words(self, key: str) -> str:
        """All that the picture says of a node, in lines."""
        node, face = self.nodes[key], self.faces.get(key)
        before = [self.nodes[one].title for one, other in self.edges if other == key]
        after = [self.nodes[other].title for one, other in self.edges if one == key]
        lines = [node.title, node.detail, face.words if face else ""]
        lines += [
            f"waits for {_listed(before)}" if before else "",
            f"before {_listed(after)}" if after else "",
        ]
        return "\n".join(line for line in lines if line)

    def _name(self) -> None:
        """Tell the current node to screen readers."""
        chosen = f" Chosen: {self.words(self.current)}".replace("\n", ", ") if self.current else ""
        self.setAccessibleName("Graph")
        self.setAccessibleDescription(f"{len(self.nodes):,} nodes, {len(self.edges):,} edges.{chosen}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def _crosses(line: QLineF, seen: QRectF) -> bool:
    low, high = sorted((line.y1(), line.y2()))
    left, right = sorted((line.x1(), line.x2()))
    return high >= seen.top() and low <= seen.bottom() and right >= seen.left() and left <= seen.right()
