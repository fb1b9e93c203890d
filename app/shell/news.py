"""Telling that jobs ended, or are held by the broker: one notice a moment, however many they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.context import LinkState, Notice, Tone
from app.model import words
from app.theme.faces import failed
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk
    from broker_core.wire.views import EventView

_PAUSE = 700
_TOLD = frozenset({EventType.DONE.value, EventType.ABORTED.value, EventType.REFUSED.value})


class News(QObject):
    """Turns events of jobs that ended, or that the broker holds, into notices (CB-UI-12)."""

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__(desk)
        self._desk = desk
        self._ended: dict[str, EventView] = {}
        self._held: dict[str, EventView] = {}
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._tell)
        desk.session.on_events.append(self._events)
        desk.link.changed.connect(self._linked)

    def _linked(self) -> None:
        if self._desk.link.state is LinkState.STOPPED:
            said = "The broker was stopped. Jobs that run go on."
            self._desk.notify(Notice(said, Tone.WARNING, "broker.start"))

    def _events(self, events: list[EventView]) -> None:
        for event in events:
            if event.type in _TOLD:
                self._ended[event.job] = event
            elif event.type == EventType.HELD.value and event.details.get("suspected"):
                self._held[event.job] = event
        if (self._ended or self._held) and not self._pause.isActive():
            self._pause.start()

    def _tell(self) -> None:
        held, self._held = self._held, {}
        if held:
            self._tell_held(list(held.values()))
        ended, self._ended = self._ended, {}
        bad = [event for event in ended.values() if _bad(event)]
        if len(ended) == 1:
            self._tell_one(next(iter(ended.values())))
        elif ended:
            good = len(ended) - len(bad)
            text = f"{words.count(len(ended), 'job')} ended: {good:,} done, {len(bad):,} failed."
            job = bad[0].job if bad else next(iter(ended))
            self._desk.notify(Notice(text, Tone.BAD if bad else Tone.GOOD, "", job))

    def _tell_held(self, held: list[EventView]) -> None:
        """Jobs that are suspected to kill what starts them wait for a look of their owner."""
        first = held[0]
        if len(held) == 1:
            said = f"{self._name(first)} is on hold. {first.reason}."
        else:
            said = f"{words.count(len(held), 'job')} are on hold. Of the first: {first.reason}."
        self._desk.notify(Notice(said, Tone.WARNING, "job.story", first.job))

    def _name(self, event: EventView) -> str:
        row = self._desk.jobs.row(event.job)
        return f"“{row['name']}”" if row else "A job"

    def _tell_one(self, event: EventView) -> None:
        row, name = self._desk.jobs.row(event.job), self._name(event)
        if not _bad(event):
            self._desk.notify(Notice(f"{name} is done.", Tone.GOOD, "job.output", event.job))
        elif event.new == JobState.DONE:
            code = event.details.get("exit_code")
            self._desk.notify(
                Notice(f"{name} ended with exit code {code}.", Tone.WARNING, "job.logs", event.job)
            )
        elif row and row["interactive"] and row["started"] is None:
            said = f"{name} could not start: {event.reason}"
            self._desk.notify(Notice(said, Tone.BAD, "job.resubmit", event.job, "job.batch"))
        else:
            self._desk.notify(Notice(f"{name} was aborted: {event.reason}", Tone.BAD, "job.story", event.job))


def _bad(event: EventView) -> bool:
    return failed(event.new, event.details.get("exit_code"))
