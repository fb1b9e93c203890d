"""Pictures of the views of resources, matching and scheduling, before a real broker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.editor.editor import Editor
from app.match.page import MatchPage
from app.resources.pane import ResourcesPane
from app.scheduler.pane import SchedulerPane
from app.theme.tokens import Mode
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.pictures import PICTURES, SIZES
from tests.app.resources.on_file import set_up
from tests.app.windows import Stage, play, turns
from tests.running import RunningBroker
from tests.waiting import eventually

TEXT = """// simulation of a wing
Executable = "/bin/true";
NodeNumber = 1;
Requirements = other.GlueCEInfoTotalCPUs >= 16 && other.GlueHostMainMemoryRAMSize >= 2048
    && member("VO-cms-8.2", other.GlueHostApplicationSoftwareRunTimeEnvironment);
Rank = other.GlueCEStateFreeCPUs;
"""
SEVERAL = """Executable = "/bin/true";
JobType = "Parallel";
SubJobType = "pacx-mpi";
NodeNumber = 100;
Rank = other.GlueCEStateFreeCPUs;
"""
NEVER = 'Executable = "/bin/true";\nRequirements = other.GlueCEInfoTotalCPUs >= 100000;\n'
Look = Callable[[str], Awaitable[None]]


@pytest.fixture(params=(10, 10_000))
def grid(request: pytest.FixtureRequest, state_dir: Path) -> Iterator[tuple[Path, int]]:
    """State directory of a broker that reads so many resources from a file, and their number."""
    set_up(state_dir, request.param)
    running = RunningBroker(state_dir)
    running.start()
    yield state_dir, request.param
    running.close()


@pytest.mark.slow
def test_views_of_resources_have_their_pictures(qapp: QApplication, grid: tuple[Path, int]) -> None:
    state_dir, number = grid
    made: list[Path] = []

    async def scenario(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: _known(on, number), 60)
        waiting = await _submitted(on)
        for mode in (Mode.LIGHT, Mode.DARK):
            on.context.theme.wear(mode=mode)
            for size in SIZES:
                on.window.resize(*size)

                async def look(name: str, mode: Mode = mode, width: int = size[0]) -> None:
                    await turns()
                    made.append(PICTURES / f"desk-{name}-{number}-{mode.value}-{width}.png")
                    assert on.window.grab().save(str(made[-1]))

                await _resources(on, number, look)
                await _scheduler(on, look)
                await _waiting_job(on, waiting, look)
                await _matching(on, number, look)

    play(qapp, state_dir, scenario)
    assert len(made) == 7 * 4
    assert all(path.stat().st_size > 10_000 for path in made)


async def _known(on: Stage, number: int) -> bool:
    return (await on.context.client.resources_page(0, 1)).total > number


async def _submitted(on: Stage) -> str:
    """Submit jobs that no resource can serve; returns the first one's id."""
    ids = []
    for at in range(6):
        item = SubmissionItem(description=NEVER, name=f"wing-{at}")
        ids += (await on.context.client.submit(Submission(key=f"waiting-{at}", items=[item]))).ids
    await eventually(lambda: all(job in on.context.jobs.at for job in ids))
    return ids[0]


async def _resources(on: Stage, number: int, look: Look) -> None:
    on.context.trigger("view.resources")
    pane = on.window.tabs.currentWidget()
    assert isinstance(pane, ResourcesPane)
    await eventually(lambda: pane.table.rowCount() == number + 1 and pane.detail.shown and pane.health.chips)
    pane._kinds.button(0).click()
    await look("resources")
    pane._kinds.button(1).click()
    await eventually(lambda: pane.map.markers)
    await look("map")


async def _scheduler(on: Stage, look: Look) -> None:
    on.context.trigger("view.scheduler")
    pane = on.window.tabs.currentWidget()
    assert isinstance(pane, SchedulerPane)
    await eventually(lambda: pane.queue.rowCount() == 6 and pane.decisions.known)
    await look("scheduler")


async def _waiting_job(on: Stage, job: str, look: Look) -> None:
    on.window.show_job(job, "story")
    story = on.window.inspector.panes["story"]
    await eventually(lambda: story.waiting.isVisible())
    await look("why")


async def _matching(on: Stage, number: int, look: Look) -> None:
    """An editor with its match pane, and the page of its own, which follows the same text."""
    on.context.open_editor(TEXT)
    editor = on.window.tabs.currentWidget()
    assert isinstance(editor, Editor)
    editor.where()
    view = editor.whereabouts.view
    view.filters.access.setChecked(True)
    await eventually(lambda: view.report and view.report.known == number + 1 and view.report.matching > 1)
    await eventually(lambda: any(line.isVisible() for line in view.explanation.lines))
    await look("editor-where")
    on.context.trigger("view.match")
    page = on.window.tabs.currentWidget()
    assert isinstance(page, MatchPage)
    page.match.filters.access.setChecked(True)
    view = page.match
    await eventually(lambda: view.report and view.report.matching > 1 and view.explanation.ce)
    await eventually(lambda: any(line.isVisible() for line in view.explanation.lines))
    await look("match")
    editor.set_text(SEVERAL)
    await eventually(lambda: view.report.groups and view.either.currentWidget() is view.tree)
    await look("groups")
    editor.source.document().setModified(False)
    on.window.tabs.close_page(editor)
