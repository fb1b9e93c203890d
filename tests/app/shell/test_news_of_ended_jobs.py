"""A notice of jobs that ended says of each whether it failed, and why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
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
            row=lambda job: {"name": job, "parameter": "", "interactive": False, "started": 1.0}
        )
        self.notices: list[Notice] = []
        self.owner = self
        self.notify = self.notices.append


def ended(job: str, kind: str = "job.done", new: str = "Done", **details: Any) -> EventView:
    return EventView(
        position=1, job=job, seq=6, time=1.0, source="JS", type=kind, old="Running", new=new, owner="ann",
        reason="Ended by signal 9 (SIGKILL)", details=details,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("events", "text", "tone"),
    [
        ([ended("a", exit_code=0)], "“a” is done.", Tone.GOOD),
        ([ended("a", exit_code=3)], "“a” failed: Exit 3", Tone.WARNING),
        (
            [ended("a", exit_code=7, error_line="no map here")],
            "“a” failed: Exit 7 · no map here",
            Tone.WARNING,
        ),
        (
            [ended("a", "job.aborted", "Aborted", signal=9)],
            "“a” failed: Ended by signal 9 (SIGKILL)",
            Tone.BAD,
        ),
        (
            [ended(f"j{number}", exit_code=3) for number in range(13)],
            "13 jobs ended: 0 done, 13 failed.",
            Tone.BAD,
        ),
    ],
)
def test_a_notice_says_what_failed(
    qapp: QApplication, qtbot: QtBot, events: list[EventView], text: str, tone: Tone
) -> None:
    context = _Desk()
    news = News(context, BatchBook(JobStore()))  # type: ignore[arg-type]
    (take,) = context.session.on_events
    take(events)
    qtbot.waitUntil(lambda: len(context.notices) == 1, timeout=60_000)
    assert (context.notices[0].text, context.notices[0].tone) == (text, tone)
    assert news is not None
