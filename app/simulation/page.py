"""The simulator: a workload replayed by the real scheduler in virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from app import units
from app.simulation.child import Child
from app.simulation.comparison import ReplayComparison, Run, RunTable
from app.simulation.figures import Figures
from app.simulation.form import SimulationForm
from app.simulation.replay_store import ReplayStore
from app.widgets.export import offer_export
from app.widgets.labels import label
from app.widgets.list_state import ListState
from broker_core.system.paths import places

if TYPE_CHECKING:
    from app.context import AppContext
    from app.simulation.plots import SimulationPlots

_WIDTH = 1040
"""Pixels; wider charts are harder to read, not easier."""


class SimulationPage(QWidget):
    """Choices above; below them why to choose, or what came of it."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.form, self.state, self.figures = (
            SimulationForm(),
            ListState(context.theme),
            Figures(context.theme),
        )
        self.child, self._asked = Child(self), Child(self)
        self._plots: SimulationPlots | None = None
        self._points: list[tuple[float, float, float]] = []
        self.result: dict[str, Any] | None = None
        self._brought_back = False
        self.runs, self.comparison = RunTable(), ReplayComparison(context.theme)
        self.store = ReplayStore(places(context.state_dir).state / "replays.json")
        self.hint = label("Tick two or more replays to compare them.", "small", wrap=True)
        offer_export(context, self.runs, "replays", "replay")
        offer_export(context, self.comparison.table, "comparison", "figure")
        offer_export(context, self.figures.spread, "waits and slowdowns", "figure")
        offer_export(context, self.figures.sites, "sites of the replay", "site")
        self._lay_out()
        self.runs.chosen.connect(self._show_runs)
        self.runs.added.connect(
            lambda: context.finish(self.store.save(self.runs.runs), "keeping the replay for the next time")
        )
        self.form.wanted.connect(self._pressed)
        self.child.told.connect(self._told)
        self.child.failed.connect(self._failed)
        self.child.over.connect(self._over)
        self._asked.told.connect(lambda said: self.form.offer(said["order"], said["queue"]))
        context.theme.changed.connect(self._repaint)
        self.form.show_running(False)
        self._teach()

    def _lay_out(self) -> None:
        self._area = QScrollArea(widgetResizable=True)
        self._area.setAccessibleName("Replays")
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        self._inner = QVBoxLayout(inner)
        self._inner.setContentsMargins(16, 8, 16, 16)
        self._inner.setSpacing(16)
        for part in (self.runs, self.hint, *self._results):
            self._inner.addWidget(part)
        self._inner.addStretch(1)
        self._area.setWidget(inner)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.form)
        self._before = QScrollArea(widgetResizable=True)
        self._before.setAccessibleName("What the simulator is for")
        self._before.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._before.setWidget(self.state)
        column.addWidget(self._before, 1)
        column.addWidget(self._area, 1)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask which policies there are, and bring the replays of the last time back."""
        super().showEvent(event)
        if not self.form.order.count():
            self._asked.start(["policies", "--json"])
        if not self._brought_back:
            self._brought_back = True
            self._context.run(self._bring_back(), "reading earlier replays")

    async def _bring_back(self) -> None:
        if (runs := await self.store.load()) and not self.child.running:
            self.runs.bring_back(runs)

    def _teach(self) -> None:
        self._show_area(False)
        self.state.show_state(
            "flask-conical", "What would another policy do?",
            "Replay a workload: each job of a trace is submitted at its time, on a clock that jumps from one "
            "event to the next. The scheduler, its policies and its matching are the broker's own; only the "
            "sites are made up. A fortnight of a grid takes seconds, and nothing is sent anywhere.",
            ("Replay a real grid of 2005", self._pressed),
            ("Choose a trace of your own…", self._ask_for_trace),
        )  # fmt: skip

    def _ask_for_trace(self) -> None:
        self.form.trace.activated.emit(self.form.trace.count() - 1)

    def _show_area(self, shown: bool) -> None:
        self._area.setVisible(shown)
        self._before.setVisible(not shown)

    # --- running

    def _pressed(self) -> None:
        if self.child.running:
            self.child.cancel()
            return
        self._points = []
        self.form.said.setText("Reading the trace")
        self.form.show_running(True)
        self.child.start(self.form.words())
        self._context.run(self._attend(), "replaying a trace")

    async def _attend(self) -> None:
        """The child ends with the window, which ends its tasks."""
        over = asyncio.Event()
        self.child.over.connect(over.set)
        try:
            await over.wait()
        finally:
            self.child.over.disconnect(over.set)
            self.child.end()

    def _told(self, said: dict[str, Any]) -> None:
        if "result" in said:
            self.result = said["result"]
            self._points = []
            self.runs.add(said["result"])
        elif "progress" in said:
            self._progress(said["progress"])

    def _progress(self, now: dict[str, float]) -> None:
        self._points.append((now["time"], now["utilization"], now["waiting"]))
        said = (
            f"{now['over']:,} of {units.count(int(now['jobs']), 'job')}, {units.duration(now['time'])} in:"
            f" {now['utilization']:.0%} of the CPUs in use, {now['waiting']:,} waiting"
        )
        self.form.show_progress(int(now["over"]), int(now["jobs"]), said)
        self._show_area(True)
        self._show_parts(())
        time, used, queue = zip(*self._points, strict=True)
        self._charts().show_points(list(time), list(used), list(queue))

    def _failed(self, why: str) -> None:
        self.result, self._points = None, []
        self._show_area(False)
        self.state.show_state(
            "circle-alert", "The replay did not work", why, ("Try again", self._pressed),
            ("Show earlier replays", self._show_result) if self.runs.runs else None, "negative",
        )  # fmt: skip

    def _over(self) -> None:
        self.form.show_running(False)
        self.form.said.setText("")
        if self._points and self.runs.runs:
            self._show_result()
        elif self._points:
            self._teach()
        self._points = []

    # --- showing

    def _charts(self) -> SimulationPlots:
        if self._plots is None:
            from app.simulation.plots import SimulationPlots

            self._plots = SimulationPlots(self._context.theme)
            self._inner.insertWidget(self._inner.indexOf(self.figures.sites), self._plots)
        return self._plots

    @property
    def _results(self) -> tuple[QWidget, ...]:
        """What shows one replay or several, from top to bottom but for the curves."""
        return (self.comparison, self.figures, self.figures.sites, self.figures.more)

    def _show_parts(self, shown: tuple[QWidget, ...]) -> None:
        self.runs.setVisible(bool(shown))
        self.hint.setVisible(bool(shown) and self.comparison not in shown)
        for part in self._results:
            part.setVisible(part in shown)

    def _show_result(self) -> None:
        self._show_runs(self.runs.ticked())

    def _show_runs(self, runs: list[Run]) -> None:
        """Show one replay, or several side by side."""
        self._show_area(True)
        if len(runs) == 1:
            self._show_parts(self._results[1:])
            self.figures.show_result(runs[0].result)
            self._charts().show_curves(runs[0].result["curves"])
        else:
            self._show_parts((self.comparison,))
            self.comparison.show_runs(runs)
            self._charts().show_together([(run.name, run.result["curves"]) for run in runs])

    def _repaint(self) -> None:
        if self.runs.runs and not self.child.running and self._area.isVisibleTo(self):
            self._show_result()
