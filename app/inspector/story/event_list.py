"""The events of a job, each with its reason and its exact time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.inspector import job_times
from app.widgets.labels import breakable
from app.widgets.state_glyph import draw_glyph
from broker_core.jobs.placement import listed
from broker_core.jobs.site_names import element_words, site_names
from broker_core.jobs.transitions import EventType

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import EventView

E = EventType
SENTENCES: dict[str, str] = {
    E.SUBMITTED: "Submitted",
    E.REFUSED: "Refused",
    E.ACCEPTED: "Taken over by the scheduler",
    E.POSTPONED: "Nothing matches now",
    E.HELD: "Put on hold",
    E.RELEASED: "Released from hold",
    E.MATCHED: "Matched",
    E.CHOICE_FAILED: "This choice failed, trying the next",
    E.LIST_EXHAUSTED: "No choice left, waiting again",
    E.BROKER_DIED: "The broker was killed meanwhile",
    E.SCHEDULED: "Accepted by the site",
    E.KEPT_WAITING: "Kept waiting by its site",
    E.START_OVERDUE: "Its start was not confirmed",
    E.COMPONENT_CHANGED: "A component",
    E.TRAFFIC_COUNTED: "Traffic between its sites",
    E.GIVEN_UP: "Given up at all sites",
    E.RETRIED: "Tried once more at the same site",
    E.REMATCHED: "Given up there, to be matched again",
    E.RUNNING: "Started",
    E.LAUNCHER_REPLACED: "Monitoring taken over",
    E.AGENT_READY: "Agent ready",
    E.DONE: "Ended",
    E.ABORTED: "Aborted",
    E.CANCEL_REQUESTED: "Cancel requested",
    E.CANCELED: "Canceled",
    E.OUTPUT_INCOMPLETE: "Output fetched, but not complete",
    E.CLEARED: "Output fetched",
    E.LEFT_EXPIRES: "What stayed at its site goes soon",
    E.PURGED: "Purged",
    E.MESSAGE_LATE: "Late message, changes nothing",
}
"""Event type to what a person would say."""
SHOWN = 300
"""Number of latest events shown; a job that was matched again for days has thousands."""

_EVENT = Qt.ItemDataRole.UserRole
_GAP, _LEFT = 8, 26


class EventList(QListWidget):
    """As tall as its events: it scrolls with the page around it."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._events: list[EventView] = []
        self.setItemDelegate(_EventDelegate(context, self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Events")
        context.theme.changed.connect(self.viewport().update)

    def show_events(self, events: list[EventView]) -> None:
        """Show the latest events, the newest last; adds only what is new."""
        shown = events[-SHOWN:]
        if shown[: len(self._events)] != self._events:
            self.clear()
            self._events = []
        for event in shown[len(self._events) :]:
            self.addItem(_item(event))
        self._events = shown
        self._fit()

    def _fit(self) -> None:
        option = QStyleOptionViewItem()
        delegate = self.itemDelegate()
        rows = (delegate.sizeHint(option, self.indexFromItem(self.item(n))) for n in range(self.count()))
        self.setFixedHeight(sum(row.height() for row in rows) + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Reasons wrap anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()
            self._fit()


def sentence(event: EventView) -> str:
    """What happened, as a person would say it."""
    said = SENTENCES.get(event.type, event.type)
    return f"{said} at {site_names(tuple(event.resources))}" if event.type == E.COMPONENT_CHANGED else said


def _item(event: EventView) -> QListWidgetItem:
    said = sentence(event)
    item = QListWidgetItem(f"{job_times.clock(event.time)} {said}. {_reason(event)}")
    item.setData(_EVENT, event)
    about = [job_times.exact(event.time), f"{event.type}, reported by {event.source}"]
    if event.attempt:
        at = f" at {listed(map(element_words, event.resources))}" if event.resources else ""
        about.append(f"Attempt {event.attempt}{at}")
    item.setToolTip("\n".join(about))
    return item


def _reason(event: EventView) -> str:
    """The reason, unless it only says again what the line above says."""
    return "" if event.reason == SENTENCES.get(event.type) else event.reason


class _EventDelegate(QStyledItemDelegate):
    def __init__(self, context: AppContext, view: QListWidget) -> None:
        super().__init__(view)
        self._context, self._view = context, view

    def _reason_box(self, width: int, reason: str) -> QRect:
        metrics = QFontMetrics(self._context.theme.font("base"))
        room = QRect(0, 0, max(60, width - _LEFT - _GAP), 100_000)
        flags = int(Qt.TextFlag.TextWordWrap)
        return metrics.boundingRect(room, flags, breakable(reason))

    def sizeHint(self, option: QStyleOptionViewItem, index: Any) -> QSize:
        event = index.data(_EVENT)
        line = QFontMetrics(self._context.theme.font("base")).height()
        width = self._view.viewport().width()
        reason = _reason(event)
        below = self._reason_box(width, reason).height() + 2 if reason else 0
        return QSize(width, line + below + _GAP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | Any) -> None:
        theme, event = self._context.theme, index.data(_EVENT)
        box: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QFontMetrics(theme.font("base")).height()
        top = QRect(box.left(), box.top() + 2, box.width(), line)
        row = {"state": event.new, "exit_code": event.details.get("exit_code")}
        draw_glyph(painter, QRectF(top.left() + 4, top.center().y() - 6, 12, 12), row, theme)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(top, middle | Qt.AlignmentFlag.AlignRight, job_times.clock(event.time))
        painter.setFont(theme.font("base"))
        painter.setPen(theme.color("text"))
        room = top.adjusted(_LEFT, 0, -70, 0)
        said = QFontMetrics(theme.font("base")).elidedText(
            sentence(event), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignLeft, said)
        if reason := _reason(event):
            painter.setPen(theme.color("muted"))
            below = QRect(box.left() + _LEFT, top.bottom() + 2, box.width() - _LEFT - _GAP, box.height())
            flags = int(Qt.TextFlag.TextWordWrap)
            painter.drawText(below, flags, breakable(reason))
        painter.restore()
