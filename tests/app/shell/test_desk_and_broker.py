"""The window before a real broker: runs a sample, outlives the broker, shows every view."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.jobs.columns import BY_NAME
from app.stores.jobs import Columns
from app.stores.link import ConnectionState
from broker_core.client.start import answers
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.running import RunningBroker
from tests.waiting import eventually


def test_first_run_leads_to_a_finished_sample_with_its_log(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        assert on.window.jobs.state.title.text() == "No jobs yet"
        on.context.trigger("file.sample")
        page = on.window.tabs.currentWidget()
        card = next(card for card in page.cards if "fails" in card.run.accessibleName())
        await eventually(card.run.isEnabled)
        card.run.click()
        await eventually(lambda: len(on.context.jobs) == 1)
        job = on.context.jobs.columns["id"][0]
        await eventually(lambda: on.ended(job), 60)
        await eventually(lambda: on.window.jobs.view.chosen() == [job])
        assert on.window.inspector.ids == [job]
        assert on.window.jobs.table.style_of(0).word == "Failed, exit 7"

    stage = play(qapp, broker, scenario)
    assert stage.leftovers == []


def test_rows_of_a_large_sweep_are_taken_in_by_slices(
    qapp: QApplication, broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        rows, taken = on.context.jobs, list[int]()
        merge = rows.merge

        def counted(columns: Columns) -> None:
            taken.append(len(columns.get("id", ())))
            merge(columns)

        monkeypatch.setattr(rows, "merge", counted)
        values = [str(number) for number in range(1000)]
        item = SubmissionItem(description='Executable = "/bin/true"; Arguments = "_PARAM_";', values=values)
        await on.context.client.submit(Submission(key="a-thousand-at-once", items=[item], hold="test"))
        await eventually(lambda: len(rows) == 1000)
        assert max(taken) <= 250

    play(qapp, broker, scenario)


def test_broker_killed_under_the_window_is_replaced_and_nothing_is_lost(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        first = await on.finished("fails")
        seen: list[ConnectionState] = []
        on.context.link.changed.connect(lambda: seen.append(on.context.link.state))
        running_broker.kill()
        await eventually(
            lambda: ConnectionState.RECONNECTING in seen, what="the desk says that the broker is away"
        )
        await eventually(lambda: on.context.link.up, what="a broker is there again")
        second = await on.finished("fails")
        assert {first, second} == set(on.context.jobs.at)

    stage = play(qapp, running_broker.state_dir, scenario)
    assert stage.leftovers == []


def test_a_broker_that_hangs_is_told_and_goes_on_at_once(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        item = SubmissionItem(description='Executable = "/bin/sleep"; Arguments = "600";')
        (job,) = (await on.context.client.submit(Submission(key="sleeps-long", items=[item]))).ids
        rows, table = on.context.jobs, on.window.jobs.table
        await eventually(lambda: (rows.row(job) or {}).get("state") == "Running", what="it runs")
        on.window.show_job(job)
        cancel = on.window.actions_.qt("job.cancel")
        await eventually(cancel.isEnabled)
        seen: list[ConnectionState] = []
        on.context.link.changed.connect(lambda: seen.append(on.context.link.state))
        os.kill(running_broker.pid, signal.SIGSTOP)
        await eventually(lambda: seen, what="the desk says that the broker does not answer")
        assert seen == [ConnectionState.SILENT]
        assert on.window.statusBar().link.text().strip() == "Broker does not answer"
        assert not cancel.isEnabled()
        ran, then = table.text(0, BY_NAME["runtime"]), table.view.now()
        await eventually(lambda: table.view.now() > then + 2.0, what="time passes")
        assert table.text(0, BY_NAME["runtime"]) == ran
        os.kill(running_broker.pid, signal.SIGCONT)
        await eventually(lambda: on.context.link.up, what="it answers")
        assert seen == [ConnectionState.SILENT, ConnectionState.CONNECTED]
        await eventually(lambda: table.text(0, BY_NAME["runtime"]) != ran, what="its run time goes on")
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job))

    stage = play(qapp, running_broker.state_dir, scenario)
    assert stage.leftovers == []


def test_a_task_that_takes_its_first_cancel_for_another_ones_keeps_no_window_open(
    qapp: QApplication, broker: Path
) -> None:
    taken: list[bool] = []

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            taken.append(True)
        await asyncio.Event().wait()

    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.run(stubborn(), "waiting")
        await turns()

    assert play(qapp, broker, scenario).leftovers == []
    assert taken == [True]


def test_a_desk_that_comes_to_a_broker_that_hangs_starts_no_other(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(on: Stage) -> None:
        await eventually(lambda: on.context.link.state is ConnectionState.UNREACHABLE)
        assert f"end its process ({running_broker.pid})" in on.context.link.reason
        os.kill(running_broker.pid, signal.SIGCONT)
        await eventually(lambda: on.context.link.up)

    os.kill(running_broker.pid, signal.SIGSTOP)
    play(qapp, running_broker.state_dir, scenario)


def test_a_broker_stopped_on_purpose_stays_stopped_until_it_is_wanted(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("view.sites")
        await on.context.client.stop()
        await eventually(lambda: on.context.link.state is ConnectionState.STOPPED)
        running_broker.kill(signal.SIGCONT)  # changes nothing; waits for the end
        await turns(600)
        assert on.context.link.state is ConnectionState.STOPPED
        assert not answers(running_broker.state_dir)
        assert on.window.jobs.state.title.text() == "The broker was stopped"
        assert on.window.statusBar().link.text().strip().startswith("The broker was stopped")
        assert on.window.jobs.state.primary.text() == "Start the broker"
        on.window.jobs.state.primary.click()
        await eventually(lambda: on.context.link.up, 60, "the broker was started")
        assert not on.window.actions_.qt("broker.start").isEnabled()

    stage = play(qapp, running_broker.state_dir, scenario)
    assert stage.leftovers == []


def test_a_stopped_broker_that_somebody_else_starts_is_found(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        first = await on.finished("fails")
        await on.context.client.stop()
        await eventually(lambda: on.context.link.state is ConnectionState.STOPPED)
        running_broker.kill(signal.SIGCONT)
        await asyncio.to_thread(running_broker.start)
        await eventually(lambda: on.context.link.up and on.context.jobs.complete)
        assert set(on.context.jobs.at) == {first}

    play(qapp, running_broker.state_dir, scenario)


def test_an_older_broker_that_hands_over_is_followed_by_another(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        seen: list[ConnectionState] = []
        on.context.link.changed.connect(lambda: seen.append(on.context.link.state))
        await on.context.client.handover()
        await eventually(lambda: ConnectionState.RECONNECTING in seen)
        await eventually(lambda: on.context.link.up, 60)
        assert ConnectionState.STOPPED not in seen

    play(qapp, running_broker.state_dir, scenario)


def test_unreachable_broker_is_told_with_its_reason(qapp: QApplication, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    async def scenario(on: Stage) -> None:
        await eventually(lambda: on.context.link.state is ConnectionState.UNREACHABLE, 60)
        assert on.window.jobs.state.title.text() == "The broker cannot be reached"
        assert on.window.jobs.state.primary.text() == "Try again"
        assert not on.window.actions_.qt("file.submit").isEnabled()

    play(qapp, blocked / "state", scenario)


def test_window_before_its_broker_says_that_it_connects(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        await turns()
        assert on.window.jobs.state.title.text() == "Connecting to the broker"

    play(qapp, state_dir, scenario, connect=False)


def test_cancel_asks_first_and_names_how_many(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await held(on, 5)
        await eventually(lambda: len(on.context.jobs) == 5 and on.window.jobs.table.rowCount() == 1)
        on.window.jobs.view.selectAll()
        assert sorted(on.window.jobs.view.chosen()) == sorted(ids)
        on.context.trigger("job.cancel")
        box = await eventually(QApplication.activeModalWidget)
        do = next(button for button in box.buttons() if button.text() == "Cancel 5 jobs")
        assert box.text() == "Cancel 5 jobs?"
        do.click()
        await eventually(lambda: on.context.jobs.states["Canceled"] == 5)

    play(qapp, broker, scenario)


async def held(on: Stage, number: int) -> list[str]:
    """Submit jobs that wait on hold, as one batch; returns their ids."""
    from broker_core.wire.submission import Submission, SubmissionItem

    text = 'Executable = "/bin/true"; Arguments = "_PARAM_";'
    item = SubmissionItem(description=text, values=[str(value) for value in range(number)])
    receipt = await on.context.client.submit(Submission(key="held-in-a-test", items=[item], hold="test"))
    return receipt.ids


def test_palette_finds_actions_and_does_them(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("app.palette")
        palette = on.window.handlers.palette
        palette.edit.setText("stat")
        titles = [palette.list.item(row).text() for row in range(palette.list.count())]
        assert titles[0] == "Statistics"
        palette._act(palette.list.item(0))
        assert on.window.tabs.currentWidget().state.title.text() in ("Counting", "Nothing to count yet")
        assert on.context.preferences["recent_actions"][0] == "view.statistics"

    play(qapp, broker, scenario)
