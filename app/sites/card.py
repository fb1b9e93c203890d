"""One site as a card: how it stands, how much it does, and what can be done with it."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.sites.question import QuestionForm
from app.sites.site_style import (
    address_words,
    few,
    heard_sentence,
    site_style,
    slots_words,
    state_sentence,
    success_sentence,
    success_words,
)
from app.stores.sites import CONNECTED
from app.theme.theme import BASE
from app.widgets import glyphs
from app.widgets.labels import label
from app.widgets.tool_button import tool_button
from broker_core.wire.resources import gpu_words

if TYPE_CHECKING:
    from app.context import AppContext
    from app.sites.answers import SiteAnswers
    from app.sites.commands import SiteActions
    from app.theme.theme import Theme
    from broker_core.wire.sites import SiteView


_HEIGHT = 44
_SCALE_GAP = 6
_LEAST, MOST = 312, 480
"""Pixels of a card's width."""


class QueueSpark(QWidget):
    """Running jobs as an area and queued ones as a line over 0 and the most; light enough for fifty cards."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._times: list[float] = []
        self._queued: list[int] = []
        self._running: list[int] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(160, _HEIGHT)

    def show_site(self, site: SiteView) -> None:
        """Show the history that the broker tells."""
        self._times = site.times
        self._queued, self._running = site.history_queued, site.history_running
        top = max([0, *self._queued, *self._running])
        said = f"Queued (line) and running (area) jobs over time; at most {top:,} at once"
        self.setToolTip(said if self._times else "No history yet")
        self.setAccessibleName(f"{site.spec.name}: {said}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint both series over a ground line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0, 2, 0, -1)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        if len(self._times) < 2:
            painter.setPen(self._theme.color("faint"))
            painter.setFont(self._theme.font("small"))
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, "The plot of the queue begins with its first jobs"
            )
            return
        box = self._scale(painter, box)
        running = self._points(self._running, box)
        area = QPolygonF(
            [QPointF(running[0].x(), box.bottom()), *running, QPointF(box.right(), box.bottom())]
        )
        soft = QColor(self._theme.color("state-Running"))
        soft.setAlphaF(0.18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        painter.drawPolygon(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for points, token in (
            (running, "state-Running"),
            (self._points(self._queued, box), "state-Scheduled"),
        ):
            painter.setPen(QPen(self._theme.color(token), 1.2))
            painter.drawPolyline(points)

    def _scale(self, painter: QPainter, box: QRectF) -> QRectF:
        """Write the greatest number and 0 at the left; returns what is left for the lines."""
        painter.setPen(self._theme.color("muted"))
        painter.setFont(self._theme.font("small"))
        top, edge = f"{self._most():,}", Qt.AlignmentFlag
        width = painter.fontMetrics().horizontalAdvance(top) + _SCALE_GAP
        beside = box.adjusted(0, -2, 0, 0)
        painter.drawText(beside, edge.AlignLeft | edge.AlignTop, top)
        painter.drawText(beside, edge.AlignLeft | edge.AlignBottom, "0")
        return box.adjusted(width, 0, 0, 0)

    def _most(self) -> int:
        """The number at the top of the plot."""
        return max([1, *self._queued, *self._running])

    def _points(self, values: list[int], box: QRectF) -> list[QPointF]:
        """The corners of a line that keeps each number until the next was taken."""
        first, span = self._times[0], max(1e-9, self._times[-1] - self._times[0])
        top = self._most()
        across = [box.left() + box.width() * (time - first) / span for time in self._times]
        down = [box.bottom() - box.height() * value / top for value in values]
        corners = [QPointF(across[0], down[0])]
        for at, (before, after) in zip(across[1:], pairwise(down), strict=False):
            corners += [QPointF(at, before), QPointF(at, after)]
        return corners


def least_width(theme: Theme) -> int:
    """Pixels of a card, at least, in the size of text that is worn."""
    return round(_LEAST * theme.size / BASE)


class Number(QFrame):
    """A number with its name below it."""

    def __init__(self, name: str, tip: str = "") -> None:
        super().__init__()
        self._name = name
        self.value, self.name = label(role="strong"), label(name, role="small")
        self.setToolTip(tip)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.value)
        column.addWidget(self.name)

    def show_value(self, value: str) -> None:
        """Show the number."""
        self.value.setText(value)
        self.value.setAccessibleName(f"{value} {self._name}")


class SiteCard(QFrame):
    """Chosen by a click, Return or Space; its buttons work without choosing it."""

    chosen = Signal(str)

    def __init__(
        self, context: AppContext, commands: SiteActions, answers: SiteAnswers, site: SiteView
    ) -> None:
        super().__init__()
        self._context, self._commands, self._answers = context, commands, answers
        self.site = site
        self.setProperty("role", "card")
        self.setProperty("hover", "true")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(least_width(context.theme))
        self.setMaximumWidth(MOST)
        self.picture, self.name, self.word = QLabel(), label(role="strong", fluid=True), label(role="small")
        self.address, self.said = label(role="small", fluid=True), label(role="muted", wrap=True)
        self.spark, self.form = QueueSpark(context.theme), QuestionForm()
        self.queued, self.running = (
            Number("queued", "Your jobs that wait there"),
            Number("running", "Your jobs that run there"),
        )
        self.cpus, self.gpus = Number("CPUs free"), label(role="small", wrap=True)
        self.hourly = Number("per hour", "Runs of jobs that ended there in the last hour")
        self.rate = Number("succeed", "Of the runs that ended there in the last hour")
        self.first, self.second = QPushButton(), QPushButton()
        self.more = tool_button(context.theme.icon("menu", "muted"), "More")
        self.more.setFixedSize(32, 28)
        self._lay_out()
        self._connect()
        self.show_site(site)

    def _lay_out(self) -> None:
        head, numbers, foot = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.picture)
        head.addWidget(self.name, 1)
        head.addWidget(self.word)
        numbers.setSpacing(8)
        for place, part in enumerate((self.queued, self.running, self.cpus, self.hourly, self.rate)):
            if place:
                numbers.addStretch(1)
            numbers.addWidget(part)
        foot.setSpacing(4)
        for button in (self.first, self.second):
            foot.addWidget(button)
        foot.addStretch(1)
        foot.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.address)
        column.addWidget(self.spark)
        column.addLayout(numbers)
        column.addWidget(self.gpus)
        column.addWidget(self.said)
        column.addWidget(self.form)
        column.addStretch(1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.first.clicked.connect(self._do_first)
        self.second.clicked.connect(self._do_second)
        self.more.clicked.connect(
            lambda: self.menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))
        )
        self.form.answered.connect(
            lambda question, value, keep: self._answers.answer(self.site.spec.name, question, value, keep)
        )
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda at: self.menu().popup(self.mapToGlobal(at)))

    # --- showing

    def show_site(self, site: SiteView) -> None:
        """Show the site as it is."""
        self.site = site
        name = site.spec.name
        style = site_style(site)
        self.picture.setPixmap(
            glyphs.pixmap(style.shape, self._context.theme.color(style.token), 16, self.devicePixelRatioF())
        )
        self.name.setText(name)
        self.word.setText(style.word)
        token = (
            style.token if self._context.link.up else "faint"
        )  # what was last heard, and may be otherwise now
        self.word.setStyleSheet(f"color: {self._context.theme.color(token).name()}; font-weight: 600;")
        self.address.setText(address_words(site))
        self.address.setToolTip("\n".join(site.ces))
        self.spark.show_site(site)
        self.queued.show_value(few(site.queued))
        self.running.show_value(few(site.running))
        free = f"{few(site.free_cpus)} of {few(site.total_cpus)}"
        self.cpus.show_value(free if site.total_cpus else "–")
        more = [words for words in (gpu_words(site.gpus), slots_words(site)) if words]
        self.gpus.setText("\n".join(more))
        self.gpus.setVisible(bool(more))
        self.hourly.show_value(few(site.per_hour))
        self.rate.show_value(success_words(site))
        self.rate.setToolTip(success_sentence(site))
        self._show_buttons(site)
        self.more.setAccessibleName(f"More for {name}")
        self.tell()

    def _show_buttons(self, site: SiteView) -> None:
        name, linked = site.spec.name, site.link.state == CONNECTED
        self.first.setText("Test" if linked else "Connect now")
        self.second.setText("Resume" if site.spec.drained else "Drain")
        self.second.setToolTip("Send new jobs here again" if site.spec.drained else "Send no new jobs here")
        for button in (self.first, self.second):
            button.setEnabled(not site.leaving)
            button.setAccessibleName(f"{button.text()}: {name}")

    def tell(self) -> None:
        """Say again what depends on the time, and on what is known of the keyring."""
        now, question = time.time(), self.site.link.question
        said = state_sentence(self.site, now)
        self.said.setText(said)
        self.said.setVisible(bool(said) and (question is None or question.text not in said))
        self.form.no_keyring(self._answers.no_keyring)
        self.form.ask(question, self._answers.note(question))
        self.setAccessibleName(heard_sentence(self.site, now))

    def mark(self, chosen: bool) -> None:
        """Wear the frame of the chosen card."""
        if self.property("chosen") != chosen:
            self.setProperty("chosen", chosen)
            self.style().unpolish(self)
            self.style().polish(self)

    def event(self, event: QEvent) -> bool:
        """Never lower than its wrapped texts at this width: a scrolled grid asks for less."""
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.setMinimumHeight(max(0, self.heightForWidth(self.width())))
        return done

    def sizeHint(self) -> QSize:
        """As high as its contents."""
        return super().sizeHint().expandedTo(QSize(least_width(self._context.theme), 0))

    # --- doing

    def _do_first(self) -> None:
        name = self.site.spec.name
        if self.site.link.state == CONNECTED:
            self._commands.test(name)
            self.chosen.emit(name)
        else:
            self._commands.connect_now(name)

    def _do_second(self) -> None:
        name = self.site.spec.name
        (self._commands.resume if self.site.spec.drained else self._commands.drain)(name)

    def _test(self) -> None:
        self._commands.test(self.site.spec.name)
        self.chosen.emit(self.site.spec.name)

    def menu(self) -> QMenu:
        """Make the menu of all that can be done with the site."""
        menu, site, name = QMenu(self), self.site, self.site.spec.name
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        commands = self._commands
        menu.addAction("Show details and log", lambda: self.chosen.emit(name))
        menu.addAction("Test", self._test)
        if site.link.state != CONNECTED:
            menu.addAction("Connect now", lambda: commands.connect_now(name))
        if site.spec.drained:
            menu.addAction("Resume", lambda: commands.resume(name))
        else:
            menu.addAction("Drain", lambda: commands.drain(name))
        menu.addAction("Show its jobs", lambda: self._context.show_query(f"site:{name}"))
        if site.removable:
            menu.addSeparator()
            menu.addAction("Change…", lambda: commands.changeAsked.emit(site))
            menu.addAction("Remove…", lambda: commands.remove(site))
        return menu

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the card."""
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.site.spec.name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the card by Return or Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.site.spec.name)
        else:
            super().keyPressEvent(event)
