"""A stranger's first own job, in a real window by mouse and keys; every click is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QWidget,
)

from app.submission.sheet import SheetStage, SubmissionSheet
from app.welcome.pane import WelcomePane
from tests.app.clicks import Clicks
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

BODY = """import sys
total = sum(float(line) for line in open(sys.argv[2]))
print(sys.argv[1], total)
open("my result.txt", "w").write(str(total))
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as a stranger has it: a script without `#!`, a space in its name, and data."""
    folder = tmp_path / "my work"
    folder.mkdir()
    (folder / "my analysis.py").write_text(BODY)
    (folder / "run 7.txt").write_text("1\n2.5\n")
    monkeypatch.chdir(folder)
    return folder


async def _done(on: Stage) -> str:
    """The id of the one job, once it has ended well."""
    await eventually(lambda: len(on.context.jobs) == 1, what="the job is there")
    job = str(on.context.jobs.columns["id"][0])
    await eventually(lambda: on.ended(job), 60, "the job ends")
    row = on.context.jobs.row(job) or {}
    assert (row["state"], row["exit_code"]) == ("Done", 0)
    return job


async def _printed(on: Stage, job: str) -> str:
    return (await on.context.client.read_file(job, "std.out")).content.decode()


def test_the_first_door_leads_to_the_same_sheet(qapp: QApplication, broker: Path, work: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("view.welcome")
        page = on.window.tabs.currentWidget()
        assert isinstance(page, WelcomePane)
        await turns()
        assert list(page.doors) == ["file.run", "site.add", "sample"]
        tops = {door.mapTo(page, QPoint(0, 0)).y() for door in page.doors.values()}
        assert len(tops) == 1
        assert max(tops) < page.height() // 3, "the doors are met first"
        assert not page.recent.isVisible()
        (work / "hello.sh").write_text("echo hello\n")
        hand = Clicks()
        hand.click(page.doors["file.run"])
        await hand.choose_file(on.window, work / "hello.sh")
        sheet = await eventually(lambda: on.window.findChild(SubmissionSheet))
        await eventually(lambda: sheet.stage is SheetStage.READY)
        hand.click(sheet.form.submit)
        job = await _done(on)
        assert hand.count == 3
        assert await _printed(on, job) == "hello\n"
        on.context.trigger("view.welcome")
        await eventually(lambda: [one for one, _ in page.recent.lines] == [job])
        assert page.recent.isVisible()

    play(qapp, broker, scenario)


def test_a_script_dropped_on_an_empty_job_is_its_program(
    qapp: QApplication, broker: Path, work: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("file.new")
        await turns()
        editor = on.window.tabs.editor()
        assert editor is not None
        center = editor.mapTo(on.window, editor.rect().center())
        Clicks().drop(on.window, center, work / "run 7.txt", work / "my analysis.py")
        line = editor.form.widgets["Executable"].line  # type: ignore[attr-defined]
        assert isinstance(line, QLineEdit)
        assert line.text() == "my analysis.py"
        assert [entry.shown for entry in editor.form.sandbox.entries] == ["my analysis.py", "run 7.txt"]

    play(qapp, broker, scenario)


def test_what_is_wrong_is_said_on_the_button_which_leads_to_it(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.open_editor('Executable = "/bin/true";\nInputSandbox = {"/gone/a", "/gone/b"};\n')
        editor = on.window.tabs.editor()
        assert editor is not None
        await eventually(lambda: editor.bar.submit.text() == "2 errors")
        Clicks().click(editor.bar.submit)
        assert on.window.findChild(SubmissionSheet) is None
        await eventually(lambda: editor.isAncestorOf(QApplication.focusWidget()))
        assert editor.form.sandbox.isAncestorOf(QApplication.focusWidget())

    play(qapp, broker, scenario)


@pytest.mark.parametrize(
    "text",
    [
        'Type = "DAG"; Nodes = [ a = [ Executable = "/bin/true"; ]; ];',
        'Type = "Collection"; Nodes = {[ Executable = "x"; ]};',
    ],
)
def test_jobs_that_no_form_shows_are_drawn_beside_their_text(
    qapp: QApplication, broker: Path, text: str
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.open_editor(text)
        editor = on.window.tabs.editor()
        assert editor is not None
        assert not editor.form.isVisible()
        assert editor.side.graph.isVisible()
        await eventually(lambda: len(editor.side.graph.graph.nodes) == 1, what="the graph is drawn")

    play(qapp, broker, scenario)


def test_a_parallel_job_over_clusters_is_edited_as_text(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.open_editor('JobType = "Parallel"; SubJobs = {[ NodeNumber = 2; ]};')
        editor = on.window.tabs.editor()
        assert editor is not None
        assert not editor.form.isVisible()
        note = editor.side.note
        assert note.title.text() == "A parallel job over several clusters is edited as text"
        Clicks().click(note.primary)
        assert editor.source.isVisible()

    play(qapp, broker, scenario)


def test_a_template_is_kept_offered_and_made_a_favorite(qapp: QApplication, broker: Path, work: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.templates.save("first", 'Executable = "/bin/true";')
        on.context.open_editor("", None)
        editor = on.window.tabs.editor()
        assert editor is not None
        editor.use_program(str(work / "my analysis.py"))
        on.context.trigger("file.template")
        dialog = next(one for one in on.window.findChildren(QWidget) if one.inherits("QInputDialog"))
        QTest.keyClick(dialog.findChild(QLineEdit), Qt.Key.Key_Return)
        assert [one.name for one in on.context.templates.all] == ["first", "my-analysis"]
        assert str(work / "my analysis.py") in on.context.templates.all[1].text
        on.context.trigger("view.welcome")
        await turns()
        on.context.templates.set_favorite("my-analysis", True)
        assert [one.name for one in on.context.templates.all] == ["my-analysis", "first"]
        on.window.toolbar._fill_new()
        texts = [action.text() for action in on.window.toolbar._new.actions()]
        assert texts[-2:] == ["my-analysis", "first"]
        texts = [action.text() for action in editor.bar._menu.actions()]
        assert texts[-4:] == ["my-analysis", "first", "", "Save as template…"]

        async def roamed() -> bool:
            found = await on.context.client.document("desk")
            return bool(found) and [one[0] for one in found["templates"]] == ["first", "my-analysis"]

        await eventually(roamed)

    play(qapp, broker, scenario)


def test_a_job_becomes_a_template_with_its_files(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        job = await on.finished("heat-image")
        on.window.show_job(job)
        await turns()
        on.context.trigger("job.template")
        dialog = next(one for one in on.window.findChildren(QWidget) if one.inherits("QInputDialog"))
        line = dialog.findChild(QLineEdit)
        line.setText("heat")
        QTest.keyClick(line, Qt.Key.Key_Return)
        await eventually(lambda: [one.name for one in on.context.templates.all] == ["heat"])
        on.context.open_editor(on.context.templates.all[0].text)
        editor = on.window.tabs.editor()
        assert editor is not None
        assert all(not entry.fault for entry in editor.form.sandbox.entries)
        assert editor.form.sandbox.entries

    play(qapp, broker, scenario)
