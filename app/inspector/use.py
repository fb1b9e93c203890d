"""The Use tab: what the job uses over time beside what it asked for, and what to ask for the next time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.jobs.copy_to_edit import copied
from app.jobs.rerun import run_again
from app.jobs.rerun_sheet import RerunSheet
from app.widgets.flow_layout import FlowLayout
from app.widgets.job_pane import JobPane
from app.widgets.labels import label
from app.widgets.plots.deferred_plot import make_history_plot
from broker_core.errors import NotFound
from broker_core.jdl.changes import with_changes
from broker_core.jdl.checks.executable import seconds
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Ad
from broker_core.jobs.states import JobState
from broker_core.jobs.use import FILE, MOST, AskedFor, UseSample, better, busy, in_words, samples_of, used

if TYPE_CHECKING:
    from app.context import AppContext
    from app.widgets.plots.history_plot import HistoryPlot
    from broker_core.wire.views import JobDetail

_AGAIN_MS = 5000
_MB, _GB = 1 << 20, 1 << 30
_WALL_TIMES = ("WallTime", "MaxWallTime", "WallTimeLimit")
_OTHER = {"memory": "amount of memory", "time": "time limit"}
"""What a job ran out of, as what somebody chooses."""
_CHARTS = {
    "Memory": (("GB used", "accent"), ("GB asked for", "muted")),
    "CPUs": (("CPUs busy", "accent"), ("asked for", "muted")),
    "GPUs": (("GPUs busy", "accent"), ("asked for", "muted")),
    "Disk": (("GB used", "accent"), ("GB asked for", "muted")),
}
"""Heading of each chart, with its lines."""
_EARLY = (
    "Samples come every half minute, on nodes with hundreds of processes every few minutes; after the second "
    "one they are drawn here."
)
_NONE = "The job was over before a second sample was taken, so there is nothing to draw."
_FIRST_NODE = "Where its processes run on several nodes, these are figures of the first one alone."


@dataclass(frozen=True, slots=True)
class UseAnswer:
    """What the broker told of one job's use."""

    detail: JobDetail
    samples: list[UseSample] = field(default_factory=list)
    failure: str = ""
    """How its last attempt failed, one of `attempt_events.FAILURES`; empty: not in such a way."""


class Chart(QWidget):
    """A heading and a plot, made when there is something to draw."""

    def __init__(self, context: AppContext, heading: str) -> None:
        super().__init__()
        self._context, self._heading = context, heading
        self.plot: HistoryPlot | None = None
        self._shown: tuple[list[float], list[list[float]]] = ([], [])
        self._making = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 8, 0, 0)
        self._column.setSpacing(4)
        self._column.addWidget(label(heading, "section"))
        self.hide()

    def show_lines(self, times: list[float], *lines: list[float]) -> None:
        """Draw these numbers at these moments; fewer than two moments hide it."""
        self._shown = (times, list(lines))
        self.setVisible(len(times) > 1)
        if len(times) < 2:
            return
        if self.plot is not None:
            self.plot.show_history(times, *lines)
        elif not self._making:
            self._making = True
            self._context.run(self._make(), "drawing what the job uses")

    async def _make(self) -> None:
        self.plot = await make_history_plot(self._context.theme, _CHARTS[self._heading], digits=2)
        self._column.addWidget(self.plot)
        times, lines = self._shown
        if len(times) > 1:
            self.plot.show_history(times, *lines)


class UsePane(JobPane):
    """What a job used of what it asked for, in words and over time."""

    title = "Use"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.words, self.note = label(role="strong", wrap=True), label(role="muted", wrap=True)
        self.more, self.other = QPushButton(), QPushButton()
        self.copy = QPushButton("Copy with better figures")
        self.charts = {heading: Chart(context, heading) for heading in _CHARTS}
        self._changes: dict[str, str] = {}
        """What "resubmit with twice ..." writes."""
        self._better: dict[str, str] = {}
        self._again = QTimer(self, interval=_AGAIN_MS)
        self._again.timeout.connect(self.refresh)
        self.more.clicked.connect(self._resubmit)
        self.other.clicked.connect(self._choose)
        self.copy.clicked.connect(self._copy)
        self._lay_out_use()

    def _lay_out_use(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.note)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        for button in (self.more, self.other, self.copy):
            flow.addWidget(button)
        self.more.setProperty("kind", "primary")
        column.addWidget(buttons)
        for chart in self.charts.values():
            column.addWidget(chart)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        whole = QVBoxLayout(self.content)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    async def load(self, job: str) -> UseAnswer:
        """Ask for the job, its samples, and how it failed."""
        detail = await self.context.client.job(job)
        if not detail.row.get("started"):
            return UseAnswer(detail)
        try:
            samples = samples_of((await self.context.client.read_file(job, FILE, 0, MOST)).content)
        except NotFound:
            samples = []
        failure = ""
        if JobState(detail.row["state"]).ended:
            events = await self.context.client.events_of(job)
            failure = next(
                (one.details["failure"] for one in reversed(events) if "failure" in one.details), ""
            )
        return UseAnswer(detail, samples, failure)

    def clear(self) -> None:
        """Forget the job shown before."""
        self._again.stop()
        for chart in self.charts.values():
            chart.show_lines([])

    def render_answer(self, answer: UseAnswer) -> None:
        """Show words, buttons and charts."""
        row, detail = answer.detail.row, answer.detail
        if not row.get("started"):
            self.show_empty_state("chart-line", "Not started yet", "What the job uses is drawn once it runs.")
            return
        running = JobState(row["state"]) is JobState.RUNNING
        self._again.start() if running and self.isVisible() else self._again.stop()
        asked = asked_in(detail.effective or detail.description, int(row["cpus"]))
        found = used(answer.samples, detail.usage if not running else {})
        sentence = in_words(found, asked)
        _say(self.words, sentence.replace("Used", "So far", 1) if running else sentence)
        drawn = len(answer.samples) > 1
        notes = ["" if drawn else _EARLY if running else _NONE, "" if asked.one_program else _FIRST_NODE]
        _say(self.note, " ".join(filter(None, notes)))
        self._changes = twice(answer.failure, detail.description, found.memory, found.wall_s)
        what = "memory" if answer.failure == "out-of-memory" else "time"
        self.more.setText(f"Resubmit with twice the {what}")
        self.more.setToolTip(_listing(self._changes))
        self.other.setText(f"Resubmit with another {_OTHER[what]}…")
        for button in (self.more, self.other):
            button.setVisible(bool(self._changes) and not detail.repeated_by)
        self._better = {} if running or self._changes else better(found, asked)
        self.copy.setToolTip(f"Opens a copy of the description with {_listing(self._better)}")
        self.copy.setVisible(bool(self._better))
        self._draw(answer.samples, asked, float(row["started"]))

    def _draw(self, samples: list[UseSample], asked: AskedFor, began: float) -> None:
        times = [began + one.seconds for one in samples]
        self.charts["Memory"].show_lines(
            times, [one.memory / _GB for one in samples], _level(asked.memory, _GB, times)
        )
        between = busy(samples)
        # What was busy until the second look is drawn from the first on: two looks make a line.
        self.charts["CPUs"].show_lines(times, between[:1] + between, _level(asked.cpus, 1, times))
        seen = [(time, one.gpu_percent) for time, one in zip(times, samples, strict=True)]
        gpus = [(time, percent / 100) for time, percent in seen if percent is not None]
        self._draw_known("GPUs", gpus, asked.gpus, 1)
        held = [(time, one.disk) for time, one in zip(times, samples, strict=True)]
        disk = [(time, amount / _GB) for time, amount in held if amount is not None]
        self._draw_known("Disk", disk, asked.disk, _GB)

    def _draw_known(
        self, heading: str, points: list[tuple[float, float]], asked: int | None, unit: int
    ) -> None:
        """What some samples alone know."""
        times = [time for time, _ in points]
        self.charts[heading].show_lines(times, [value for _, value in points], _level(asked, unit, times))

    def _resubmit(self) -> None:
        if self.job is not None and self._changes:
            run_again(self.context, [self.job], self._changes)

    def _choose(self) -> None:
        """Ask for the figure, with twice of what it was to begin with."""
        if self.job is None or not self._changes:
            return
        sheet = RerunSheet(self.context, [self.job], self.window())
        sheet.memory.setText("".join(f"{size}M" for size in (self._changes.get("MemoryPerNode"),) if size))
        times = [self._changes[name] for name in _WALL_TIMES if name in self._changes]
        sheet.time.setText("".join(times).strip('"'))
        field = sheet.time if times else sheet.memory
        field.selectAll()
        field.setFocus()
        sheet.open()

    def _copy(self) -> None:
        if self.job is not None and self._better:
            self.context.run(self._open_copy(self.job, dict(self._better)), "copying the description")

    async def _open_copy(self, job: str, changes: dict[str, str]) -> None:
        text, path = await copied(self.context, job)
        self.context.open_editor(with_changes(_without(text, changes), changes), path)

    def showEvent(self, event: QShowEvent) -> None:
        """A running job is looked at again and again while it is seen."""
        asks = self._stale
        super().showEvent(event)
        if not asks:
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing is asked for what nobody sees."""
        super().hideEvent(event)
        self._again.stop()


def asked_in(text: str, cpus: int) -> AskedFor:
    """What a description asks for."""
    ad = parse(text).ad or Ad()
    node, each = _figure(ad, "memorypernode"), _figure(ad, "memorypercpu")
    memory = node if node is not None else each * cpus if each is not None else None
    walls = (
        seconds(constant(entry, ad)) for name in _WALL_TIMES if (entry := ad.get(name.lower())) is not None
    )
    disk = _figure(ad, "scratchsize")
    return AskedFor(
        cpus,
        memory * _MB if memory else None,
        next(walls, None),
        _figure(ad, "gpunumber"),
        disk * _MB if disk else None,
        _one_program(ad),
    )


def _one_program(ad: Ad) -> bool:
    """The CPUs are those of one node, which the job shares with others, and no processes of MPI."""
    hosts, kind = ad.get("hostnumber"), ad.get("subjobtype")
    shaped = {"smpgranularity", "wholenodes", "wholenode"} & ad.entries.keys()
    one_host = hosts is None or constant(hosts, ad) == 1
    return one_host and not shaped and (kind is None or constant(kind, ad) == "plain")


def _level(asked: int | None, unit: int, times: list[float]) -> list[float]:
    """The line of what was asked for; none where nothing was."""
    return [asked / unit if asked else float("nan")] * len(times)


def twice(failure: str, text: str, memory: int | None, wall_s: float | None) -> dict[str, str]:
    """Changes that give a job twice of what it ran out of; empty where it ran out of nothing.

    `memory`, `wall_s`: what it used, where the description does not say what it may.
    """
    ad = parse(text).ad or Ad()
    if failure == "out-of-memory":
        for name in ("MemoryPerNode", "MemoryPerCPU"):
            if figure := _figure(ad, name.lower()):
                return {name: str(2 * figure)}
        return {"MemoryPerNode": str(2 * max(100, -(-(memory or 500 * _MB) // _MB)))}
    if failure == "wall-limit":
        name = next((one for one in _WALL_TIMES if one.lower() in ad.entries), _WALL_TIMES[0])
        before = asked_in(text, 1).wall_s or wall_s
        return {name: f'"{max(1, -(-int(2 * before) // 60))}m"'} if before else {}
    return {}


def _without(text: str, changes: dict[str, str]) -> str:
    """The description without other names of what is changed."""
    ad = parse(text).ad or Ad()
    others = {
        "MemoryPerNode": ("MemoryPerCPU",),
        "WallTime": _WALL_TIMES[1:],
        "CpuNumber": ("NodeNumber", "MinNumCPU", "NumberOfProcessors"),
    }
    gone = [one for name in changes for one in others.get(name, ()) if one.lower() in ad.entries]
    return with_changes(text, dict.fromkeys(gone, ""))


def _figure(ad: Ad, name: str) -> int | None:
    entry = ad.get(name)
    value = constant(entry, ad) if entry is not None else None
    return value if type(value) is int and value > 0 else None


def _listing(changes: dict[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in changes.items())


def _say(where: QLabel, text: str) -> None:
    where.setText(text)
    where.setVisible(bool(text))
