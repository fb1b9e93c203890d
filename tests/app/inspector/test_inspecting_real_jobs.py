"""The inspector before a real broker, with jobs that really run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.inspector.inspector import Inspector
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.inspector.recorded import TestContext

Until = Callable[..., Any]
SCRIPT = r"""[
  Executable = "/bin/sh";
  Arguments = "-c '%s'";
  StdOutput = "out.txt";
  StdError = "err.txt";
  OutputSandbox = {"out.txt", "err.txt", "losses.csv"};
]
"""


class LiveContext(TestContext):
    """A desk whose rows follow the broker."""

    async def begin(self) -> None:
        page = await self.client.jobs_page()
        self.jobs.merge(page.columns)
        self.task = asyncio.get_event_loop().create_task(self._follow(page.position))

    async def _follow(self, position: int) -> None:
        async for update in self.client.follow(position):
            self.jobs.merge(update.rows)
            self.jobs.drop(update.gone)

    async def submit(self, command: str) -> str:
        """Submit one shell command (without quotes in it); returns the job's id."""
        item = SubmissionItem(description=SCRIPT % command)
        receipt = await self.client.submit(Submission(key=f"key-{id(item):012d}", items=[item]))
        return receipt.ids[0]


@pytest.fixture
def live(broker: Path, loop: asyncio.AbstractEventLoop, qapp: QApplication) -> Iterator[LiveContext]:
    client: BrokerClient = loop.run_until_complete(connect(broker))
    context = LiveContext(Theme(qapp, Mode.LIGHT), client)
    loop.run_until_complete(context.begin())
    yield context
    context.task.cancel()
    loop.run_until_complete(asyncio.gather(context.task, return_exceptions=True))
    loop.run_until_complete(client.aclose())


@pytest.fixture
def inspector(qtbot: QtBot, live: LiveContext) -> Inspector:
    made = Inspector(live)
    qtbot.addWidget(made)
    made.resize(380, 820)
    made.show()
    return made


def submitted(live: LiveContext, inspector: Inspector, loop: Any, until: Until, command: str) -> str:
    job = loop.run_until_complete(live.submit(command))
    until(lambda: live.jobs.row(job) is not None)
    inspector.show_jobs([job])
    return str(job)


def state(live: LiveContext, job: str) -> str:
    row = live.jobs.row(job)
    return row["state"] if row else ""


def test_a_job_is_followed_from_its_first_line_to_its_end(
    live: LiveContext, inspector: Inspector, loop: Any, until: Until, isolated: Path
) -> None:
    gate = isolated / "go"
    command = f"echo first; while [ ! -e {gate} ]; do read x < /proc/uptime; done; echo last; exit 7"
    job = submitted(live, inspector, loop, until, command)
    story: Any = inspector.panes["story"]
    until(lambda: state(live, job) == "Running")
    inspector.show_tab("logs")
    logs: Any = inspector.panes["logs"]
    until(lambda: "first" in logs.view.visible_text())
    assert "still growing" in logs.measure.text()
    gate.touch()
    until(lambda: "last" in logs.view.visible_text())
    until(lambda: state(live, job) == "Done")
    inspector.show_tab("story")
    until(lambda: "exit 7" in story.now.text())
    assert list(story.chart.path.visits) == ["Submitted", "Waiting", "Ready", "Scheduled", "Running", "Done"]
    # The header follows the rows, which are told at most 10 times a second.
    until(lambda: inspector.header.state.text() == "Failed, exit 7")
    assert [one.step.value for one in story.timeline.steps][-1] == "running"


def test_output_is_looked_at_and_saved_and_the_job_becomes_cleared(
    live: LiveContext, inspector: Inspector, loop: Any, until: Until, tmp_path: Path
) -> None:
    command = "echo epoch,loss > losses.csv; for n in 1 2 3 4; do echo $n,0.$n >> losses.csv; done; echo ok"
    job = submitted(live, inspector, loop, until, command)
    until(lambda: state(live, job) == "Done")
    inspector.show_tab("output")
    output: Any = inspector.panes["output"]
    until(lambda: "losses.csv" in output.list.files)
    output.list.choose("losses.csv")
    until(lambda: output.preview.kind() == "table")
    assert output.preview.table.table.names == ["epoch", "loss"]
    until(lambda: output.all.isEnabled())
    output.save_all(job, tmp_path / "saved")
    until(lambda: state(live, job) == "Cleared")
    saved = next((tmp_path / "saved").iterdir())
    assert (saved / "out.txt").read_text() == "ok\n"


def test_where_and_text_tell_of_a_real_job(
    live: LiveContext, inspector: Inspector, loop: Any, until: Until
) -> None:
    submitted(live, inspector, loop, until, "true")
    inspector.show_tab("where")
    where: Any = inspector.panes["where"]
    until(lambda: where.match.candidates.rowCount() >= 1)
    assert where.match.candidates.at(0).matches
    inspector.show_tab("text")
    text: Any = inspector.panes["text"]
    until(lambda: "/bin/sh" in text.text.toPlainText())
    assert text.sent.text() == "Sent without files."


def test_a_canceled_and_a_purged_job_are_told_as_such(
    live: LiveContext, inspector: Inspector, loop: Any, until: Until
) -> None:
    job = submitted(live, inspector, loop, until, "echo started; while :; do read x < /proc/uptime; done")
    inspector.show_tab("story")
    until(lambda: state(live, job) == "Running")
    loop.run_until_complete(live.client.cancel([job]))
    until(lambda: state(live, job) == "Canceled")
    story: Any = inspector.panes["story"]
    until(lambda: story.now.text().endswith("Canceled. It can be submitted again in one step."))
    loop.run_until_complete(live.client.purge([job]))
    until(lambda: story.empty_state.heading.text() == "This job is gone")


def test_a_log_of_100_mb_written_by_a_real_job_is_reached_to_its_last_line(
    live: LiveContext, inspector: Inspector, loop: Any, until: Until
) -> None:
    job = submitted(live, inspector, loop, until, "seq 1 12800000; echo the very last line")
    inspector.show_tab("logs")
    logs: Any = inspector.panes["logs"]
    until(lambda: state(live, job) == "Done", 90)
    until(
        lambda: logs.feed is not None and logs.feed.complete and logs.feed.spool.index.lines == 12_800_001, 60
    )
    assert logs.feed.spool.size > 100_000_000
    logs.follow.setChecked(True)
    assert logs.view.visible_text().endswith("the very last line")
