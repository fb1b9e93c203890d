"""Consoles of several jobs in tabs of the main area, each with a session of its own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.console.pane import ConsolePane
from app.console.view import ConsoleView
from app.inspector.inspector import Inspector
from broker_core.client.interactive import SessionState
from tests.app.console.test_console_of_a_job import SHELL, opened
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually


async def in_a_tab(stage: Stage, job: str) -> tuple[Inspector, ConsoleView]:
    """Open a job in a tab of the main area, with its console in front."""
    stage.window.open_job(job)
    page = stage.window.tabs.currentWidget()
    assert isinstance(page, Inspector)
    page.show_tab("console")
    pane = page.panes["console"]
    assert isinstance(pane, ConsolePane)
    await eventually(lambda: pane.views.get(job), 30, "the console opens")
    view = pane.views[job]
    await eventually(lambda: view.status.state is SessionState.CONNECTED, 30, "it is connected")
    return page, view


def test_a_job_has_consoles_in_the_inspector_and_in_a_tab_and_closing_the_tab_detaches(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        first = await opened(stage, SHELL)
        page, second = await in_a_tab(stage, first.job)
        await eventually(lambda: "ready>" in second.terminal.terminal.text(), what="past output is shown")
        await eventually(lambda: first.status.viewers == 2, what="both watch")
        assert "open at 2 places" in first.strip.told.text()
        assert second.strip.act.text() == "Type here"
        second.strip.act.click()
        await eventually(lambda: second.status.writer and not first.status.writer, what="hand-over")
        QTest.keyClicks(second.terminal, "echo $((6*7))")
        QTest.keyClick(second.terminal, Qt.Key.Key_Return)
        for view in (first, second):
            await eventually(lambda view=view: "\n42" in view.terminal.terminal.text(), what="both show it")
        stage.window.tabs.close_page(page)
        await eventually(lambda: first.status.viewers == 1, what="the closed one has left")
        first.strip.act.click()
        await eventually(first.strip.signals.isEnabled, what="it has the input again")
        first.strip.signalled.emit("KILL")
        await eventually(lambda: first.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)
