"""Consoles of several jobs in tabs of the main area, each with a session of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.console.pane import ConsolePane
from app.context import Notice, Tone
from app.inspector.inspector import Inspector
from app.shell.toasts import Toast
from broker_core.client.interactive import SessionState
from tests.app.console.programs import LINES, SHELL, opened
from tests.app.console.tabs import in_a_tab
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually


def test_a_job_has_consoles_in_the_inspector_and_in_a_tab_and_closing_the_tab_detaches(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        first = await opened(stage, SHELL)
        page, second = await in_a_tab(stage, first.job)
        await eventually(lambda: "ready>" in second.terminal.terminal.text(), what="past output is shown")
        await eventually(lambda: first.status.viewers == 2, what="both watch")
        assert "open at 2 places" in first.toolbar.told.text()
        assert second.toolbar.act.text() == "Take over"
        for _ in range(2):
            QTest.keyClicks(second.terminal, "typed in vain")
        told = [toast.accessibleName() for toast in stage.window.findChildren(Toast)]
        assert len([one for one in told if "Another console has the input" in one]) == 1
        second.toolbar.act.click()
        await eventually(lambda: second.status.writer and not first.status.writer, what="hand-over")
        QTest.keyClicks(second.terminal, "echo $((6*7))")
        QTest.keyClick(second.terminal, Qt.Key.Key_Return)
        for view in (first, second):
            await eventually(lambda view=view: "\n42" in view.terminal.terminal.text(), what="both show it")
        stage.window.tabs.close_page(page)
        await eventually(lambda: first.status.viewers == 1, what="the closed one has left")
        first.toolbar.act.click()
        await eventually(first.toolbar.signals.isEnabled, what="it has the input again")
        first.toolbar.signal_chosen.emit("KILL")
        await eventually(lambda: first.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_a_console_that_is_opened_as_a_tab_is_in_front_there_and_has_the_input(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        first = await opened(stage, SHELL)
        assert stage.window.inspector is not None
        stage.window.inspector.header.open.trigger()
        page = stage.window.tabs.currentWidget()
        assert isinstance(page, Inspector)
        assert page.tab() == "console"
        pane = page.panes["console"]
        assert isinstance(pane, ConsolePane)
        await eventually(lambda: pane.views.get(first.job), what="the console opens")
        second = pane.views[first.job]
        await eventually(lambda: second.status.writer and not first.status.writer, what="it has the input")
        QTest.keyClicks(second.terminal, "exit")
        QTest.keyClick(second.terminal, Qt.Key.Key_Return)
        await eventually(lambda: second.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_a_console_that_is_torn_off_takes_the_input_along(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        first = await opened(stage, SHELL)
        assert stage.window.inspector is not None
        stage.window.inspector.header.detach.trigger()
        (detached,) = stage.window.inspector.detached
        assert isinstance(detached.pane, ConsolePane)
        await eventually(lambda: detached.pane.views.get(first.job), what="the console opens in its window")
        second = detached.pane.views[first.job]
        await eventually(lambda: second.status.writer and not first.status.writer, what="it has the input")
        QTest.keyClicks(second.terminal, "exit")
        QTest.keyClick(second.terminal, Qt.Key.Key_Return)
        await eventually(lambda: second.status.state is SessionState.CLOSED)
        detached.close()

    play(qapp, running_broker.state_dir, scenario)


@pytest.mark.expected_log("failed: The interactive agent was killed by signal 9")
def test_a_killed_agent_is_told_in_the_console_as_soon_as_its_job_has_ended(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    said = "The interactive agent was killed by signal 9, and the program ended with it."

    async def scenario(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        folder = running_broker.state_dir / "sites" / "local"
        (contact,) = folder.rglob(f"attempts/{view.job}.1/job/.crossdesk-agent")
        os.kill(json.loads(contact.read_text().splitlines()[0])["pid"], signal.SIGKILL)
        await eventually(lambda: view.status.state is SessionState.CLOSED, what="the session is closed")
        assert view.toolbar.word.text() == "Closed"
        assert view.toolbar.told.text() == said
        await eventually(lambda: stage.ended(view.job), what="the job has ended")
        assert (stage.context.jobs.row(view.job) or {})["reason"] == said

        def told() -> list[str]:
            return [one.notice.text for one in stage.context.activity.all]

        await eventually(lambda: any(said in one for one in told()), what="a notice says the same")
        assert not any("application was ended" in one for one in told())

    play(qapp, running_broker.state_dir, scenario)


def test_an_answer_that_comes_after_its_pane_went_away_opens_no_console(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        job = (await opened(stage, SHELL)).job
        page, _ = await in_a_tab(stage, job)
        pane = page.panes["console"]
        assert isinstance(pane, ConsolePane)
        asked, closed, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def load(job: str) -> Any:
            asked.set()
            await closed.wait()
            answer = await stage.context.client.job(job)
            answered.set()
            return answer

        pane.load = load  # type: ignore[method-assign]
        pane.refresh()
        await asked.wait()
        pane.close_all()
        closed.set()
        await answered.wait()
        assert pane.views == {}

    play(qapp, running_broker.state_dir, scenario)


@pytest.mark.expected_log("Something to be told")
def test_no_notice_covers_the_line_that_is_typed_into(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.window.resize(1400, 900)
        view = await opened(stage, LINES)
        await eventually(view.entry.isVisible)
        stage.context.notify(Notice("Something to be told.", Tone.BAD))
        window, entry = stage.window, view.entry

        def covered() -> bool:
            place = QRect(entry.mapTo(window, QPoint(0, 0)), entry.size())
            toasts = [one for one in window.findChildren(Toast) if not one.isHidden()]
            return not toasts or any(one.geometry().intersects(place) for one in toasts)

        await eventually(lambda: not covered(), what="the notice stands above the line")
        view.entry.ended.emit()
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_keys_lead_out_of_a_console_and_all_come_back_when_it_has_ended(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        first = await opened(stage, SHELL)
        _, view = await in_a_tab(stage, first.job)
        window, control = stage.window, Qt.KeyboardModifier.ControlModifier
        window.activateWindow()
        await eventually(window.isActiveWindow)
        view.terminal.setFocus()
        palette = window.handlers.palette
        QTest.keyClick(view.terminal, Qt.Key.Key_K, control)
        assert not palette.isVisible(), "Ctrl+K belongs to the program"
        QTest.keyClick(view.terminal, Qt.Key.Key_K, control | Qt.KeyboardModifier.ShiftModifier)
        assert palette.isVisible()
        palette.leave()
        view.terminal.setFocus()
        QTest.keyClick(view.terminal, Qt.Key.Key_F6)
        assert window.sidebar.isAncestorOf(QApplication.focusWidget())
        view.take_over()
        await eventually(lambda: view.status.writer)
        view.channel.do(lambda session: session.signal("KILL"))
        await eventually(lambda: view.status.state is SessionState.CLOSED)
        view.terminal.setFocus()
        QTest.keyClick(view.terminal, Qt.Key.Key_K, control)
        assert palette.isVisible()
        palette.leave()
        view.terminal.setFocus()
        QTest.keyClick(view.terminal, Qt.Key.Key_Tab)
        assert not view.terminal.hasFocus()

    play(qapp, running_broker.state_dir, scenario)
