"""A job that the broker holds as the likely cause of deaths is told of; one that its owner holds is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.context import Notice, Tone
from app.jobs.batch_totals import BatchBook
from app.shell.news import News
from app.stores.jobs import JobStore
from broker_core.wire.views import EventView


class _Link(QObject):
    changed = Signal()


class _Desk(QObject):
    """A stand-in for the window's desk: what News asks of it."""

    def __init__(self) -> None:
        super().__init__()
        self.session = SimpleNamespace(on_events=[])
        self.link = _Link()
        self.jobs = SimpleNamespace(
            row=lambda job: {"name": job, "parameter": "", "interactive": False, "started": None}
        )
        self.told: list[Notice] = []
        self.owner = self
        self.notify = self.told.append


def held(job: str, reason: str, **details: Any) -> EventView:
    return EventView(
        position=1, job=job, seq=4, time=1.0, source="Scheduler", type="job.held", old="Waiting",
        new="Waiting", owner="ann", reason=reason, details=details,
    )  # fmt: skip


def test_one_notice_tells_of_the_jobs_that_the_broker_holds(qapp: QApplication, qtbot: QtBot) -> None:
    context = _Desk()
    news = News(context, BatchBook(JobStore()))  # type: ignore[arg-type]
    (hear,) = context.session.on_events
    hear([held("mine", "On hold by its owner"), held("poison", "It may be the cause", suspected=True)])
    qtbot.waitUntil(lambda: len(context.told) == 1, timeout=60_000)
    assert context.told[-1] == Notice(
        "“poison” is on hold. It may be the cause.", Tone.WARNING, "job.story", "poison"
    )
    hear([held(job, "It may be the cause", suspected=True) for job in ("a", "b")])
    qtbot.waitUntil(lambda: len(context.told) == 2, timeout=60_000)
    assert context.told[-1].text.startswith("2 jobs are on hold.")
    assert news is not None
