"""Tags, notes and projects in a window before a real broker: each is set where one looks, and found again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.inspector.story.pane import StoryPane
from app.jobs.annotating import TagSheet
from app.jobs.columns import BY_NAME
from app.shell.project_sheet import ProjectSheet
from app.shell.sidebar import COUNT, KIND
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.broker.jobs import key
from tests.waiting import eventually

SWEEP = 'Executable = "/bin/echo"; Arguments = "_PARAM_"; OutputSandbox = {"out"}; StdOutput = "out";'


async def _sweep(on: Stage, values: int = 3) -> list[str]:
    await on.ready()
    item = SubmissionItem(description=SWEEP, values=[str(number) for number in range(values)])
    ids = (await on.context.client.submit(Submission(key=key(), items=[item]))).ids
    await eventually(lambda: all(on.ended(job) for job in ids), what="the sweep ends")
    await eventually(lambda: on.window.jobs.view.choose_all(ids), what="the table shows them")
    await turns()
    return ids


def _sheet(on: Stage) -> TagSheet:
    on.context.trigger("job.tags")
    (sheet,) = on.window.findChildren(TagSheet)
    return sheet


def _tags(on: Stage, ids: list[str]) -> list[str]:
    return [str((on.context.jobs.row(job) or {})["tags"]) for job in ids]


def test_tags_are_given_to_many_taken_from_some_and_shown_in_the_line_of_the_batch(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        ids = await _sweep(on)
        table, view = on.window.jobs.table, on.window.jobs.view
        assert view.isColumnHidden(BY_NAME["tags"]), "nobody uses tags yet"
        sheet = _sheet(on)
        QTest.keyClicks(sheet.new, "calib run-7")
        QTest.keyClick(sheet.new, Qt.Key.Key_Return)
        QTest.mouseClick(sheet.go, Qt.MouseButton.LeftButton)
        await eventually(lambda: _tags(on, ids) == ["calib run-7"] * 3, what="tags are told")
        await eventually(lambda: not view.isColumnHidden(BY_NAME["tags"]), what="the column of tags")
        await on.context.client.annotate(ids[:1], remove=["run-7"])
        await eventually(lambda: _tags(on, ids)[0] == "calib", what="another client changed one")
        line = table.view.line_of(ids[0])
        assert table.text(line, BY_NAME["tags"]) == "calib, run-7"

        sheet = _sheet(on)
        some = sheet.boxes["run-7"]
        assert some.checkState() is Qt.CheckState.PartiallyChecked
        assert "2 of 3" in some.text()
        assert sheet.changes() == ([], [])
        QTest.keyClicks(sheet.new, "two/words")
        QTest.mouseClick(sheet.go, Qt.MouseButton.LeftButton)
        assert sheet.problem.isVisible()
        assert "letters, digits" in sheet.problem.text()
        sheet.new.clear()
        some.click()
        sheet.boxes["calib"].click()
        assert sheet.changes() == (["run-7"], ["calib"])
        QTest.mouseClick(sheet.go, Qt.MouseButton.LeftButton)
        await eventually(lambda: _tags(on, ids) == ["run-7"] * 3, what="tags are told again")

        on.window.jobs.bar.show_text("tag:RUN-7")
        await eventually(lambda: len(table.view) == 3)
        on.window.jobs.bar.show_text("-tag:*")
        await eventually(lambda: len(table.view) == 0)

    play(qapp, state_dir, scenario)


def test_a_note_is_written_in_the_story_saved_by_itself_and_shown_at_the_head(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        ids = await _sweep(on, 2)
        on.context.show_job(ids[0], "story")
        inspector = on.window.inspector
        assert inspector is not None
        story = inspector.panes["story"]
        assert isinstance(story, StoryPane)
        await eventually(story.note.isVisible, what="the story is shown")
        story.note.setFocus()
        QTest.keyClicks(story.note, "good fit")
        QTest.keyClick(story.note, Qt.Key.Key_Return)
        QTest.keyClicks(story.note, "use it")
        await eventually(lambda: (on.context.jobs.row(ids[0]) or {})["note"] == "good fit\nuse it")
        assert story.note.toPlainText() == "good fit\nuse it"
        await eventually(lambda: inspector.header.marks.text() == "good fit")
        QTest.keyClicks(story.note, " now")
        # Another job is shown before it rests: what was written goes to the first.
        on.context.show_job(ids[1], "story")
        await eventually(lambda: story.note.toPlainText() == "")
        await eventually(lambda: "now" in (on.context.jobs.row(ids[0]) or {})["note"])
        assert (on.context.jobs.row(ids[1]) or {})["note"] == ""
        on.window.jobs.bar.show_text("note:FIT")
        await eventually(lambda: len(on.window.jobs.table.view) == 1)

    play(qapp, state_dir, scenario)


def test_a_note_that_is_half_written_when_the_window_closes_is_kept(
    qapp: QApplication, state_dir: Path
) -> None:
    jobs: list[str] = []

    async def write(on: Stage) -> None:
        jobs.extend(await _sweep(on, 1))
        on.context.show_job(jobs[0], "story")
        inspector = on.window.inspector
        assert inspector is not None
        story = inspector.panes["story"]
        assert isinstance(story, StoryPane)
        await eventually(story.note.isVisible, what="the story is shown")
        QTest.keyClicks(story.note, "last words")
        closed = asyncio.Event()
        on.window.closing.connect(closed.set)
        QTimer.singleShot(0, on.window.close)  # from the window system, not from within a task
        await closed.wait()

    async def read(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: (on.context.jobs.row(jobs[0]) or {})["note"] == "last words")

    ends_with_window = qapp.quitOnLastWindowClosed()
    qapp.setQuitOnLastWindowClosed(False)  # as the program does: the loop ends once the tasks have ended
    try:
        play(qapp, state_dir, write)
    finally:
        qapp.setQuitOnLastWindowClosed(ends_with_window)
    stage = play(qapp, state_dir, read)
    assert (stage.context.jobs.row(jobs[0]) or {})["note"] == "last words"


def test_tags_in_use_stand_in_the_sidebar_with_the_number_of_their_jobs(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        ids = await _sweep(on)
        entries = on.window.sidebar.list

        def listed() -> dict[str, str]:
            items = [entries.item(at) for at in range(entries.count())]
            return {one.text(): str(one.data(COUNT) or "") for one in items if one.data(KIND) == "tag"}

        assert listed() == {}
        await on.context.client.annotate(ids, add=["calib"])
        await on.context.client.annotate(ids[:1], add=["best"])
        await eventually(lambda: listed() == {"best": "1", "calib": "3"}, what="both are listed")
        (best,) = entries.findItems("best", Qt.MatchFlag.MatchExactly)
        at = entries.visualItemRect(best).center()
        QTest.mouseClick(entries.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert on.window.jobs.bar.edit.text() == "tag:best"
        await eventually(lambda: len(on.window.jobs.table.view) == 1)
        assert entries.currentItem() is not None
        assert entries.currentItem().text() == "best", "what is shown is marked"
        on.context.saved.save("Mine", "tag:calib")
        await eventually(lambda: list(listed()) == ["best"], what="a query of the user stands for the other")
        await on.context.client.annotate(ids, remove=["best", "calib"])
        await eventually(lambda: listed() == {}, what="nobody uses them any more")

    play(qapp, state_dir, scenario)


def test_jobs_of_a_project_get_its_tag_are_shown_in_it_and_save_their_output_in_its_folder(
    qapp: QApplication, state_dir: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("jobs.project")
        (sheet,) = on.window.findChildren(ProjectSheet)
        QTest.keyClicks(sheet.name, "Calibration 2026")
        assert "calibration-2026" in sheet.effect.text()
        folder = tmp_path / "calibration"
        sheet.folder.setText(str(folder))
        QTest.mouseClick(sheet.go, Qt.MouseButton.LeftButton)
        entries = on.window.sidebar.list
        names = [entries.item(at).text() for at in range(entries.count())]
        assert names[names.index("Projects") + 1] == "Calibration 2026"
        await eventually(lambda: on.context.preferences["query"] == "tag:calibration-2026")

        sent = Submission(key=key(), items=[SubmissionItem(description=SWEEP.replace("_PARAM_", "yes"))])
        (job,) = (await on.context.client.submit(sent)).ids
        on.context.show_job(job)
        await eventually(lambda: on.window.jobs.view.chosen() == [job], what="the new job is selected")
        assert on.context.preferences["query"] == "tag:calibration-2026", "its project stays chosen"
        assert _tags(on, [job]) == ["calibration-2026"]
        await eventually(on.context.actions.qt("job.fetch_again").isEnabled, what="its output can be fetched")
        on.context.trigger("job.fetch_again")
        await eventually(lambda: [one.read_text() for one in folder.glob("*/out")] == ["yes\n"])
        await eventually(on.context.actions.qt("job.fetch").isEnabled, what="and once more")
        on.context.trigger("job.fetch")
        await eventually(lambda: len(list(folder.glob("*/out"))) == 2, what="it asks for no folder either")
        assert on.window.findChildren(QFileDialog) == []
        assert on.context.preferences["output_folder"] == ""

        on.window.jobs.bar.show_text("")
        await turns()
        assert on.context.saved.tags_of_new() == ()
        on.context.saved.save("Calibration 2026", "tag:calibration-2026")
        assert on.context.preferences["projects"] == {}

    play(qapp, state_dir, scenario)
