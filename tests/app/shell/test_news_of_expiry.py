"""What jobs left at sites and goes within a day is told in one notice, and once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.context import Notice, Tone
from app.shell.news import ExpiryNews
from app.stores.preferences import Preferences
from broker_core.wire.views import EventView, ExpiringView

DAY = 86_400.0


class _Link(QObject):
    changed = Signal()
    up = False


class _Desk(QObject):
    """What the news ask of the window, with the answer of a broker."""

    def __init__(self, file: Path, loop: asyncio.AbstractEventLoop, *going: ExpiringView) -> None:
        super().__init__()
        self.session = SimpleNamespace(on_events=[], on_connected=[])
        self.link, self.preferences, self.owner = _Link(), Preferences(file), self
        self.going, self.asked, self.told = list(going), 0, list[Notice]()
        self.notify, self.client, self._loop = self.told.append, self, loop

    async def expiring(self) -> list[ExpiringView]:
        self.asked += 1
        return self.going

    def run(self, work: Any, doing: str) -> Any:
        return self._loop.create_task(work, name=doing)


def going(job: str, goes: float = 1000.0) -> ExpiringView:
    return ExpiringView(job=job, name=f"name of {job}", site="labhost", size=1 << 20, goes=goes)


def said(job: str) -> EventView:
    return EventView(
        position=1, job=job, seq=9, time=1.0, source="AL", type="job.left_expires", old="Done", new="Done",
        owner="ann",
    )  # fmt: skip


def test_many_jobs_are_told_in_one_notice_and_none_of_them_again(
    qapp: QApplication, loop: asyncio.AbstractEventLoop, until: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "desktop.json"
    first = _Desk(file, loop, *map(going, "abc"))
    news = [ExpiryNews(first)]  # type: ignore[arg-type]
    for hear in first.session.on_events:
        hear([said("a"), said("b")])
        hear([said("c")])
    until(lambda: first.told)
    (told,) = first.told
    assert told.text.startswith(
        "What 3 jobs left at labhost (3.0 MiB) is removed there, the first, of “name of a”"
    )
    assert (told.tone, told.action, told.job) == (Tone.WARNING, "job.output", "a")

    again = _Desk(file, loop, *map(going, "abc"))
    news.append(ExpiryNews(again))  # type: ignore[arg-type]
    for connected in again.session.on_connected:
        connected()
    until(lambda: again.asked)
    assert again.told == []
    again.going = [going("a", goes=DAY), *map(going, "bc")]
    for connected in again.session.on_connected:
        connected()
    until(lambda: again.told)
    assert again.told[0].text.startswith("What “name of a” left at labhost (1.0 MiB) is removed there at ")
    assert len(news) == 2
