"""The inspector as a whole: what is selected decides, and every condition has a page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.console.pane import ConsolePane
from app.inspector.header import JobHeader
from app.inspector.inspector import Inspector
from app.inspector.view.pane import ViewPane
from app.stores.link import ConnectionState
from broker_core.errors import NotFound, Unreachable
from broker_core.jobs.outcome import Outcome
from tests.app.inspector.recorded import BEGUN, JOB, OTHER, TO_FAILED, TO_RUNNING, TestContext, row, story

Until = Callable[..., Any]


def tabs(inspector: Inspector) -> list[str]:
    bar = inspector.tabs
    return [bar.tabText(n) for n in range(bar.count()) if bar.isTabVisible(n)]


def test_nothing_selected_teaches_what_the_place_is_for(inspector: Inspector) -> None:
    assert inspector.empty.isVisible()
    assert "Select a job" in inspector.empty.sentence.text()


def test_the_tabs_of_a_batch_job_stand_in_their_order(context: TestContext, inspector: Inspector) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_jobs([JOB])
    assert tabs(inspector) == ["Story", "Logs", "Output", "View", "Matching", "Use", "Description"]


def test_an_interactive_job_has_a_console_too(context: TestContext, inspector: Inspector) -> None:
    context.put(row("Waiting", interactive=True), story(*TO_RUNNING[:2]))
    inspector.show_jobs([JOB])
    assert tabs(inspector) == ["Story", "Logs", "Output", "Console", "View", "Matching", "Use", "Description"]


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("Waiting", ["Cancel", "Resubmit"]),
        ("Done", ["Fetch output", "Resubmit", "Remove"]),
        ("Canceled", ["Fetch output", "Resubmit", "Remove"]),
    ],
)
def test_the_state_decides_which_actions_are_offered(
    context: TestContext, inspector: Inspector, state: str, offered: list[str]
) -> None:
    context.put(row(state), [])
    inspector.show_jobs([JOB])
    buttons = inspector.header.offers.buttons.values()
    assert [button.text() for button in buttons if button.isVisible()] == offered
    next(button for button in buttons if button.isVisible()).click()
    assert context.triggered == ["job.cancel" if state == "Waiting" else "job.fetch"]


def test_several_jobs_are_summed_up_with_what_applies_to_all(
    context: TestContext, inspector: Inspector
) -> None:
    context.put(row("Done", exit_code=1), [])
    context.put(row("Aborted", id=OTHER), [])
    inspector.show_jobs([JOB, OTHER])
    assert inspector.multi_selection.isVisible()
    assert inspector.multi_selection.title.text() == "2 jobs selected"
    assert inspector.multi_selection.counts == {Outcome.FAILED: 2}
    assert "2 failed" in inspector.multi_selection.about.text()
    assert inspector.multi_selection.offers.buttons["job.purge"].isVisible()
    assert not inspector.multi_selection.offers.buttons["job.cancel"].isVisible()


def test_the_tab_in_front_tells_of_a_job_that_stands_so_and_a_choice_is_kept_for_its_like(
    context: TestContext, inspector: Inspector
) -> None:
    def chosen(job: str, state: str, **more: Any) -> str:
        context.put(row(state, id=job, **more), [])
        inspector.show_jobs([job])
        return inspector.tab()

    assert chosen("waits", "Waiting") == "story"
    assert chosen("runs", "Running") == "logs"
    assert chosen("talks", "Running", interactive=True) == "story", "it prints into its console"
    assert chosen("ended", "Done", exit_code=0) == "story"
    place = inspector.tabs.indexOf(inspector.panes["output"])
    at = inspector.tabs.tabBar().tabRect(place).center()
    QTest.mouseClick(inspector.tabs.tabBar(), Qt.MouseButton.LeftButton, pos=at)
    assert inspector.tab() == "output"
    assert chosen("other", "Done", exit_code=0) == "output"
    assert chosen("runs", "Running") == "logs"
    context.put(row("Done", id="runs", exit_code=0, position=60), [])
    assert inspector.tab() == "logs", "nothing changes under the eyes of the reader"


def test_a_tab_that_was_asked_for_stays_until_the_row_of_its_job_has_come(
    context: TestContext, inspector: Inspector
) -> None:
    inspector.show_jobs([JOB])
    inspector.show_tab("logs")
    inspector.show_jobs([])
    context.put(row("Waiting"), [])
    inspector.show_jobs([JOB])
    assert inspector.tab() == "logs"


def test_output_goes_to_the_folder_chosen_before_by_a_button_that_names_it(
    context: TestContext, inspector: Inspector, tmp_path: Path
) -> None:
    def offered() -> list[str]:
        inspector.show_jobs([JOB])
        buttons = inspector.header.offers.buttons.values()
        return [button.text() for button in buttons if button.isVisible()]

    context.put(row("Done", exit_code=0), [])
    assert offered() == ["Fetch output", "Resubmit", "Remove"]
    folder = tmp_path / "r & d\u202egnp.exe and a long name"
    folder.mkdir()
    context.preferences["output_folder"] = str(folder)
    assert offered()[:2] == ["Fetch to r && d\\u202egnp.exe…", "Fetch to…"]
    inspector.header.offers.buttons["job.fetch_again"].click()
    assert context.triggered == ["job.fetch_again"]
    context.put(row("Done", id=OTHER, exit_code=0), [])
    inspector.show_jobs([JOB, OTHER])
    assert inspector.multi_selection.offers.buttons["job.fetch_again"].text().startswith("Fetch 2 to r && d")
    folder.rmdir()
    assert offered() == ["Fetch output", "Resubmit", "Remove"], "a folder that is gone is not offered"


def test_an_answer_about_a_job_no_longer_shown_is_dropped(
    context: TestContext, inspector: Inspector, turn: Callable[[], None], until: Until
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    context.put(row("Done", id=OTHER, exit_code=7, ended=BEGUN + 392), story(*TO_FAILED, exit_code=7))
    context.client.gate = asyncio.Event()
    inspector.show_jobs([JOB])
    turn()
    held, context.client.gate = context.client.gate, None
    inspector.show_jobs([OTHER])
    pane = inspector.panes["story"]
    until(lambda: pane.events.count() == 7)  # type: ignore[attr-defined]
    held.set()
    turn()
    assert pane.events.count() == 7  # type: ignore[attr-defined]
    assert "failure" in pane.now.text()  # type: ignore[attr-defined]


def test_a_slow_answer_shows_the_shape_of_what_comes(
    context: TestContext, inspector: Inspector, until: Until
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    context.client.gate = asyncio.Event()
    inspector.show_tab("story")
    inspector.show_jobs([JOB])
    until(lambda: inspector.panes["story"].empty_state.accessibleName() == "Loading")
    context.client.gate.set()
    assert until(lambda: inspector.panes["story"].showing_content())


@pytest.mark.parametrize("tab", ["story", "logs", "output", "where", "text"])
def test_every_tab_says_that_the_broker_does_not_answer(
    context: TestContext, inspector: Inspector, until: Until, tab: str
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    context.client.error = Unreachable("No answer.")
    inspector.show_tab(tab)
    inspector.show_jobs([JOB])
    until(lambda: inspector.panes[tab].empty_state.heading.text() == "The broker does not answer")
    context.client.error = None
    context.link.set(ConnectionState.CONNECTED)
    assert until(lambda: inspector.panes[tab].empty_state.heading.text() != "The broker does not answer"
                 or inspector.panes[tab].showing_content())  # fmt: skip


@pytest.mark.parametrize("tab", ["story", "logs", "output", "where", "text"])
def test_every_tab_says_that_a_job_was_purged(
    context: TestContext, inspector: Inspector, until: Until, tab: str
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    context.client.error = NotFound("No such job.")
    inspector.show_tab(tab)
    inspector.show_jobs([JOB])
    assert until(lambda: inspector.panes[tab].empty_state.heading.text() == "This job is gone")


def test_a_lost_broker_greys_what_was_last_heard_and_says_since_when(
    context: TestContext, inspector: Inspector, until: Until
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_tab("story")
    inspector.show_jobs([JOB])
    pane = inspector.panes["story"]
    until(pane.showing_content)
    context.link.set(ConnectionState.RECONNECTING, "The broker ended.")
    assert pane.banner.isVisible()
    assert pane.banner_text.text().startswith("Not connected since")
    assert pane.content.graphicsEffect() is not None
    context.link.set(ConnectionState.CONNECTED)
    assert not pane.banner.isVisible()
    assert pane.content.graphicsEffect() is None


def test_hidden_tabs_ask_for_nothing(context: TestContext, inspector: Inspector, until: Until) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_tab("story")
    inspector.show_jobs([JOB])
    until(inspector.panes["story"].showing_content)
    assert not any(asked.startswith(("files", "match", "read")) for asked in context.client.asked)


def test_a_torn_off_tab_keeps_its_job(
    context: TestContext, inspector: Inspector, until: Until, qtbot: QtBot
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    context.put(row("Done", id=OTHER), [])
    inspector.show_tab("story")
    inspector.show_jobs([JOB])
    inspector.header.detach.trigger()
    window = inspector.detached[0]
    inspector.show_jobs([OTHER])
    until(lambda: window.pane.events.count() == 6)  # type: ignore[attr-defined]
    assert window.windowTitle() == "train-network: story (Running)"
    context.put(row("Done", exit_code=7, ended=BEGUN + 392), story(*TO_FAILED, exit_code=7))
    until(lambda: window.windowTitle() == "train-network: story (Failed, exit 7)")
    window.close()
    assert inspector.detached == []


def test_the_view_of_a_job_has_a_window_of_its_own_and_comes_back(
    context: TestContext, inspector: Inspector, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConsolePane, "_open", lambda *_: None)  # it would start a broker
    context.put(row("Running", interactive=True), story(*TO_RUNNING))
    context.put(row("Done", id=OTHER), [])
    inspector.show_tab("view")
    inspector.show_jobs([JOB])
    view = inspector.view
    until(lambda: view.empty_state.heading.text() == "Nothing published yet")
    view.window_button.click()
    (window,) = inspector.detached
    assert isinstance(window.pane, ViewPane)
    assert window.windowTitle() == "train-network: view (Running)"
    assert inspector.tab() == "console"
    until(lambda: window.pane.empty_state.heading.text() == "Nothing published yet")
    assert (view.job, view.empty_state.heading.text()) == (None, "Shown in a window of its own")
    assert inspector.detach("view") is window
    inspector.show_jobs([OTHER])
    assert view.job == OTHER
    inspector.show_jobs([JOB])
    assert view.job is None
    assert view.empty_state.heading.text() == "Shown in a window of its own"
    view.empty_state.button.click()
    assert (inspector.detached, inspector.tab(), view.job) == ([], "view", JOB)
    context.put(row("Done", interactive=True, ended=BEGUN + 392), story(*TO_RUNNING))
    until(lambda: view.empty_state.heading.text() == "Nothing was published")
    view.window_button.click()
    inspector.detached[0].pane.window_button.click()  # type: ignore[attr-defined]
    assert (inspector.detached, view.job) == ([], JOB)
    until(lambda: view.empty_state.heading.text() == "Nothing was published")


def test_the_head_of_a_closed_tab_hears_of_sites_no_more(context: TestContext) -> None:
    head = JobHeader(context)
    head.show_row(row("Running"))
    delete(head)
    with capture_exceptions() as raised:
        context.sites.changed.emit()
    assert not raised


def test_the_id_is_copied_by_one_click(context: TestContext, inspector: Inspector) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_jobs([JOB])
    inspector.header.copy.click()
    assert QGuiApplication.clipboard().text() == JOB


def test_where_tells_candidates_first_and_why_not_the_others(
    context: TestContext, inspector: Inspector, until: Until
) -> None:
    context.put(row("Waiting", site=""), story(*TO_RUNNING[:2]))
    inspector.show_tab("where")
    inspector.show_jobs([JOB])
    view = inspector.panes["where"].match  # type: ignore[attr-defined]
    until(lambda: view.candidates.rowCount() == 2)
    assert view.analysis.accessibleName() == "1 of 2 resources matches; the other has too few CPUs."
    assert view.advice.text().startswith("Ask for at most 2 CPUs")
    view.list.selectRow(1)
    assert view.explanation.name.text() == "cluster-b"
    assert view.explanation.verdict.text() == "Does not match: it has 2 CPUs in all, 4 are asked for."
    assert [line.word.text() for line in view.explanation.lines] == ["No", "Not known here"]


def test_the_text_is_read_only_coloured_and_opens_in_the_editor(
    context: TestContext, inspector: Inspector, until: Until, tmp_path: Path
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_tab("text")
    inspector.show_jobs([JOB])
    pane: Any = inspector.panes["text"]
    until(lambda: "trains a small network" in pane.text.toPlainText())
    assert pane.text.isReadOnly()
    assert pane.text.document().firstBlock().layout().formats()
    assert pane.sent.text().startswith("Sent with 1 file, 1.2 KiB: train.sh")
    pane.which.setCurrentIndex(1)
    assert "// defaults" in pane.text.toPlainText()
    context.state_dir = tmp_path
    pane.open.click()
    until(lambda: context.opened)
    assert context.opened[0].startswith("// trains")
    assert [path.name for path in tmp_path.glob("copies/*/train.sh")] == ["train.sh"]


def named(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface else ""


def test_every_control_has_a_name_for_a_screen_reader(
    context: TestContext, inspector: Inspector, until: Until
) -> None:
    (context.client.folder / "losses.csv").write_text("epoch,loss\n1,2\n2,1\n")
    context.put(row("Done", exit_code=0), story(*TO_FAILED))
    (context.client.folder / ".crossdesk-data").write_text(
        '{"series":{"loss":1}}\n{"array":"a","values":[1]}\n'
        '{"parameter":"rate","type":"number","value":1,"minimum":0,"maximum":2}\n'
        '{"parameter":"on","type":"switch","value":true}\n'
        '{"parameter":"mode","type":"choice","value":"a","choices":["a"]}\n'
    )
    for tab in inspector.panes.keys() - {"console", "components"}:
        inspector.show_tab(tab)
        inspector.show_jobs([])
        inspector.show_jobs([JOB])
        until(inspector.panes[tab].showing_content)
    controls = [
        one for kind in (QAbstractButton, QComboBox, QLineEdit) for one in inspector.findChildren(kind)
    ]
    nameless = [
        one
        for one in controls
        if not named(one)
        and not one.toolTip()
        and one.objectName() not in _QT_OWN
        and one.isVisibleTo(one.parentWidget())
    ]
    assert [f"{type(one).__name__} in {type(one.parent()).__name__}" for one in nameless] == []


_QT_OWN = {"ScrollLeftButton", "ScrollRightButton", "qt_spinbox_lineedit"}


def test_nothing_is_offered_that_cannot_be_asked_of_the_broker(
    context: TestContext, inspector: Inspector, turn: Callable[[], None]
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    inspector.show_jobs([JOB])
    assert inspector.header.offers.buttons["job.cancel"].isEnabled()
    context.link.set(ConnectionState.UNREACHABLE)
    assert not inspector.header.offers.buttons["job.cancel"].isEnabled()
    context.link.set(ConnectionState.CONNECTED)
    assert inspector.header.offers.buttons["job.cancel"].isEnabled()
    turn()
