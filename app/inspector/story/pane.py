"""The Story tab: where a job is in its life, why, what comes next, and where its time went."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.inspector import job_times
from app.inspector.story.event_list import EventList
from app.inspector.story.silent import SilentPanel
from app.inspector.story.state_chart import StateChart
from app.inspector.story.timeline import Timeline
from app.inspector.story.why import WhyPanel
from app.jobs.annotating import NoteField
from app.widgets.job_pane import JobPane
from app.widgets.labels import breakable, label
from broker_core.jobs.placement import ids_in, listed
from broker_core.jobs.site_names import element_words, site_name
from broker_core.jobs.states import JobState
from broker_core.jobs.story import spent
from broker_core.wire.job_events import replayed_events

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.jobs.events import JobEvent
    from broker_core.wire.queue import WhyView
    from broker_core.wire.views import EventView, JobDetail

    Told = tuple[JobDetail, list[EventView], WhyView | None]


_TICK_MS = 1000
_WAITS = (JobState.SUBMITTED, JobState.WAITING)


class StoryPane(JobPane):
    """The life cycle drawn, what is awaited, the time line, resources used, and every event."""

    title = "Story"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.chart, self.timeline, self.events = StateChart(context), Timeline(context), EventList(context)
        self.now, self.why = label(role="strong", wrap=True), label(role="muted", wrap=True)
        self.waiting, self.silent = WhyPanel(context), SilentPanel(context)
        self.note = NoteField(context)
        self.facts = QGridLayout()
        self._area = QScrollArea(widgetResizable=True)
        self._told: list[JobEvent] = []
        self._seen = 0
        self._facts: list[tuple[str, str, str]] = []
        self._fill()
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._tell_time)

    def _fill(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 16)
        column.setSpacing(4)
        column.addWidget(self.chart)
        column.addSpacing(4)
        for said in (self.now, self.why):
            said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(said)
        column.addSpacing(4)
        column.addWidget(self.waiting)
        column.addWidget(self.silent)
        self._section(column, "Time").addWidget(self.timeline)
        holder = QWidget()
        holder.setLayout(self.facts)
        self.facts.setContentsMargins(0, 0, 0, 0)
        self.facts.setVerticalSpacing(4)
        self.facts.setHorizontalSpacing(16)
        self.facts.setColumnStretch(1, 1)
        self._section(column, "Note").addWidget(self.note)
        self._section(column, "Events").addWidget(self.events)
        self._section(column, "Resources").addWidget(holder)
        column.addStretch(1)
        self._area.setWidget(page)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setAccessibleName("Story of the job")
        outer = QVBoxLayout(self.content)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._area)

    def _section(self, column: QVBoxLayout, heading: str) -> QVBoxLayout:
        column.addSpacing(12)
        column.addWidget(label(heading, "section"))
        return column

    async def load(self, job: str) -> Told:
        """Ask for the job, its events and, while it waits, for the reason."""
        client = self.context.client
        detail, events = await client.job(job), await client.events_of(job)
        return detail, events, await client.why(job) if detail.row["state"] in _WAITS else None

    def clear(self) -> None:
        """Forget the job shown before, and how far its story was scrolled."""
        self._seen, self._told = 0, []
        self._area.verticalScrollBar().setValue(0)
        self.waiting.show_why(None)
        self.silent.show_job("")
        self.note.show_job("")
        self._tick.stop()

    def render_answer(self, answer: Told) -> None:
        """Show the job as the broker tells it."""
        detail, events, why = answer
        live = 0 < self._seen < len(events)
        self._seen = len(events)
        self.chart.show_events(events, detail.row, live)
        self.waiting.show_why(why)
        self.silent.show_job(detail.row["id"])
        self.note.show_job(detail.row["id"])
        self.now.setText(now_words(detail))
        self.now.setVisible(why is None and self.silent.isHidden())
        reason = detail.row.get("reason") or ""
        self.why.setText(breakable(reason))
        repeats = reason in self.now.text() or reason == f"Exit code {detail.row.get('exit_code')}"
        self.why.setVisible(bool(reason) and why is None and not repeats)
        self.events.show_events(events)
        self._told = replayed_events(events)
        self._show_facts(facts_of(detail))
        self._tell_time()
        moving = JobState(detail.row["state"]).active
        self._tick.start() if moving else self._tick.stop()

    def _tell_time(self) -> None:
        if self.isVisible():
            self.timeline.show_steps(spent(self._told, self.context.link.known_until(time.time())))

    def _show_facts(self, facts: list[tuple[str, str, str]]) -> None:
        if facts == self._facts:
            return
        self._facts = facts
        while (gone := self.facts.takeAt(0)) is not None:
            if (widget := gone.widget()) is not None:
                widget.deleteLater()
        for number, (name, said, tip) in enumerate(facts):
            value = label(said, wrap=True)
            value.setToolTip(tip)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.facts.addWidget(label(name, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
            self.facts.addWidget(value, number, 1)
            self._name_value(value, name)

    def _name_value(self, value: QLabel, name: str) -> None:
        value.setAccessibleName(f"{name}: {value.text()}")


def now_words(detail: JobDetail) -> str:
    """Say how the job stands and what it waits for, in one or two sentences."""
    row = detail.row
    state = JobState(row["state"])
    if state.ended:
        ended = {
            JobState.CANCELED: "Canceled. It can be submitted again in one step.",
            JobState.ABORTED: f"Aborted before it could {'finish' if row.get('started') else 'start'}.",
            JobState.CLEARED: "Its output has been fetched.",
        }
        end = job_times.end_words(row)
        if state is JobState.DONE:
            return f"{end}. Its output can be fetched." if end else "Its output can be fetched."
        return f"{end}. {ended[state]}" if end else ended[state]
    if row.get("canceling"):
        return "Being canceled: the site has been told."
    place = f" It is number {detail.queue_place} in the queue." if detail.queue_place else ""
    if detail.waits_for:
        return f"{detail.waits_for}{place}"
    site = site_name(row.get("site") or "")
    fallback = {
        JobState.SUBMITTED: "Waiting for the scheduler to take it over.",
        JobState.WAITING: "Waiting for a place to run.",
        JobState.READY: f"Being sent to {site or 'the chosen site'}.",
        JobState.SCHEDULED: f"In the queue of {site or 'the site'}.",
        JobState.RUNNING: f"Running at {site or 'the site'}.",
    }
    return fallback[state] + place


def facts_of(detail: JobDetail) -> list[tuple[str, str, str]]:
    """Return name, value in words and tooltip of each fact worth a line."""
    row, usage = detail.row, detail.usage
    facts = [
        ("Site", site_name(row.get("site") or "") or "not chosen yet", _elements(row)),
        ("CPUs", str(row.get("cpus") or 1), ""),
    ]
    if "wall_s" in usage:
        facts.append(("Wall time", job_times.duration(usage["wall_s"]), f"{usage['wall_s']:.3f} s"))
    if "cpu_s" in usage:
        facts.append(("CPU time", job_times.duration(usage["cpu_s"]), f"{usage['cpu_s']:.3f} s"))
    if usage.get("max_rss_bytes"):
        facts.append(
            ("Most memory", job_times.size(usage["max_rss_bytes"]), f"{usage['max_rss_bytes']:,.0f} bytes")
        )
    if "output_bytes" in usage:
        facts.append(("Output", job_times.size(usage["output_bytes"]), f"{usage['output_bytes']:,.0f} bytes"))
    if row.get("attempt", 0) > 1:
        facts.append(("Attempts", str(row["attempt"]), "Earlier attempts were given up; the events say why"))
    facts.append(("Submitted", job_times.exact(row["submitted"]), ""))
    facts.append(("Id", row["id"], "Select to copy, or use the button at the top"))
    return facts


def _elements(row: dict[str, Any]) -> str:
    """The computing elements of a row for a tooltip."""
    return listed(map(element_words, ids_in(row.get("site") or "")))
