"""Files, descriptions and jobs dropped on a site: said beforehand, sent there and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from app.jobs.dragging import JOBS
from app.shell.site_targets import site_places
from app.submission.sheet import SheetStage as Sending
from app.submission.sheet import SubmissionSheet
from app.theme.tokens import Mode
from tests.app.pictures import PICTURES
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

COPY, LEFT, NONE = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


async def _place(on: Stage, card: bool) -> QPoint:
    boxes = await eventually(lambda: [box for name, box in site_places(on.window) if name == "local"])
    return boxes[-1 if card else 0].center()


def _drag(on: Stage, mime: QMimeData, at: QPoint) -> str:
    """Carry something to a place of the window; returns what the overlay says."""
    enter = QDragEnterEvent(at, COPY, mime, LEFT, NONE)
    QApplication.sendEvent(on.window, enter)
    move = QDragMoveEvent(at, COPY, mime, LEFT, NONE, QEvent.Type.DragMove)
    QApplication.sendEvent(on.window, move)
    return on.window.drops.overlay.headline.text() if move.isAccepted() else ""


def _drop(on: Stage, mime: QMimeData, at: QPoint) -> None:
    QApplication.sendEvent(on.window, QDropEvent(QPointF(at), COPY, mime, LEFT, NONE))


def _file(path: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    return mime


@pytest.mark.parametrize("card", [False, True])
def test_a_description_dropped_on_a_site_is_submitted_there(
    qapp: QApplication, broker: Path, tmp_path: Path, card: bool
) -> None:
    jdl = tmp_path / "hello.jdl"
    jdl.write_text('Executable = "/bin/true";\n')

    async def scenario(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: on.context.sites.views)
        if card:
            on.context.trigger("view.sites")
            await turns()
        mime, at = _file(jdl), await _place(on, card)
        assert _drag(on, mime, at) == "Drop to submit hello.jdl to local"
        _drop(on, mime, at)
        sheet = on.window.findChild(SubmissionSheet)
        assert sheet is not None
        assert sheet.form.chosen_site() == "local"
        assert on.window.tabs.editors() == []
        await eventually(lambda: sheet.stage is Sending.READY)
        sheet.submit()
        await eventually(lambda: len(on.context.jobs) == 1)
        [job] = on.context.jobs.at
        await eventually(lambda: on.ended(job))
        assert on.context.jobs.row(job)["state"] == "Done"

    play(qapp, broker, scenario)


def test_data_dropped_on_a_site_is_described_for_that_site(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    data = tmp_path / "numbers.csv"
    data.write_text("1,2\n")

    async def scenario(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: on.context.sites.views)
        mime, at = _file(data), await _place(on, False)
        assert _drag(on, mime, at) == "Drop to describe a job for this on local"
        _drop(on, mime, at)
        (editor,) = on.window.tabs.editors()
        assert 'Requirements = other.GlueSiteName == "local";' in editor.text()
        assert str(data) in editor.text()
        editor.set_text("")

    play(qapp, broker, scenario)


def test_a_program_dropped_on_a_site_says_where_it_will_run(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    script = tmp_path / "work.sh"
    script.write_text("#!/bin/sh\necho hello\n")

    async def scenario(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: on.context.sites.views)
        assert _drag(on, _file(script), await _place(on, False)) == "Drop to run on local with 1 CPU"
        assert on.window.drops.overlay.isVisible()
        for mode in (Mode.LIGHT, Mode.DARK):
            on.context.theme.wear(mode=mode)
            await turns()
            assert on.window.grab().save(str(PICTURES / f"desk-drop-on-site-{mode.value}.png"))

    play(qapp, broker, scenario)


def test_a_job_dropped_on_a_site_is_submitted_there_once_more(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        first = await on.finished("fails")
        await eventually(lambda: on.window.jobs.view.choose(first), what="the table shows it")
        await eventually(lambda: on.context.sites.views)
        view = on.window.jobs.view
        mime = view.model().mimeData(view.selectedIndexes())
        assert mime.data(JOBS).data().decode() == first
        table = view.mapTo(on.window, view.rect().center())
        assert _drag(on, mime, table) == "", "it can only be dropped on a site"
        at = await _place(on, False)
        name = on.context.jobs.row(first)["name"]
        assert _drag(on, mime, at) == f"Drop to run “{name}” on local with 1 CPU"
        _drop(on, mime, at)
        await eventually(lambda: len(on.context.jobs) == 2)
        again = next(job for job in on.context.jobs.at if job != first)
        assert on.context.jobs.row(again)["name"] == name
        assert on.context.jobs.row(again)["pinned"] == "local"

    play(qapp, broker, scenario)
