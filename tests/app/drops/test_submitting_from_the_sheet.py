"""The confirmation sheet before a real broker: what it shows, and what it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.description.templates import TEMPLATES
from app.drops.plan import plan_for, plan_for_text
from app.drops.script import ScriptSheet
from app.submission.draft import JobDraft
from app.submission.sheet import SheetStage, SubmissionSheet
from broker_core.client.prepare import Prepared, prepare
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from tests.app.bench_context import BenchContext
from tests.waiting import eventually

Until = Callable[..., Any]
Open = Callable[..., SubmissionSheet]


@pytest.fixture
def open_sheet(context: BenchContext, qtbot: QtBot, until: Until) -> Open:
    """Open a sheet for jobs and wait until it has looked at their files."""
    window = QWidget()
    qtbot.addWidget(window)

    def opened(jobs: tuple[JobDraft, ...]) -> SubmissionSheet:
        sheet = SubmissionSheet(context, jobs, window)
        sheet.open()
        until(lambda: sheet.stage is SheetStage.REFUSED or sheet.form.where.text())
        return sheet

    return opened


def _script(folder: Path, name: str, body: str, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text(body)
    path.chmod(mode)
    return path


def _jobs(*paths: Path) -> tuple[JobDraft, ...]:
    return plan_for([classify(facts_of(path)) for path in paths]).jobs


def _run(context: BenchContext, loop: asyncio.AbstractEventLoop, job: str) -> dict[str, Any]:
    async def ended() -> Any:
        row = (await context.client.job(job)).row
        return row if row["state"] in ("Done", "Aborted", "Canceled") else None

    return dict(loop.run_until_complete(eventually(ended)))


def _output(context: BenchContext, loop: asyncio.AbstractEventLoop, job: str) -> str:
    return str(loop.run_until_complete(context.client.read_file(job, "std.out")).content.decode())


def test_a_script_with_data_runs_and_its_output_is_right(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    data = tmp_path / "in put.txt"
    data.write_text("the data\n")
    sheet = open_sheet(_jobs(_script(tmp_path, "show it.sh", '#!/bin/sh\ncat "in put.txt"\n'), data))
    assert sheet.form.amount.text().startswith("1 CPU · 2 files, ")
    assert sheet.form.where.text().startswith("Goes to ")
    assert sheet.form.contents.topLevelItemCount() == 2
    sheet.form.submit.click()
    until(lambda: sheet.stage is SheetStage.DONE)
    row = _run(context, loop, context.shown[0])
    assert (row["state"], row["exit_code"]) == ("Done", 0)
    assert _output(context, loop, context.shown[0]) == "the data\n"


def test_a_python_file_without_the_executable_bit_runs_through_python(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    sheet = open_sheet(_jobs(_script(tmp_path, "two words.py", "print(6 * 7)\n", 0o644)))
    sheet.form.submit.click()
    until(lambda: sheet.stage is SheetStage.DONE)
    assert _run(context, loop, context.shown[0])["exit_code"] == 0
    assert _output(context, loop, context.shown[0]) == "42\n"


def test_several_scripts_become_one_batch(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    sheet = open_sheet(_jobs(*(_script(tmp_path, f"{n}.sh", f"#!/bin/sh\necho {n}\n") for n in "abc")))
    assert sheet.form.submit.text() == "Submit 3 jobs"
    heard: list[list[str]] = []
    sheet.submitted.connect(heard.append)
    sheet.form.submit.click()
    until(lambda: sheet.stage is SheetStage.DONE)
    rows = [_run(context, loop, job) for job in heard[0]]
    assert len({row["batch"] for row in rows}) == 1
    assert [_output(context, loop, job) for job in heard[0]] == ["a\n", "b\n", "c\n"]


def test_a_sweep_makes_a_job_for_each_value(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop
) -> None:
    sheet = open_sheet((JobDraft("sweep", TEMPLATES[2].text()),))
    assert not sheet.form.submit.isEnabled()
    sheet.form.values.setText("1-3, red")
    assert sheet.form.submit.text() == "Submit 4 jobs"
    heard: list[list[str]] = []
    sheet.submitted.connect(heard.append)
    sheet.form.submit.click()
    until(lambda: sheet.stage is SheetStage.DONE)
    for job in heard[0]:
        _run(context, loop, job)
    assert [_output(context, loop, job) for job in heard[0]] == [
        f"value {v}\n" for v in ("1", "2", "3", "red")
    ]


def test_a_parametric_description_needs_no_values_but_its_own(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop
) -> None:
    text = (
        'JobType = "Parametric"; Parameters = {x, y}; Executable = "/bin/echo"; Arguments = "is _PARAM_"; '
        'StdOutput = "std.out"; OutputSandbox = "std.out";'
    )
    sheet = open_sheet((JobDraft("sweep", text),))
    assert not sheet.sweeps
    assert sheet.form.submit.text() == "Submit 2 jobs"
    heard: list[list[str]] = []
    sheet.submitted.connect(heard.append)
    sheet.form.submit.click()
    until(lambda: sheet.stage is SheetStage.DONE)
    for job in heard[0]:
        _run(context, loop, job)
    assert [_output(context, loop, job) for job in heard[0]] == ["is x\n", "is y\n"]


def test_the_files_of_typed_values_are_sent(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.dat").write_text(f"data of {name}\n")
    text = (
        'Executable = "/bin/cat"; Arguments = "_PARAM_.dat"; InputSandbox = "_PARAM_.dat"; '
        'StdOutput = "std.out"; OutputSandbox = "std.out";'
    )
    sheet = open_sheet((JobDraft("sweep", text, base=tmp_path),))
    sheet.form.values.setText("a, b")
    heard: list[list[str]] = []
    sheet.submitted.connect(heard.append)
    sheet.form.submit.click()
    until(lambda: sheet.stage is SheetStage.DONE)
    for job in heard[0]:
        _run(context, loop, job)
    assert [_output(context, loop, job) for job in heard[0]] == ["data of a\n", "data of b\n"]


def test_an_error_stands_in_the_way_is_named_and_led_to(context: BenchContext, open_sheet: Open) -> None:
    sheet = open_sheet((JobDraft("bad", 'Executable = "x"; InputSandbox = {"/nowhere/x"};'),))
    assert sheet.stage is SheetStage.REFUSED
    assert sheet.form.headline.text() == "This cannot be submitted yet"
    assert any(severity == "error" and "x" in said for severity, said in sheet.form.remarks.shown)
    assert sheet.form.submit.text() == "1 error"
    sheet.form.submit.click()
    assert context.opened == [(sheet.jobs[0].text, None, ())]


def test_the_arguments_of_a_dropped_script_are_written_in_the_sheet(
    context: BenchContext, open_sheet: Open, until: Until, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    body = "import sys\nprint(sys.argv[1:])\n"
    sheet = open_sheet(_jobs(_script(tmp_path, "my script.py", body, 0o644)))
    said = "my script.py\nPython script without “#!”: will be run with python3."
    assert sheet.form.program.text() == said
    assert sheet.form.arguments.hasFocus() or sheet.focusWidget() is sheet.form.arguments
    QTest.keyClicks(sheet.form.arguments, "-n 3 'two words'")
    sheet.form.submit.click()  # at once, before the files were looked at again
    until(lambda: sheet.stage is SheetStage.DONE)
    assert _run(context, loop, context.shown[0])["exit_code"] == 0
    assert _output(context, loop, context.shown[0]) == "['-n', '3', 'two words']\n"


def test_what_is_typed_while_files_are_looked_at_is_in_the_one_job_that_is_sent(
    context: BenchContext,
    qtbot: QtBot,
    until: Until,
    loop: asyncio.AbstractEventLoop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed, texts = asyncio.Event(), list[str]()

    async def slow(text: str, base: Path, **more: Any) -> Prepared:
        texts.append(text)
        if len(texts) == 1:
            await typed.wait()
        return await prepare(text, base, **more)

    monkeypatch.setattr("app.submission.sheet.prepare", slow)
    window = QWidget()
    qtbot.addWidget(window)
    sheet = SubmissionSheet(context, _jobs(_script(tmp_path, "a.sh", '#!/bin/sh\necho "$1"\n')), window)
    sheet.open()
    until(lambda: texts)
    sheet.form.arguments.setText("typed")
    sheet.form.arguments.textEdited.emit("typed")
    sheet.form.submit.click()
    typed.set()
    until(lambda: sheet.stage is SheetStage.DONE)
    assert loop.run_until_complete(context.client.jobs_page()).total == 1
    _run(context, loop, context.shown[0])
    assert _output(context, loop, context.shown[0]) == "typed\n"


def test_a_parameter_in_the_arguments_asks_for_its_values(open_sheet: Open, tmp_path: Path) -> None:
    sheet = open_sheet(_jobs(_script(tmp_path, "a.sh", "#!/bin/sh\n")))
    assert not sheet.form.values.isVisible()
    QTest.keyClicks(sheet.form.arguments, "_PARAM_")
    assert sheet.form.values.isVisible()
    assert not sheet.form.submit.isEnabled()
    QTest.keyClicks(sheet.form.values, "1-3")
    assert sheet.form.submit.text() == "Submit 3 jobs"


def test_tab_goes_through_the_fields_as_they_are_read(open_sheet: Open, tmp_path: Path) -> None:
    sheet = open_sheet(_jobs(_script(tmp_path, "a.sh", "#!/bin/sh\n")))
    form = sheet.form
    QTest.keyClicks(form.arguments, "_PARAM_")
    form.arguments.setFocus()
    passed = []
    for _ in range(3):
        QTest.keyClick(sheet.focusWidget(), Qt.Key.Key_Tab)
        passed.append(sheet.focusWidget())
    assert passed == [form.site, form.values, form.contents]


def test_the_chosen_site_goes_along_into_the_editor(
    context: BenchContext, open_sheet: Open, tmp_path: Path
) -> None:
    sheet = open_sheet(_jobs(_script(tmp_path, "a.sh", "#!/bin/sh\n")))
    sheet.choose_site("local")
    sheet.form.edit.click()
    assert 'Requirements = other.GlueSiteName == "local";' in context.opened[0][0]


def test_canceling_sends_nothing(
    context: BenchContext, open_sheet: Open, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    sheet = open_sheet(_jobs(_script(tmp_path, "a.sh", "#!/bin/sh\n")))
    sheet.form.cancel.click()
    assert loop.run_until_complete(context.client.jobs_page()).total == 0


def test_dropped_text_runs_as_a_script(
    context: BenchContext, qtbot: QtBot, until: Until, loop: asyncio.AbstractEventLoop
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    sheet = ScriptSheet(context, plan_for_text("echo from text").text, window)
    sheet.open()
    sheet.accept()
    confirm = window.findChild(SubmissionSheet)
    until(lambda: confirm.stage is SheetStage.READY and confirm.form.where.text())
    confirm.submit()
    until(lambda: context.shown)
    assert _run(context, loop, context.shown[0])["exit_code"] == 0
    assert _output(context, loop, context.shown[0]) == "from text\n"
