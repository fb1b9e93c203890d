"""The match view, resources and scheduler before a real broker that reads its resources from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.editor.editor import Editor
from app.match.page import MatchPage
from app.match.view import MatchView
from app.resources.pane import ResourcesPane
from app.scheduler.pane import SchedulerPane
from app.submission.sheet import SheetStage as Sending
from app.submission.sheet import SubmissionSheet
from tests.app.resources.on_file import set_up
from tests.app.windows import Stage, play
from tests.running import RunningBroker
from tests.waiting import eventually

NUMBER = 12
CLAUSE = "other.GlueCEInfoTotalCPUs >= 16"
TEXT = f"""Executable = "/bin/true";
Requirements = {CLAUSE} && other.GlueHostMainMemoryRAMSize >= 2048;
Rank = other.GlueCEStateFreeCPUs;
"""


@pytest.fixture
def grid(state_dir: Path) -> Iterator[Path]:
    """State directory of a broker that knows some resources from a file."""
    set_up(state_dir, NUMBER)
    running = RunningBroker(state_dir)
    running.start()
    yield state_dir
    running.close()


async def opened(on: Stage, text: str, more_than: int = NUMBER) -> tuple[Editor, MatchView]:
    """Open a description with its match pane, once the broker knows more resources than that."""
    await on.ready()

    async def known() -> bool:
        return (await on.context.client.resources_page(0, 1)).total > more_than

    await eventually(known)
    on.context.open_editor(text)
    editor = on.window.tabs.currentWidget()
    view = editor.whereabouts.view
    editor.where()
    await eventually(lambda: view.report is not None and not view.asking.pending)
    return editor, view


def test_counts_follow_the_text_and_a_clause_is_marked_in_it(qapp: QApplication, grid: Path) -> None:
    async def scenario(on: Stage) -> None:
        editor, view = await opened(on, TEXT)
        assert view.report.matching == 0
        assert not view.filters.access.isHidden(), "there are sites without an account"
        view.filters.access.setChecked(True)
        await eventually(lambda: view.report.matching > 0)
        place = [one.text for one in view.clauses.model.clauses].index(CLAUSE)
        before = view.clauses.model.clauses[place].satisfied
        view.clauses.table.clicked.emit(view.clauses.model.index(place, 0))
        await eventually(lambda: view.report.selected == view.report.known - before)
        marked = [one.cursor.selectedText() for one in editor.source.extraSelections()]
        assert CLAUSE in marked
        editor.set_text(TEXT.replace(">= 16", ">= 1"))
        await eventually(lambda: view.report.known and view.report.selected == view.report.known)
        assert CLAUSE not in [one.text for one in view.clauses.model.clauses]
        counts = {one.text: one.satisfied for one in view.clauses.model.clauses}
        assert counts["other.GlueCEInfoTotalCPUs >= 1"] == view.report.known > before

    play(qapp, grid, scenario)


@pytest.mark.expected_log("While asking why: line 4: Expected a value")
def test_a_text_that_cannot_be_read_keeps_the_last_answer(qapp: QApplication, grid: Path) -> None:
    async def scenario(on: Stage) -> None:
        editor, view = await opened(on, TEXT)
        known = view.report.known
        editor.set_text(TEXT + "Arguments = ")
        await eventually(lambda: "before the last change" in view.advice.text())
        assert view.candidates.rowCount() == known
        editor.set_text("")
        assert view.empty_state.heading.text() == "Nothing to ask about yet"

    play(qapp, grid, scenario)


def test_a_job_over_several_elements_is_shown_by_groups(qapp: QApplication, grid: Path) -> None:
    text = 'Executable = "/bin/true";\nJobType = "Parallel";\nSubJobType = "pacx-mpi";\nNodeNumber = 100;\n'

    async def scenario(on: Stage) -> None:
        _, view = await opened(on, text)
        view.filters.access.setChecked(True)
        await eventually(lambda: view.either.currentWidget() is view.tree and view.report.groups)
        first = view.groups.group_at(view.groups.first())
        assert sum(first.cpus) == 100
        assert view.groups.first().data(Qt.ItemDataRole.ToolTipRole).startswith("Rank: ")
        assert view.explanation.verdict.text() == "Taken first."
        view.filters.which.setCurrentIndex(2)
        await eventually(lambda: view.either.currentWidget() is view.list)
        assert view.candidates.at(0).reason

    play(qapp, grid, scenario)


def test_submit_here_sends_the_job_to_the_place_that_was_chosen(qapp: QApplication, grid: Path) -> None:
    async def scenario(on: Stage) -> None:
        editor, view = await opened(on, 'Executable = "/bin/true";\n')
        await eventually(lambda: view.explanation.submit.isVisible())
        view.explanation.submit.click()
        sheet = await eventually(lambda: editor.findChild(SubmissionSheet))
        await eventually(lambda: sheet.stage is Sending.READY)
        assert "fork-local" in sheet.form.chosen_site()
        sheet.form.submit.click()
        await eventually(lambda: len(on.context.jobs) == 1)
        job = next(iter(on.context.jobs.at))
        await eventually(lambda: on.ended(job), 60)
        assert "local" in on.context.jobs.row(job)["site"]

    play(qapp, grid, scenario)


def test_the_page_of_its_own_follows_the_editor_until_it_is_closed(qapp: QApplication, grid: Path) -> None:
    async def scenario(on: Stage) -> None:
        editor, _ = await opened(on, TEXT)
        on.context.trigger("view.match")
        page = on.window.tabs.currentWidget()
        assert isinstance(page, MatchPage)
        await eventually(lambda: page.match.report is not None and page.match.report.known > NUMBER)
        editor.set_text('Executable = "/bin/true";\n')
        await eventually(lambda: page.match.report.matching == 1)
        page.edit.click()
        assert on.window.tabs.currentWidget() is editor
        editor.source.document().setModified(False)
        on.window.tabs.close_page(editor)
        await eventually(lambda: page.editor is None)
        on.context.trigger("view.match")
        job = await on.finished("fails")
        on.window.show_job(job)
        on.context.trigger("view.match")
        await eventually(lambda: page.job == job and page.match.report.matching >= 1)

    play(qapp, grid, scenario)


def test_resources_sources_and_policies_are_those_of_the_broker(qapp: QApplication, grid: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("view.resources")
        pane = on.window.tabs.currentWidget()
        assert isinstance(pane, ResourcesPane)
        await eventually(lambda: pane.table.rowCount() == NUMBER + 1)
        await eventually(lambda: set(pane.health.chips) == {"grid", "local"})
        pane.health.chips["grid"].again.click()
        await eventually(lambda: pane.health.chips["grid"].source.state == "ok" and pane.detail.shown)
        assert pane.detail.attributes.rowCount() > 5
        on.context.trigger("view.scheduler")
        scheduler = on.window.tabs.currentWidget()
        assert isinstance(scheduler, SchedulerPane)
        await eventually(lambda: scheduler.policy.boxes["order"].count() >= 3)
        assert scheduler.either.currentWidget() is scheduler.calm
        box = scheduler.policy.boxes["order"]
        wanted = next(row for row in range(box.count()) if row != box.currentIndex())
        box.activated.emit(wanted)
        name = box.itemData(wanted)
        await eventually(lambda: box.itemData(box.currentIndex()) == name)
        assert (await on.context.client.queue()).policy == name

    play(qapp, grid, scenario)


def test_where_all_sites_have_an_account_nothing_is_said_of_others(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        _, view = await opened(on, 'Executable = "/bin/true";', more_than=0)
        assert view.report.matching == 1
        assert view.filters.access.isHidden()

    play(qapp, broker, scenario)
