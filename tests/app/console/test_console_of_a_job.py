"""The console of real interactive jobs in a real window: typing, detaching, lines, the end."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.console.pane import ConsolePane
from broker_core.client.interactive import SessionState
from broker_core.client.prepare import prepare
from tests.app.console.programs import LINES, SHELL, opened, shown
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually


def test_what_is_typed_reaches_the_shell_and_its_end_is_shown(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        screen = view.terminal.terminal.text
        await eventually(lambda: "ready>" in screen())
        QTest.keyClicks(view.terminal, "echo $((6*7)); exit 3")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "\n42" in screen())
        await eventually(lambda: view.status.state is SessionState.CLOSED)
        assert "exit code 3" in view.toolbar.told.text()

    play(qapp, running_broker.state_dir, scenario)


def test_a_closed_window_detaches_and_the_next_one_shows_what_was_missed(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    jobs: list[str] = []

    async def first(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        await eventually(lambda: "ready>" in view.terminal.terminal.text())
        QTest.keyClicks(view.terminal, "echo before; sleep 0.3; echo while away")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "\nbefore" in view.terminal.terminal.text())
        jobs.append(view.job)

    async def second(stage: Stage) -> None:
        await stage.ready()
        view = await shown(stage, jobs[0])
        await eventually(lambda: "\nwhile away" in view.terminal.terminal.text())
        assert "\nbefore" in view.terminal.terminal.text()
        QTest.keyClicks(view.terminal, "exit")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, first)
    play(qapp, running_broker.state_dir, second)


def test_a_very_large_paste_arrives_whole(qapp: QApplication, running_broker: RunningBroker) -> None:
    text = "".join(
        f"{number:07} of a paste that is larger than what may be under way\n" for number in range(50_000)
    )
    wanted = hashlib.sha256(text.replace("\n", "\r").encode()).hexdigest()

    async def scenario(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        screen = view.terminal.terminal.text
        await eventually(lambda: "ready>" in screen())
        QTest.keyClicks(
            view.terminal, f"stty raw -echo; echo now; head -c {len(text)} | sha256sum | cut -c-20; stty sane"
        )
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "\nnow" in screen())
        view.terminal.paste(text)
        await eventually(lambda: wanted[:20] in screen(), 60, "every byte arrives in its order")
        # What is typed before the terminal is sane again would be no line.
        await eventually(lambda: "ready>" in screen().rpartition(wanted[:20])[2])
        QTest.keyClicks(view.terminal, "exit")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_a_question_that_was_answered_is_not_answered_when_the_console_comes_back(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    jobs: list[str] = []

    async def asked(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        await eventually(lambda: "ready>" in view.terminal.terminal.text())
        QTest.keyClicks(
            view.terminal, "stty -echo -icanon; printf '\\033[5n'; head -c 4 | od -c | head -1; cat -v"
        )
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "033   [   0   n" in view.terminal.terminal.text(), what="it is answered")
        jobs.append(view.job)

    async def seen_again(stage: Stage) -> None:
        await stage.ready()
        view = await shown(stage, jobs[0])
        await eventually(lambda: "033   [   0   n" in view.terminal.terminal.text(), what="the past is shown")
        QTest.keyClicks(view.terminal, "typed")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "\ntyped" in view.terminal.terminal.text(), what="nothing else was typed")
        view.channel.do(lambda session: session.signal("KILL"))
        await eventually(lambda: view.terminal.terminal.text().count("ready>") == 2, what="cat is gone")
        QTest.keyClicks(view.terminal, "exit")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, asked)
    play(qapp, running_broker.state_dir, seen_again)


def test_lines_go_at_enter_to_a_program_of_the_bypass_agent(
    qapp: QApplication, running_broker: RunningBroker, tmp_path: Path
) -> None:
    async def scenario(stage: Stage) -> None:
        view = await opened(stage, LINES)
        await eventually(view.entry.isVisible)
        QTest.keyClicks(view.entry.line, "first words")
        QTest.keyClick(view.entry.line, Qt.Key.Key_Return)
        await eventually(lambda: "got first words" in view.terminal.terminal.text())
        QTest.keyClick(view.entry.line, Qt.Key.Key_Up)
        assert view.entry.line.text() == "first words"
        for name, text in (("shown.txt", True), ("written.log", False)):
            view.save_to(str(tmp_path / name), text=text)
            await eventually((tmp_path / name).exists)
            await eventually(lambda name=name: (tmp_path / name).read_bytes() == b"got first words\n")
        view.entry.end.setFocus()
        view.entry.end.click()
        await eventually(lambda: view.status.state is SessionState.CLOSED)
        assert not view.entry.isVisible()
        assert view.terminal.hasFocus(), "what is typed on presses no button elsewhere"

    play(qapp, running_broker.state_dir, scenario)


def test_the_broker_and_the_relay_may_die_while_one_types(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        view = await opened(stage, SHELL)
        await eventually(lambda: "ready>" in view.terminal.terminal.text())
        running_broker.kill()
        QTest.keyClicks(view.terminal, "echo still here")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: "\nstill here" in view.terminal.terminal.text())
        QTest.keyClicks(view.terminal, "exit")
        QTest.keyClick(view.terminal, Qt.Key.Key_Return)
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_a_session_that_cannot_be_had_is_told_in_the_pane(
    qapp: QApplication, running_broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROSSDESK_DIRECT_PORTS", "many")

    async def scenario(stage: Stage) -> None:
        await stage.ready()
        prepared = await prepare(f'Executable = "/bin/sh"; JobType = "Interactive"; {SHELL}', Path("/"))
        job = (await stage.context.client.submit_prepared(prepared)).ids[0]
        await eventually(lambda: stage.context.jobs.row(job) is not None)
        stage.context.show_job(job)
        assert stage.window.inspector is not None
        stage.window.inspector.show_tab("console")
        pane = stage.window.inspector.panes["console"]
        assert isinstance(pane, ConsolePane)
        await eventually(lambda: pane.views.get(job), what="the console opens")
        view = pane.views[job]
        await eventually(lambda: view.status.state is SessionState.REFUSED, what="its end is told")
        assert "FIRST-LAST" in view.toolbar.told.text()
        await eventually(lambda: "FIRST-LAST" in view.terminal.terminal.text(), what="where one looks too")
        await stage.context.client.cancel([job])

    play(qapp, running_broker.state_dir, scenario)
