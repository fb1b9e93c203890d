"""The Components tab: what each site of one job does, the barrier, and what was done about failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.inspector import job_times
from app.inspector.coallocation.barrier import BarrierPicture
from app.units import binary_size
from app.widgets.job_pane import JobPane
from app.widgets.labels import breakable, label
from broker_core.jobs.components import CoallocationStory, ReactionTaken, coallocation_of
from broker_core.jobs.placement import ids_in
from broker_core.wire.job_events import replayed_events

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import EventView

SHOWN = 20
"""Latest reactions that are listed."""


class CoallocationPane(JobPane):
    """One lane for each component, how many of them have reached the barrier, and the reactions taken."""

    title = "Components"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.barrier, self.picture = label(role="strong", wrap=True), BarrierPicture(context)
        self.ranks, self.ways = label(role="muted", wrap=True), label(role="muted", wrap=True)
        self.heading = label("What was done about failures", "section")
        self.reactions = QVBoxLayout()
        self._listed: tuple[ReactionTaken, ...] = ()
        self._fill()

    def _fill(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 16)
        column.setSpacing(8)
        for words in (self.barrier, self.ranks, self.ways):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self.barrier)
        column.addWidget(self.picture)
        column.addWidget(self.ranks)
        column.addWidget(self.ways)
        column.addSpacing(4)
        column.addWidget(self.heading)
        self.reactions.setSpacing(10)
        column.addLayout(self.reactions)
        column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("Components of the job")
        area.setWidget(page)
        outer = QVBoxLayout(self.content)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)

    async def load(self, job: str) -> list[EventView]:
        """Ask for the events."""
        return await self.context.client.events_of(job)

    def clear(self) -> None:
        """Forget the job shown before."""
        self.picture.show_story(None)
        self._list(())

    def render_answer(self, answer: list[EventView]) -> None:
        """Show how the components stand."""
        story = coallocation_of(replayed_events(answer))
        if story is None:
            self.clear()
            self.show_empty_state("network", "At one site", "Only a job over several sites has components.")
            return
        self.picture.show_story(story)
        self.barrier.setText(story.barrier)
        self.ranks.setText(ranks_in_words(story))
        self.ways.setText(ways_in_words(story))
        self._list(story.reactions[-SHOWN:])

    def _list(self, reactions: tuple[ReactionTaken, ...]) -> None:
        self.heading.setVisible(bool(reactions))
        if reactions == self._listed:
            return
        self._listed = reactions
        while (gone := self.reactions.takeAt(0)) is not None:
            if (widget := gone.widget()) is not None:
                widget.deleteLater()
        for one in reversed(reactions):
            self.reactions.addWidget(_Reaction(one))


class _Reaction(QWidget):
    """When, what failed, and what followed."""

    def __init__(self, one: ReactionTaken) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        head = label(f"{job_times.clock(one.time)}  Attempt {one.attempt} was given up", "strong")
        done = "as soon as nothing is left" if one.done is None else f"at {job_times.clock(one.done)}"
        for part in (
            head,
            label(breakable(one.reason), wrap=True),
            label(f"{one.plan}, {done}." if one.plan else "", "muted", wrap=True),
        ):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(part)


def several(row: dict[str, object]) -> bool:
    """True for the row of a job whose current or last attempt has several computing elements."""
    return len(ids_in(str(row.get("site") or ""))) > 1


def ways_in_words(story: CoallocationStory) -> str:
    """How the sites reach each other, and what has passed between them."""
    if story.carried is None:
        return f"Between sites: {story.between}. What they carry is not counted."
    return f"Between sites: {story.between}. {binary_size(story.carried)} so far."


def ranks_in_words(story: CoallocationStory) -> str:
    """Which ranks run where."""
    each = (f"{one.ranks} at {one.site}" for one in story.components)
    return f"Ranks {', '.join(each)}."
