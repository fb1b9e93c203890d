"""What was typed to a program stays no longer than the program, whoever looked at it last (CB-BYP).

The store and the site are stand-ins: only they know when a job ends, and here that is the moment meant.
"""

from __future__ import annotations

import asyncio
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from broker_core.errors import NotFound
from broker_core.interactive.sessions.agent_monitor import AgentMonitor
from broker_core.interactive.sessions.line_journal import LineJournal
from broker_core.interactive.sessions.line_sessions import LineJob, LineSessions, LineViewer
from broker_core.jobs.placement import shared
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.settings.interactive import InteractiveSettings
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.transport.contract import LinkLost


def running(name: str) -> JobRecord:
    """An interactive job at a site."""
    return JobRecord(
        name, "ann", "n", "Normal", True, 1, JobState.RUNNING, "", attempt=1,
        placements=shared(("far:22/jobmanager-slurm-q",), 1),
    )  # fmt: skip


class Site:
    """Stands for a site: it takes what is typed, and has no output."""

    async def carry_lines(self, attempt: object, call: LineCall) -> LineAnswer:
        typed = call.typed.place + len(call.typed.data)
        return LineAnswer(typed, call.control.place + len(call.control.data), (0, 0), (b"", b""))

    async def open_path(self, attempt: object, name: str) -> Path:
        raise NotFound("There is none.", place=name)


class Made:
    """Sessions with one job of each name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records = {name: running(name) for name in ("job-1", "job-2")}
        self.sessions = LineSessions(cast(Any, self), InteractiveSettings(), folder)

    def change(self, name: str, **columns: Any) -> None:
        self.records[name] = replace(self.records[name], **columns)

    async def job(self, name: str) -> Any:
        return self.records[name]

    def line_job(self, name: str) -> LineJob:
        return LineJob(self.records[name], cast(Any, Site()), ("out", "err"))

    async def look(self, name: str, desk: str = "desk") -> bytes:
        async def job() -> LineJob:
            return self.line_job(name)

        return await self.sessions.look(job, LineViewer(desk, True, True, {}), 0.0)

    async def typed(self, name: str, data: bytes) -> None:
        await self.look(name)
        await self.sessions.typed(self.line_job(name), "desk", 0, data)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "lines")


def open_files(folder: Path) -> list[str]:
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return [name for name in found if name.startswith(str(folder))]


async def test_a_job_that_ends_without_a_desk_leaves_no_file_and_none_open(made: Made) -> None:
    await made.typed("job-1", b"secret\n")
    assert open_files(made.folder)
    record = made.records["job-1"]
    live: dict[str, Any] = {"job-1": record}
    watch = AgentMonitor(live.get, cast(Any, None), lambda ce: None, made.sessions.over)
    made.change("job-1", state=JobState.DONE)
    live.clear()
    watch.begin("job-1")
    await asyncio.gather(*watch._tasks.values())
    assert os.listdir(made.folder) == []
    assert open_files(made.folder) == []


async def test_what_a_desk_opened_while_its_job_ended_goes_with_the_next_session(made: Made) -> None:
    await made.typed("job-1", b"secret\n")
    made.change("job-1", state=JobState.DONE)
    await made.look("job-2")
    assert os.listdir(made.folder) == ["job-2.1"]
    assert all("job-2.1" in name for name in open_files(made.folder))


async def test_an_attempt_that_was_followed_by_another_leaves_nothing(made: Made) -> None:
    await made.typed("job-1", b"first\n")
    made.change("job-1", attempt=2)
    await made.look("job-1")
    assert os.listdir(made.folder) == ["job-1.2"]


async def test_who_comes_late_writes_into_no_other_file(tmp_path: Path) -> None:
    journal = LineJournal(tmp_path / "one")
    journal.give_to("desk")
    journal.close()
    files = [(tmp_path / f"other{number}").open("w+") for number in range(6)]
    with pytest.raises(OSError, match="Bad file descriptor"):
        journal.add("desk", 0, b"late\n")
    assert [file.read() for file in files] == [""] * 6
    for file in files:
        file.close()


async def test_output_that_cannot_be_read_for_want_of_descriptors_is_no_empty_output(
    made: Made, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("all of it")
    job = made.line_job("job-1")
    job.site.open_path = lambda attempt, name: asyncio.sleep(0, tmp_path / name)  # type: ignore[method-assign]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(LinkLost, match="cannot be read now"):
            await made.sessions._kept(job, "out", 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert await made.sessions._kept(job, "out", 4) == (b"of it", 9)
