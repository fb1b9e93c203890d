"""Telling that jobs ended, are held by the broker, or what they left goes: one notice for many of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app import units
from app.context import NO_BROKER, Notice, Tone
from app.stores.link import ConnectionState
from broker_core.errors import NotFound, Unreachable
from broker_core.jobs.batch_names import job_name
from broker_core.jobs.outcome import Outcome, failure_line, outcome_of
from broker_core.jobs.transitions import EventType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.context import AppContext
    from app.jobs.batch_totals import BatchBook
    from broker_core.wire.views import EventView, ExpiringView


_PAUSE = 700
_TOLD = frozenset({EventType.DONE.value, EventType.ABORTED.value, EventType.REFUSED.value})
log = logging.getLogger(__name__)
_SERVICE, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_PATIENCE = 3.0
"""Seconds that the desktop gets to take a notice."""
_SHOWN_MS = 8000


class News(QObject):
    """Turns events of jobs that ended, or that the broker holds, into notices (CB-UI-12)."""

    def __init__(self, context: AppContext, book: BatchBook) -> None:
        super().__init__(context.owner)
        self._context, self._book = context, book
        self._ended: dict[str, EventView] = {}
        self._held: dict[str, EventView] = {}
        self._failures: dict[str, EventView] = {}
        """Batch to the last of its jobs that was seen to fail."""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._tell)
        context.session.on_events.append(self._events)
        context.link.changed.connect(self._linked)

    def _linked(self) -> None:
        if self._context.link.state is ConnectionState.STOPPED:
            said = "The broker was stopped. Jobs that run go on."
            self._context.notify(Notice(said, Tone.WARNING, "broker.start", topic=NO_BROKER))
        elif self._context.link.up:
            self._context.withdraw(NO_BROKER)

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
        single: list[EventView] = []
        batches: dict[str, EventView] = {}
        for event in ended.values():
            batch = (self._context.jobs.row(event.job) or {}).get("batch")
            if not batch:
                single.append(event)
                continue
            batches[batch] = event
            if _bad(event):
                self._failures[batch] = event
        if batches:
            self._context.run(self._tell_batches(batches), "counting the jobs of a batch")
        if len(single) == 1:
            self._tell_one(single[0])
        elif single:
            self._tell_several(single)

    def _tell_several(self, ended: list[EventView]) -> None:
        bad = [event for event in ended if _bad(event)]
        text = f"{len(ended):,} jobs ended: {len(ended) - len(bad):,} done, {len(bad):,} failed."
        job = bad[0].job if bad else ended[0].job
        self._context.notify(Notice(text, Tone.BAD if bad else Tone.GOOD, "", job))

    async def _tell_batches(self, batches: dict[str, EventView]) -> None:
        """One notice for each batch, which counts on until the last of its jobs has ended."""
        await self._book.ready(batches)
        for batch, newest in batches.items():
            event, totals = newest, self._book.totals(batch)
            if len(totals) < 2:
                self._tell_one(event)
                continue
            counts = totals.outcomes()
            text, over = batch_words(totals.name, counts), not any(one.active for one in counts)
            failed, last = counts[Outcome.FAILED], self._failures.get(batch)
            if failed and last is not None and last.job not in self._context.jobs.repeated:
                text = f"{text}. {'The last one' if failed > 1 else 'It'} says: {_why(last)}"
                event = last
            tone = Tone.BAD if failed else Tone.GOOD if over else Tone.NEUTRAL
            self._context.notify(
                Notice(text, tone, job=event.job, topic=f"batch {batch}", counting=not over, batch=batch)
            )
            if over:
                self._failures.pop(batch, None)

    def _tell_held(self, held: list[EventView]) -> None:
        """Jobs that are suspected to kill what starts them wait for a look of their owner."""
        first = held[0]
        if len(held) == 1:
            said = f"{self._name(first)} is on hold. {first.reason}."
        else:
            said = f"{units.count(len(held), 'job')} are on hold. Of the first: {first.reason}."
        self._context.notify(Notice(said, Tone.WARNING, "job.story", first.job))

    def _name(self, event: EventView) -> str:
        row = self._context.jobs.row(event.job)
        return f"“{job_name(row['name'], row['parameter'])}”" if row else "A job"

    def _tell_one(self, event: EventView) -> None:
        row, name = self._context.jobs.row(event.job), self._name(event)
        if not _bad(event):
            self._context.notify(Notice(f"{name} is done.", Tone.GOOD, "job.output", event.job))
        elif row and row["interactive"] and row["started"] is None:
            said = f"{name} could not start: {event.reason}"
            self._context.notify(Notice(said, Tone.BAD, "job.resubmit", event.job, "job.batch"))
        else:
            ran = event.type == EventType.DONE.value
            tone, tab = (Tone.WARNING, "job.logs") if ran else (Tone.BAD, "job.story")
            self._context.notify(Notice(f"{name} failed: {_why(event)}", tone, tab, event.job))


class ExpiryNews(QObject):
    """One notice of what jobs left at sites and is removed there within a day, told once on this machine.

    The broker is asked when it is connected, and when a story says that something goes: what was due while
    no window was open is told too.
    """

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.owner)
        self._context = context
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._ask)
        context.session.on_events.append(self._events)
        context.session.on_connected.append(self._pause.start)
        if context.link.up:
            self._pause.start()

    def _events(self, events: list[EventView]) -> None:
        if any(event.type == EventType.LEFT_EXPIRES.value for event in events):
            self._pause.start()

    def _ask(self) -> None:
        self._context.run(self._tell(), "asking what is removed at sites")

    async def _tell(self) -> None:
        try:
            found = await self._context.client.expiring()
        except (NotFound, Unreachable):
            return  # an earlier broker, or asked again with the next connection
        preferences = self._context.preferences
        known = {tuple(one) for one in preferences["expiry_told"] if isinstance(one, list)}
        new = [one for one in found if (one.job, one.goes) not in known]
        preferences["expiry_told"] = [[one.job, one.goes] for one in found]
        if new:
            text = expiry_words(new)
            self._context.notify(
                Notice(text, Tone.WARNING, "job.output", new[0].job, topic="what stayed at sites goes")
            )


def expiry_words(found: Sequence[ExpiringView]) -> str:
    """Return what goes, and when: e.g. `What “a” left at labhost (2 MiB) is removed there at ...`"""
    sites = sorted({one.site for one in found})
    where = f"at {sites[0]}" if len(sites) == 1 else f"at {len(sites)} sites"
    size, first = units.size(sum(one.size for one in found)), found[0]
    when = units.exact(first.goes)[:-3]
    if len(found) == 1:
        return f"What “{first.name}” left {where} ({size}) is removed there at {when}."
    jobs = units.count(len(found), "job")
    return f"What {jobs} left {where} ({size}) is removed there, the first, of “{first.name}”, at {when}."


def batch_words(name: str, counts: Mapping[Outcome, int]) -> str:
    """Return how far a batch has come, e.g. `logistic: 120 of 200 done, 3 failed`."""
    total, done = sum(counts.values()), counts.get(Outcome.DONE, 0)
    parts = [f"{name}: all {total:,} done" if done == total else f"{name}: {done:,} of {total:,} done"]
    others = ((one, counts.get(one, 0)) for one in (Outcome.FAILED, Outcome.CANCELED))
    parts += [f"{number:,} {outcome.value.lower()}" for outcome, number in others if number]
    return ", ".join(parts)


def _bad(event: EventView) -> bool:
    return outcome_of(event.new, event.details.get("exit_code")) is Outcome.FAILED


def _why(event: EventView) -> str:
    details = event.details
    known = (event.new, details.get("exit_code"), details.get("signal"), event.reason)
    return failure_line(*known, details.get("error_line") or "")


class DesktopNotices(QObject):
    """Repeats notices about jobs outside the window while it is not in front."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        context.noticed.connect(self._tell)

    def _tell(self, notice: Notice) -> None:
        if notice.counting:
            return
        wanted = self._context.preferences["notify"]
        matters = wanted == "all" or (wanted == "failures" and notice.tone in (Tone.BAD, Tone.WARNING))
        if notice.job and matters and not self._window.isActiveWindow():
            self._context.run(asyncio.to_thread(show, notice.text), "showing a notice on your desktop")


def show(text: str) -> bool:
    """Have the desktop show a notice; False if there is nobody to show it.

    Qt's own D-Bus sends a number and an empty list from Python as types that no desktop accepts here.
    """
    try:
        from jeepney import DBusAddress, DBusErrorResponse, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        from jeepney.wrappers import unwrap_msg
    except ImportError:  # not on this system
        return False
    address = DBusAddress(_PATH, bus_name=_SERVICE, interface=_SERVICE)
    words: tuple[object, ...] = ("CrossDesk", 0, "", "CrossDesk", escape(text), [], {}, _SHOWN_MS)
    try:
        with open_dbus_connection(bus="SESSION") as connection:
            call = new_method_call(address, "Notify", "susssasa{sv}i", words)
            unwrap_msg(connection.send_and_get_reply(call, timeout=_PATIENCE))
    except (OSError, KeyError, TimeoutError, DBusErrorResponse) as error:
        log.info("The desktop shows no notices: %r", error)
        return False
    return True
