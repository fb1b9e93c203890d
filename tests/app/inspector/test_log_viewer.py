"""The Logs tab: follows, searches, jumps, and opens 100 MB without keeping the user waiting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.inspector.logs.pane import LogsPane
from broker_core.errors import BadRequest
from tests.app.inspector.recorded import JOB, TO_FAILED, TO_RUNNING, TestContext, row, story

Until = Callable[..., Any]


@pytest.fixture
def pane(qtbot: QtBot, context: TestContext) -> LogsPane:
    made = LogsPane(context)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def running(context: TestContext, text: str) -> Path:
    context.client.growing = True
    path = context.client.folder / "out.txt"
    path.write_text(text)
    context.put(row("Running"), story(*TO_RUNNING))
    return path


def ended(context: TestContext, text: bytes, name: str = "out.txt") -> None:
    (context.client.folder / name).write_bytes(text)
    context.put(row("Done", exit_code=0, ended=row("Done")["started"] + 5), story(*TO_FAILED))


def append(path: Path, text: str) -> None:
    with path.open("a") as stream:
        stream.write(text)


def test_new_lines_of_a_running_job_appear_and_the_end_is_followed(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    path = running(context, "".join(f"line {n}\n" for n in range(200)))
    pane.show_job(JOB)
    until(lambda: "line 199" in pane.view.visible_text())
    append(path, "the newest line\n")
    until(lambda: "the newest line" in pane.view.visible_text())
    assert pane.follow.isChecked()


def test_scrolling_up_ends_following_and_new_lines_leave_what_is_read_in_place(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    path = running(context, "".join(f"line {n}\n" for n in range(500)))
    pane.show_job(JOB)
    until(lambda: "line 499" in pane.view.visible_text())
    pane.view.verticalScrollBar().setValue(100)
    read = pane.view.visible_text()
    assert not pane.follow.isChecked()
    append(path, "more\n" * 50)
    until(lambda: pane.feed is not None and pane.feed.spool.rows == 550)
    assert pane.view.visible_text() == read
    pane.follow.setChecked(True)
    assert pane.view.visible_text().endswith("more")


def test_a_log_of_100_mb_is_on_screen_at_once_and_every_part_can_be_reached(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    line = b"%09d 0123456789012345678901234567890123456789012345678901234567890123456789012345678\n"
    count = 100_000_000 // len(line % 0) + 1
    with (context.client.folder / "out.txt").open("wb") as stream:
        for start in range(0, count, 10_000):
            stream.write(b"".join(line % n for n in range(start, min(start + 10_000, count))))
    context.put(row("Cleared"), story(*TO_FAILED))
    pane.show_job(JOB)
    until(lambda: "000000001" in pane.view.visible_text())
    assert pane.feed is not None
    assert not pane.feed.complete, "the first lines are shown before the rest is here"
    feed = pane.feed
    until(lambda: feed.complete)
    assert feed.spool.rows == count
    for target in (0, count // 2, count - 1):
        pane.view.go_to(target)
        assert f"{target:09d}" in pane.view.visible_text()
    kept = len(feed.spool.index._offsets) * 16
    assert kept < 1_000_000, "the index stays small"
    pane.finder.begin()
    pane.finder.text.setText(f"{count - 2:09d}")
    until(lambda: pane.finder.told.text() == "1 of 1")
    assert f"{count - 2:09d}" in pane.view.visible_text()


def test_a_single_line_of_20_mb_does_not_stall_the_view(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    ended(context, b"y" * 20_000_000)
    pane.show_job(JOB)
    until(lambda: pane.feed is not None and pane.feed.complete)
    pane.wrap.setChecked(True)
    pane.view.verticalScrollBar().setValue(1000)
    assert set(pane.view.visible_text()) == {"y", "\n"}


def test_find_counts_goes_on_and_goes_back(
    context: TestContext, pane: LogsPane, until: Until, qtbot: QtBot
) -> None:
    ended(context, b"".join(b"step %d %s\n" % (n, b"hit" if n % 100 == 0 else b"-") for n in range(1000)))
    pane.show_job(JOB)
    until(lambda: pane.feed is not None and pane.feed.complete)
    pane.look.click()
    qtbot.keyClicks(pane.finder.text, "HIT")
    until(lambda: pane.finder.told.text() == "1 of 10")
    qtbot.keyClick(pane.finder.text, Qt.Key.Key_Return)
    assert pane.finder.told.text() == "2 of 10"
    assert "step 100 hit" in pane.view.visible_text()
    qtbot.keyClick(pane.finder.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(pane.finder.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert pane.finder.told.text() == "10 of 10"
    qtbot.keyClick(pane.finder.text, Qt.Key.Key_Escape)
    assert pane.finder.isHidden()


def test_an_expression_can_be_used_and_a_wrong_one_is_explained(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    ended(context, b"loss 0.5\nloss 0.25\n")
    pane.show_job(JOB)
    until(lambda: pane.feed is not None and pane.feed.complete)
    pane.finder.begin()
    pane.finder.regex.setChecked(True)
    pane.finder.text.setText(r"0\.\d+$")
    until(lambda: pane.finder.told.text() == "1 of 2")
    pane.finder.text.setText("(")
    until(lambda: pane.finder.told.text().startswith("Not a regular expression"))
    assert pane.finder.isVisible()


def test_the_first_error_is_one_key_away(
    context: TestContext, pane: LogsPane, until: Until, qtbot: QtBot
) -> None:
    ended(context, b"fine\n" * 3000 + b"Traceback (most recent call last):\n" + b"later\n" * 3000)
    pane.show_job(JOB)
    until(lambda: pane.feed is not None and pane.feed.complete)
    qtbot.keyClick(pane.view, Qt.Key.Key_F8)
    until(lambda: "line 3,001" in pane.finder.told.text())
    assert "Traceback" in pane.view.visible_text()


def test_selected_text_is_copied_as_it_reads(
    context: TestContext, pane: LogsPane, until: Until, qtbot: QtBot
) -> None:
    ended(context, b"\x1b[31mred\x1b[0m one\ntwo\n")
    pane.show_job(JOB)
    until(lambda: pane.feed is not None and pane.feed.complete)
    qtbot.keyClick(pane.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(pane.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "red one\ntwo"


def test_a_binary_file_is_named_as_such(context: TestContext, pane: LogsPane, until: Until) -> None:
    ended(context, b"\x7fELF\0\0\0" * 1000)
    pane.show_job(JOB)
    until(lambda: pane.quiet.heading.text() == "A binary file")
    assert pane.quiet.isVisible()


def test_errors_are_shown_first_where_only_they_say_something(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    (context.client.folder / "out.txt").touch()
    ended(context, b"sh: nosuch: not found\n", "err.txt")
    pane.show_job(JOB)
    until(lambda: "not found" in pane.view.visible_text())
    assert pane.chooser.titles() == ["stdout  0 B", "stderr  22 B"]
    assert pane.chooser.bar.currentIndex() == 1


def test_a_job_that_has_not_run_says_when_there_will_be_lines(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    context.put(row("Waiting"), story(*TO_RUNNING[:2]))
    pane.show_job(JOB)
    until(lambda: pane.empty_state.heading.text() == "No output yet")
    assert pane.empty_state.isVisible()


def test_what_a_job_writes_takes_the_place_of_what_was_there_before_it(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    """At first the job has its script alone, then a file of its own, then its output."""
    context.client.roles["heat.py"] = "input"
    (context.client.folder / "heat.py").write_text("print('step')\n")
    context.put(row("Running"), story(*TO_RUNNING))
    pane.show_job(JOB)
    until(lambda: pane.empty_state.heading.text() == "No output yet")
    (context.client.folder / "notes").write_text("of its own\n")
    pane.refresh()
    until(lambda: "of its own" in pane.view.visible_text())
    running(context, "step 1\n")
    pane.refresh()
    until(lambda: "step 1" in pane.view.visible_text())
    pane.show_file("heat.py")
    until(lambda: "print" in pane.view.visible_text())
    ended(context, b"step 1\nstep 2\n")
    pane.refresh()
    until(lambda: [one.size for one in pane.files if one.role == "stdout"] == [14])
    assert "print" in pane.view.visible_text(), "what the user chose stays"


def test_errors_come_into_view_when_the_job_fails(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    running(context, "step 1\n")
    pane.show_job(JOB)
    until(lambda: "step 1" in pane.view.visible_text())
    (context.client.folder / "err.txt").write_text("error: no map\n")
    context.put(row("Done", exit_code=7, ended=row("Done")["started"] + 5), story(*TO_FAILED))
    pane.refresh()
    until(lambda: "no map" in pane.view.visible_text())
    assert "step 1" not in pane.view.visible_text()


def test_a_file_that_cannot_be_read_says_why(context: TestContext, pane: LogsPane, until: Until) -> None:
    ended(context, b"x\n")
    pane.show_job(JOB)
    until(lambda: pane.feed is not None and pane.feed.complete)
    (context.client.folder / "other.txt").write_text("y\n")
    pane.refresh()
    until(lambda: pane.chooser.more.isVisible())
    context.client.error = BadRequest("This file cannot be read now.", remedy="Try again later.")
    pane.show_file("other.txt")
    until(lambda: "cannot be read now" in pane.quiet.sentence.text())
    assert pane.quiet.isVisible()
