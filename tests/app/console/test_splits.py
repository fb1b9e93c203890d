"""Consoles split side by side and one above the other: room, keys, shells of real jobs beside the program."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QSizePolicy, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from app.console.pane import ConsolePane
from app.console.shell_view import ShellView
from app.console.splits.arrangement import Arrangement, keep, kept, only
from app.console.splits.part import AGAIN, SHELL
from app.console.splits.row import Above, Side
from app.console.splits.splits import Splits
from app.console.view import ConsoleView
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.client.interactive import SessionState
from tests.app.console.programs import LINES, opened
from tests.app.console.programs import SHELL as PROGRAM
from tests.app.console.tabs import in_a_tab
from tests.app.inspector.recorded import TestContext
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually

Control, Shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def context(qapp: QApplication) -> TestContext:
    return TestContext(Theme(qapp, Mode.LIGHT), None)


@pytest.fixture
def splits(context: TestContext, qtbot: QtBot) -> Splits:
    """A console of one part, 900 by 600 pixels."""
    made = Splits(context, part("first"))
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    QApplication.processEvents()
    return made


def part(name: str) -> QLineEdit:
    """Something that takes all the room there is."""
    made = QLineEdit(name)
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
    return made


def names(splits: Splits) -> list[str]:
    return [one.text() for one in splits.parts() if isinstance(one, QLineEdit)]


def at(splits: Splits, one: QWidget) -> tuple[int, int, int, int]:
    place = one.mapTo(splits, one.rect().topLeft())
    return place.x(), place.y(), one.width(), one.height()


def test_parts_share_the_room_and_one_that_closes_gives_it_back(splits: Splits) -> None:
    (first,) = splits.parts()
    second, third = part("second"), part("third")
    splits.split(first, second, Side)
    splits.split(second, third, Above)
    QApplication.processEvents()
    assert names(splits) == ["first", "second", "third"]
    assert at(splits, first)[2:] == pytest.approx((450, 600), abs=2)
    assert at(splits, second) == pytest.approx((450, 0, 450, 300), abs=2)
    assert at(splits, third) == pytest.approx((450, 300, 450, 300), abs=2)
    splits.close_part(first)
    QApplication.processEvents()
    assert names(splits) == ["second", "third"]
    assert at(splits, third) == pytest.approx((0, 300, 900, 300), abs=2)
    splits.close_part(third)
    QApplication.processEvents()
    assert at(splits, second) == (0, 0, 900, 600)


def test_a_part_in_the_middle_keeps_its_neighbours_as_they_are(splits: Splits) -> None:
    (first,) = splits.parts()
    second, third = part("second"), part("third")
    splits.split(first, third, Above)
    splits.split(first, second, Above)
    QApplication.processEvents()
    assert names(splits) == ["first", "second", "third"]
    heights = [at(splits, one)[3] for one in splits.parts()]
    assert heights == pytest.approx([150, 150, 300], abs=3)


def test_the_keyboard_goes_round_and_stays_where_a_part_was_closed(splits: Splits, qtbot: QtBot) -> None:
    (first,) = splits.parts()
    second, third = part("second"), part("third")
    splits.split(first, second, Side)
    splits.split(second, third, Side)
    splits.activateWindow()
    first.setFocus()
    for expected in (second, third, first):
        focused = QApplication.focusWidget()
        assert focused is not None
        splits.step(focused, 1)
        assert QApplication.focusWidget() is expected
    splits.step(first, -1)
    splits.close_part(third)
    assert QApplication.focusWidget() is second


def test_a_narrow_pane_puts_them_above_each_other_until_there_is_room(splits: Splits) -> None:
    (first,) = splits.parts()
    second = part("second")
    splits.split(first, second, Side)
    splits.resize(400, 600)
    QApplication.processEvents()
    assert splits.width() == 400, "a split never widens its pane"
    assert at(splits, second)[:3] == pytest.approx((0, 300, 400), abs=2)
    splits.resize(QSize(900, 600))
    QApplication.processEvents()
    assert at(splits, second)[:2] == pytest.approx((450, 0), abs=2)


def test_shares_are_remembered_for_the_next_split(splits: Splits, context: TestContext, qtbot: QtBot) -> None:
    (first,) = splits.parts()
    splits.split(first, part("second"), Side)
    row = splits.findChild(QSplitter)
    assert row is not None
    row.moveSplitter(630, 1)
    qtbot.waitUntil(lambda: context.preferences["console_splits"].get("beside", 0) > 0.6, timeout=60_000)
    other = Splits(context, part("another"))
    qtbot.addWidget(other)
    other.resize(900, 600)
    other.show()
    QApplication.processEvents()
    other.split(other.parts()[0], part("its second"), Side)
    QApplication.processEvents()
    assert other.parts()[0].width() == pytest.approx(630, abs=3)


def test_who_moves_a_border_goes_on_typing_where_he_was(splits: Splits) -> None:
    (first,) = splits.parts()
    splits.split(first, part("second"), Side)
    splits.activateWindow()
    first.setFocus()
    row = splits.findChild(QSplitter)
    assert row is not None
    QTest.mouseClick(row.handle(1), Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is first


def name(one: QWidget) -> str:
    assert isinstance(one, QLineEdit)
    return one.text()


def test_parts_stand_as_they_did_with_their_shares_also_where_the_window_comes_later(
    splits: Splits, context: TestContext, qtbot: QtBot
) -> None:
    (first,) = splits.parts()
    second = part("second")
    splits.split(first, second, Side)
    splits.split(second, part("third"), Above)
    splits.split(first, part("below first"), Above)
    QApplication.processEvents()
    row = splits.findChild(QSplitter)
    assert row is not None
    row.moveSplitter(630, 1)
    QApplication.processEvents()
    kept = splits.arrangement(name)
    again = Splits(context, part("first"))
    qtbot.addWidget(again)
    again.arrange(kept, part)
    again.resize(900, 600)
    again.show()
    QApplication.processEvents()
    assert names(again) == names(splits) == ["first", "below first", "second", "third"]
    for one, other in zip(again.parts(), splits.parts(), strict=True):
        assert at(again, one) == pytest.approx(at(splits, other), abs=3)


def test_an_arrangement_is_kept_for_each_job_and_loses_the_parts_that_are_gone(context: TestContext) -> None:
    inner = Arrangement(Above, ("shell a", "console b"), (0.25, 0.75))
    stood = Arrangement(Side, ("console a", inner, "shell b"), (0.375, 0.5, 0.125))
    keep(context.preferences, "a", stood)
    keep(context.preferences, "b", replace(stood, parts=("console b",), shares=(1.0,)))
    assert kept(context.preferences, "a") == stood
    assert kept(context.preferences, "b") is None
    assert list(stood.names()) == ["console a", "shell a", "console b", "shell b"]
    left = only(replace(stood, shares=(0.375, 0.375, 0.25)), lambda name: not name.endswith("b"))
    assert left == Arrangement(Side, ("console a", "shell a"), (0.5, 0.5))
    assert only(stood, lambda name: name == "console a") == "console a"


@pytest.mark.parametrize(
    "found",
    [
        "beside",
        {"way": "beside", "parts": ["console a"], "shares": [1]},
        {"way": "slanted", "parts": ["console a", "shell a"], "shares": [0.5, 0.5]},
        {"way": "below", "parts": ["console a", 7], "shares": [0.5, 0.5]},
        {"way": "below", "parts": ["console a", "shell a"], "shares": [2.0, -1.0]},
    ],
)
def test_an_arrangement_that_cannot_be_read_is_none(context: TestContext, found: object) -> None:
    context.preferences["console_parts"] = {"a": found}
    assert kept(context.preferences, "a") is None


def parts(pane: ConsolePane, view: ConsoleView) -> list[QWidget]:
    return pane.splits[view.job].parts()


def pane_of(stage: Stage) -> ConsolePane:
    assert stage.window.inspector is not None
    pane = stage.window.inspector.panes["console"]
    assert isinstance(pane, ConsolePane)
    return pane


def typed(where: QWidget, text: str) -> None:
    QTest.keyClicks(where, text)
    QTest.keyClick(where, Qt.Key.Key_Return)


def test_a_shell_stands_beside_the_program_in_the_directory_of_the_job(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        view = await opened(stage, PROGRAM)
        pane = pane_of(stage)
        await eventually(lambda: "ready>" in view.terminal.terminal.text())
        typed(view.terminal, "echo from the program > note")
        view.terminal.setFocus()
        QTest.keyClick(view.terminal, Qt.Key.Key_E, Control | Shift)
        shell = parts(pane, view)[1]
        assert isinstance(shell, ShellView)
        assert shell.terminal.hasFocus()
        await eventually(lambda: "in the job's directory" in shell.told.text(), what="the shell is there")
        screen = shell.terminal.terminal.text
        typed(shell.terminal, "stty size; cat note; tty && exit 4")
        await eventually(lambda: "\nfrom the program" in screen(), what="it sees the files of the program")
        columns, rows = shell.terminal.terminal.size
        assert f"\n{rows} {columns}\n" in screen()
        await eventually(lambda: "exit code 4" in shell.told.text(), what="its end is told")
        shell.again.click()
        await eventually(lambda: "in the job's directory" in shell.told.text(), what="another one is there")
        QTest.keyClick(shell.terminal, Qt.Key.Key_W, Control | Shift)
        assert parts(pane, view) == [view]
        assert view.terminal.hasFocus()
        QTest.keyClick(view.terminal, Qt.Key.Key_W, Control | Shift)
        assert parts(pane, view) == [view], "the first part stays"
        typed(view.terminal, "exit")
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_another_job_and_the_same_console_stand_below(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        reader = await opened(stage, LINES + 'JobName = "reader";')
        view = await opened(stage, PROGRAM)
        pane = pane_of(stage)
        await eventually(lambda: len(stage.context.jobs.interactive()) == 2, what="both run")
        view.split_asked.emit(reader.job, Above)
        view.split_asked.emit(AGAIN, Above)
        again, other = parts(pane, view)[1:]
        assert isinstance(other, ConsoleView)
        assert isinstance(again, ConsoleView)
        await eventually(lambda: other.status.state is SessionState.CONNECTED, what="the other job is there")
        assert other.toolbar.name.text() == "reader"
        await eventually(lambda: again.status.viewers == 2, what="the same console is there twice")
        typed(view.terminal, "echo $((6*7))")
        await eventually(lambda: "\n42" in again.terminal.terminal.text(), what="both show it")
        other.toolbar.act.click()
        await eventually(lambda: other.status.writer, what="the input comes here")
        typed(other.entry.line, "words")
        await eventually(lambda: "got words" in other.terminal.terminal.text())
        again.toolbar.close_part.click()
        await eventually(lambda: view.status.viewers == 1, what="what is closed has left")
        assert parts(pane, view) == [view, other]
        for one in (view, other):
            one.channel.do(lambda session: session.signal("KILL"))
        await eventually(lambda: all(one.status.state is SessionState.CLOSED for one in (view, other)))

    play(qapp, running_broker.state_dir, scenario)


def test_a_console_that_is_opened_again_has_its_parts_again(
    qapp: QApplication, running_broker: RunningBroker
) -> None:
    async def scenario(stage: Stage) -> None:
        view = await opened(stage, PROGRAM)
        view.split_asked.emit(SHELL, Side)
        view.split_asked.emit(AGAIN, Above)
        page, plain = await in_a_tab(stage, view.job)
        pane = page.panes["console"]
        assert isinstance(pane, ConsolePane)
        assert parts(pane, plain) == [plain], "it stands so in the inspector already"
        stage.window.tabs.close_page(page)
        pane_of(stage).close_all()
        page, view = await in_a_tab(stage, view.job)
        pane = page.panes["console"]
        assert isinstance(pane, ConsolePane)
        first, again, shell = parts(pane, view)
        assert first is view
        assert isinstance(again, ConsoleView)
        assert isinstance(shell, ShellView)
        await eventually(lambda: "in the job's directory" in shell.told.text(), what="a shell is there")
        await eventually(lambda: view.status.viewers == 2, what="the same console is there twice")
        view.take_over()
        await eventually(lambda: view.status.writer, what="it has the input")
        typed(view.terminal, "exit")
        await eventually(lambda: view.status.state is SessionState.CLOSED)

    play(qapp, running_broker.state_dir, scenario)


def test_the_menu_names_what_a_split_may_show(qapp: QApplication, running_broker: RunningBroker) -> None:
    async def scenario(stage: Stage) -> None:
        view = await opened(stage, PROGRAM)
        menu = view.toolbar.split.menu()
        menu.aboutToShow.emit()
        texts = {act.text(): act for act in menu.actions() if act.text()}
        assert "Shell of the job, beside" in texts
        assert not texts["Close this part"].isEnabled()
        texts["Shell of the job, below"].trigger()
        shell = parts(pane_of(stage), view)[1]
        assert isinstance(shell, ShellView)
        assert SHELL == "shell"
        await eventually(lambda: "in the job's directory" in shell.told.text(), what="the shell is there")
        typed(view.terminal, "exit")
        await eventually(lambda: view.status.state is SessionState.CLOSED)
        await eventually(lambda: "shell" in shell.told.text().lower(), what="the shell ends with its job")

    play(qapp, running_broker.state_dir, scenario)
