"""The View tab: a job's display, and what its program publishes, followed while it runs."""

from __future__ import annotations

import asyncio
import time
from enum import Enum
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.inspector.view.changes import HistoryTable, markers_of
from app.inspector.view.controls import ControlsView
from app.inspector.view.curve_data import RecordedRun
from app.inspector.view.display import DisplayView
from app.inspector.view.following import follow_pause, still_runs
from app.inspector.view.reading import PartRead, plotting_module, read_part, remarks_on
from app.inspector.view.shared_session import SharedSession
from app.inspector.view.tables import TablesView
from app.stores.slices import breathe
from app.widgets.job_pane import JobPane
from app.widgets.labels import label
from app.widgets.tool_button import tool_button
from broker_core.client.connect import connect
from broker_core.jobs.published.decoder import RecordDecoder
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE, ArrayRecord

if TYPE_CHECKING:
    from types import ModuleType

    from app.context import AppContext
    from app.inspector.view.arrays import ArraysView
    from app.inspector.view.curves import CurvesView
    from app.inspector.view.steering import SteeringLink

_DRAW_S = 0.3
"""While very much is read it is drawn as often."""
_PROGRESS_STEPS = 1000
_WIDE = 900
"""From this width on controls stand beside the curves, not above them."""
OWN_WINDOW, BACK = "Show it in a window of its own", "Back into the main window"
_CONTROLS, _ANY = 360, 1 << 20


class Offer(Enum):
    """What the button of the empty page does."""

    TRY_AGAIN = "try again"
    HELP = "help"
    BRING_BACK = "bring back"


class ViewPane(JobPane):
    """Display, progress, curves, arrays and tables below each other: as many of these as there are."""

    title = "View"
    parting = Signal()
    """It is to be shown in a window of its own; or, where it has one, in the inspector again."""
    back_wanted = Signal()
    """The window that has the view of this job is to be closed."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.recording = Recording()
        self.progress, self.doing = QProgressBar(), label(role="small", fluid=True)
        self.remark = label(role="muted", wrap=True)
        self.tables = TablesView(context)
        self.session = SharedSession(partial(connect, context.state_dir))
        self.display = DisplayView(context, self.session)
        self.display.appeared.connect(self.refresh)
        self.controls = ControlsView(context)
        self.controls.wanted.connect(self._steer)
        self._history = HistoryTable()
        self.link: SteeringLink | None = None
        """Carries changes of parameters, as long as the job is shown."""
        self._loading: asyncio.Future[ModuleType] | None = None
        self.curves: CurvesView | None = None
        self.arrays: ArraysView | None = None
        self._making: asyncio.Future[None] | None = None
        self._offer = Offer.TRY_AGAIN
        self.window_button = tool_button(context.theme.icon("picture-in-picture-2"), OWN_WINDOW)
        self.window_button.clicked.connect(self.parting)
        self._took = 0.0
        self._again = QTimer(self, singleShot=True)
        self._again.timeout.connect(self.refresh)
        self._lay_out_view()

    def _lay_out_head(self) -> None:
        self.progress.setMaximum(_PROGRESS_STEPS)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress of the program")
        self._head = QWidget()
        head = QVBoxLayout(self._head)
        head.setContentsMargins(12, 4, 8, 4)
        head.setSpacing(4)
        first = QHBoxLayout()
        first.addWidget(self.doing, 1)
        first.addWidget(self.window_button)
        head.addLayout(first)
        head.addWidget(self.progress)

    def _lay_out_view(self) -> None:
        self._lay_out_head()
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.setChildrenCollapsible(False)
        self.parts.addWidget(self.tables)
        self.remark.setContentsMargins(12, 4, 12, 8)
        column = QVBoxLayout(self.content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        self._beside = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._beside.setSpacing(0)
        self._controls = _scrolled(self.controls, "Parameters of the program")
        self._steering = QWidget()
        self._steering.hide()
        steering = QVBoxLayout(self._steering)
        steering.setContentsMargins(0, 0, 0, 0)
        steering.setSpacing(0)
        steering.addWidget(self._controls, 1)
        steering.addWidget(self.controls.line)
        steering.addStretch(0)
        self._beside.addWidget(self._steering)
        self._scrolled = _scrolled(self.parts, "What the program published")
        self._beside.addWidget(self._scrolled, 1)
        self._both = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._both.setSpacing(0)
        self._both.addWidget(self.display, 3)
        self._both.addLayout(self._beside, 2)
        column.addLayout(self._both, 1)
        column.addStretch(0)
        column.addWidget(self.remark)

    def _arrange(self) -> None:
        """Put curves beside the display where there is room, and without one the controls beside the curves;
        else all stand below each other."""
        wide, ways = self.width() >= _WIDE, QBoxLayout.Direction
        split = wide and self.display.wanted
        self._both.setDirection(ways.LeftToRight if split else ways.TopToBottom)
        self.display.stand_beside(on=split)
        wide = wide and not split
        self._beside.setDirection(ways.RightToLeft if wide else ways.TopToBottom)
        most = min(self.controls.sizeHint().height(), self.height() if wide else self.height() * 2 // 5)
        self._controls.setMaximumHeight(most)
        self._controls.setMinimumHeight(0 if wide else most)
        self._steering.setMaximumWidth(_CONTROLS if wide else _ANY)
        self._steering.setMinimumWidth(_CONTROLS if wide else 0)

    # --- reading

    async def load(self, job: str) -> Recording:
        """Read what is new, and draw from time to time while there is much of it."""
        recording = self.recording
        begun = drawn = time.monotonic()
        while (found := await read_part(self.context.client, job, recording)) is not PartRead.ALL:
            if recording is not self.recording:
                break
            if found is PartRead.REPLACED:
                recording = self.recording = Recording()
            elif time.monotonic() - drawn > _DRAW_S and recording.records:
                await self._make_views()
                self._show_parts(recording)
                self.show_content()
                drawn = time.monotonic()
        if recording.records:
            await self._make_views()
        self._took = time.monotonic() - begun
        return recording

    async def _make_views(self) -> None:
        if self._making is None:
            self._making = asyncio.ensure_future(self._import_views())
        await asyncio.shield(self._making)

    async def _import_views(self) -> None:
        curves = await plotting_module("app.inspector.view.curves")
        arrays = await plotting_module("app.inspector.view.arrays")
        self.curves = curves.CurvesView(self.context)
        await breathe()
        self.arrays = arrays.ArraysView(self.context)
        self.arrays.frame_wanted.connect(self._bring_frame)
        self.parts.insertWidget(0, self.curves)
        self.parts.insertWidget(1, self.arrays)

    def _bring_frame(self, start: int, size: int) -> None:
        if self.job is not None:
            self.context.run(self._bring(self.job, start, size), "reading an earlier version of the array")

    async def _bring(self, job: str, start: int, size: int) -> None:
        part = await self.context.client.read_file(job, FILE, start, size)
        found = await asyncio.to_thread(RecordDecoder().feed, part.content)
        if job == self.job and self.arrays is not None and found:
            record = found[0].record
            if isinstance(record, ArrayRecord):
                self.arrays.show_values(start, record.values)

    # --- showing

    def clear(self) -> None:
        """Forget the job shown before."""
        self._again.stop()
        self.recording = Recording()
        self.controls.clear()
        self.display.leave()
        self._leave()

    def render_answer(self, answer: Recording) -> None:
        """Show what there is, and ask again soon while more may come."""
        if answer is not self.recording:
            return
        self.display.follow(self._row())
        if answer.records or self.display.wanted:
            self._offer = Offer.TRY_AGAIN
            self._show_parts(answer)
        else:
            self._say_nothing(answer)
        if still_runs(self._row()) and self.isVisible():
            self._again.start(follow_pause(self._took, quiet=not answer.records))

    # --- steering

    def _steer(self, name: str, text: str) -> None:
        if self.job is not None:
            self.context.run(self._send(self.job, name, text), "changing a parameter of the job")

    async def _send(self, job: str, name: str, text: str) -> None:
        if self.link is not None and self.link.ended:
            self._leave()
        await self._open_session(job)
        if job == self.job and self.link is not None:
            self.link.set(name, text)

    async def _open_session(self, job: str) -> None:
        """Open the session over which changes go; for a batch job it brings an agent beside the program.

        What sessions need is heavy to load, and the window goes on meanwhile.
        """
        if self._loading is None:
            loading = asyncio.to_thread(import_module, "app.inspector.view.steering")
            self._loading = asyncio.ensure_future(loading)
        steering = await asyncio.shield(self._loading)
        if job == self.job and self.link is None:
            session = self.session.join(job)
            self.link = steering.SteeringLink(session)
            self.link.changed.connect(self.controls.show_changes)
            self.link.sent.connect(self.controls.sent)
            self.link.refused.connect(self.controls.refused)
            self.link.waits.connect(self.controls.show_waits)
            self.link.over.connect(self.controls.give_up)
            self.controls.show_waits(session.reason)

    def _leave(self) -> None:
        if self.link is not None:
            self.link.close()
            self.link.blockSignals(True)
            self.link = None

    def _show_controls(self, recording: Recording) -> None:
        row = self._row()
        live = still_runs(row)
        if self.link is None:
            self.controls.show_changes({})
        self.controls.show_parameters(recording.steering, live=live)
        self._steering.setVisible(bool(recording.steering.parameters))
        self._arrange()
        if not live:
            self._leave()
        loads = self._loading is not None and not self._loading.done()
        wanted = live and row is not None and row["interactive"] and recording.steering.parameters
        if wanted and row is not None and self.link is None and not loads:
            self.context.run(self._open_session(str(row["id"])), "reading changes of parameters")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Controls stand where there is room."""
        super().resizeEvent(event)
        self._arrange()

    def _row(self) -> dict[str, Any] | None:
        return self.context.jobs.row(self.job or "")

    def _show_parts(self, recording: Recording) -> None:
        progress = recording.progress
        self.progress.setVisible(progress is not None)
        self.doing.setText("")
        if progress is not None:
            self.progress.setValue(round(progress.share * _PROGRESS_STEPS))
            self.doing.setText(f"{progress.share:.0%}   {progress.text}".rstrip())
        tables = self._history.tables(recording)
        self.tables.setVisible(bool(tables))
        self._scrolled.setVisible(bool(recording.curves or recording.arrays or tables))
        if self.curves is not None and self.arrays is not None:
            self.curves.setVisible(bool(recording.curves))
            self.arrays.setVisible(bool(recording.arrays))
            if recording.curves:
                self.curves.show_changes(markers_of(recording.steering))
                self.curves.show_runs([RecordedRun("", recording)])
            self.arrays.show_arrays(recording.arrays)
        self.tables.show_tables(tables)
        self._show_controls(recording)
        self.remark.setText(remarks_on(recording))
        self.remark.setVisible(bool(self.remark.text()))

    def _say_nothing(self, recording: Recording) -> None:
        row = self._row()
        started = bool(row and row.get("started"))
        self._offer = Offer.HELP if started else Offer.TRY_AGAIN
        help_ = "How programs publish" if started else ""
        if recording.unreadable:
            self.show_empty_state("triangle-alert", "Nothing that can be shown", remarks_on(recording), help_)
        elif still_runs(row):
            self.show_empty_state(
                "chart-line",
                "Nothing published yet",
                "Curves, images, tables and progress that the program publishes appear here while it runs.",
                help_,
            )
        elif started:
            self.show_empty_state(
                "chart-line",
                "Nothing was published",
                "A line or two in the program are enough to see its curves, images and progress here.",
                help_,
            )
        else:
            self.show_empty_state(
                "chart-line",
                "It has not started",
                "What its program publishes appears here as soon as it runs.",
            )

    # --- a window of its own

    def stand_alone(self) -> None:
        """Be what a window of its own shows."""
        self.window_button.setToolTip(BACK)
        self.window_button.setAccessibleName(BACK)

    def say_elsewhere(self) -> None:
        """A window has the view of this job."""
        self._offer = Offer.BRING_BACK
        self.show_empty_state(
            "picture-in-picture-2",
            "Shown in a window of its own",
            "It comes back here when you close that window.",
            "Bring it back",
        )

    def show_job(self, job: str | None) -> None:
        """Show this job; None: none."""
        self._offer = Offer.TRY_AGAIN
        super().show_job(job)

    def act(self) -> None:
        """Help with publishing, the window brought back, or another try."""
        if self._offer is Offer.BRING_BACK:
            self.back_wanted.emit()
        elif self._offer is Offer.HELP:
            self.context.show_help("publishing")
        else:
            super().act()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks: nothing is asked until somebody does."""
        self._again.stop()
        self._stale = True
        super().hideEvent(event)


def _scrolled(inside: QWidget, name: str) -> QScrollArea:
    """In a low window the parts are scrolled, not squeezed."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setAccessibleName(name)
    area.setWidget(inside)
    return area
