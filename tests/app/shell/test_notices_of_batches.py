"""A batch is told of by one notice that counts on, and what was told is there after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.context import NO_BROKER, Notice, Tone
from app.shell.activity import BottomPanel
from app.shell.activity_log import MOST, ActivityLog
from app.shell.news import batch_words
from app.shell.toasts import Toast
from app.stores.link import ConnectionState
from broker_core.jobs.outcome import Outcome
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

SWEEP = r"""[
  JobType = "Parametric";
  JobName = "sweep";
  Executable = "/bin/sh";
  Arguments = "-c 'test _PARAM_ -ne 3 || { echo no map for _PARAM_ >&2; exit 7; }'";
  StdOutput = "out.txt";
  StdError = "err.txt";
  Parameters = 6;
  ParameterStart = 0;
  ParameterStep = 1;
]
"""


def notices(on: Stage) -> list[str]:
    """The lines of Activity, without their times, the newest first."""
    panel = on.window.bottom.widget()
    assert isinstance(panel, BottomPanel)
    lines = [panel.activity.item(place).text() for place in range(panel.activity.count())]
    return [line.partition("   ")[2] for line in lines]


def toasts(on: Stage) -> list[str]:
    return [one.accessibleName() for one in on.window.findChildren(Toast) if not one.isHidden()]


@pytest.mark.expected_log("1 failed. It says: Exit 7")
def test_a_batch_has_one_notice_which_is_there_after_a_restart(qapp: QApplication, broker: Path) -> None:
    end = "sweep: 5 of 6 done, 1 failed. It says: Exit 7 · no map for 3"

    async def first(on: Stage) -> None:
        await on.ready()
        on.window.handlers.show_page("statistics")
        item = SubmissionItem(description=SWEEP)
        await on.context.client.submit(Submission(key="a-sweep-in-a-test", items=[item]))
        await eventually(lambda: end in notices(on), what=lambda: str(notices(on)))
        assert [line for line in notices(on) if line.startswith("sweep")] == [end]
        assert [text for text in toasts(on) if text.startswith("sweep")] == [end]

    async def second(on: Stage) -> None:
        assert notices(on).count(end) == 1

    play(qapp, broker, first)
    play(qapp, broker, second)


def test_what_is_in_view_is_not_told(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.activateWindow()
        await eventually(on.window.isActiveWindow)
        item = SubmissionItem(description='Executable = "/bin/true";', name="seen")
        await on.context.client.submit(Submission(key="seen-in-a-test", items=[item]))
        await eventually(lambda: "“seen” is done." in notices(on))
        assert "“seen” is done." not in toasts(on)
        on.window.handlers.show_page("statistics")
        item = SubmissionItem(description='Executable = "/bin/true";', name="away")
        await on.context.client.submit(Submission(key="away-in-a-test", items=[item]))
        await eventually(lambda: "“away” is done." in toasts(on))

    play(qapp, broker, scenario)


@pytest.mark.expected_log("While reading: nobody answers")
def test_a_notice_of_a_stopped_broker_goes_when_it_is_back(qapp: QApplication, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.context.link.set(ConnectionState.STOPPED)
        assert toasts(on) == ["The broker was stopped. Jobs that run go on."]
        on.context.link.set(ConnectionState.CONNECTED)
        assert not toasts(on)
        on.context.notify(Notice("While reading: nobody answers.", Tone.BAD, topic=NO_BROKER))
        on.context.link.set(ConnectionState.CONNECTED)
        await turns(1)
        assert not toasts(on)
        assert len(notices(on)) == 2

    play(qapp, tmp_path / "state", scenario, connect=False)


def test_the_words_of_a_batch() -> None:
    counts = {Outcome.DONE: 1120, Outcome.FAILED: 3, Outcome.RUNNING: 77}
    assert batch_words("logistic", counts) == "logistic: 1,120 of 1,200 done, 3 failed"
    assert batch_words("logistic", {Outcome.DONE: 40}) == "logistic: all 40 done"
    assert batch_words("x", {Outcome.DONE: 1, Outcome.CANCELED: 2}) == "x: 1 of 3 done, 2 canceled"


@pytest.mark.expected_log("cannot be understood and is left aside")
def test_what_is_kept_is_bounded_and_survives_lines_that_nobody_understands(tmp_path: Path) -> None:
    path = tmp_path / "state" / "activity.jsonl"
    log = ActivityLog(path)
    for number in range(2 * MOST + 10):
        log.add(Notice(f"notice {number}"))
    log.add(Notice("x: 1 of 2 done", topic="batch x", counting=True))
    log.add(Notice("x: all 2 done", Tone.GOOD, topic="batch x", job="a"))
    assert len(path.read_text().splitlines()) <= 2 * MOST
    with path.open("a") as stream:
        stream.write('half a line\n{"time": 1, "text": 3, "tone": "muted"}\n')
    again = ActivityLog(path)
    assert [one.notice for one in again.all] == [one.notice for one in log.all]
    assert len(again.all) == MOST
    assert again.all[-1].notice == Notice("x: all 2 done", Tone.GOOD, topic="batch x", job="a")


def test_a_directory_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    log = ActivityLog(tmp_path / "state" / "activity.jsonl")
    log.add(Notice("told"))
    assert [one.notice.text for one in log.all] == ["told"]
