"""The sample that is talked to, from the welcome page to its end."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.console.pane import ConsolePane
from app.inspector.inspector import Inspector
from app.welcome.pane import SampleCard
from broker_core.client.interactive import SessionState
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually


def test_the_sample_on_the_welcome_page_leads_to_its_console_where_it_answers(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.ready()
        stage.context.trigger("file.sample")
        page = stage.window.tabs.currentWidget()
        card: SampleCard = next(one for one in page.cards if "prompt" in one.run.accessibleName())
        await eventually(card.run.isEnabled)
        card.run.click()
        front = stage.window.tabs.currentWidget
        await eventually(lambda: isinstance(front(), Inspector), what="it opens as a tab of its own")
        inspector = front()
        assert isinstance(inspector, Inspector)
        assert inspector.tab() == "console"
        pane = inspector.panes["console"]
        assert isinstance(pane, ConsolePane)
        await eventually(lambda: pane.views, what="the console opens")
        (view,) = pane.views.values()
        assert stage.window.right.isHidden(), "the inspector does not show the same job beside it"
        assert stage.window.focusWidget() is view.terminal
        screen = view.terminal.terminal.text
        await eventually(lambda: "explore>" in screen(), what="the prompt is shown")
        for word, answer in (("size", "columns"), ("draw", "explore>"), ("quit", "Goodbye.")):
            QTest.keyClicks(view.terminal, word)
            QTest.keyClick(view.terminal, Qt.Key.Key_Return)
            await eventually(lambda answer=answer: answer in screen(), what=answer)
        await eventually(lambda: view.status.state is SessionState.CLOSED)
        assert "exit code 0" in view.toolbar.told.text()

    play(qapp, running_broker.state_dir, scenario)
