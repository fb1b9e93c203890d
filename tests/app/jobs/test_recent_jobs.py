"""Recent jobs on the first page: a batch is one line that tells how all of its jobs stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.batch.page import BatchPage
from app.welcome.doors import RecentJobs
from app.welcome.fitting_button import FittingButton
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play
from tests.waiting import eventually

_SCAN = """JobName = "scan-_PARAM_"; Executable = "/bin/sh"; Arguments = "-c 'test _PARAM_ -gt 1'";"""


@pytest.mark.expected_log(r"\d+ failed")
def test_a_batch_is_one_recent_line_with_its_failures_and_opens_its_page(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("view.welcome")
        single = SubmissionItem(description='JobName = "alone"; Executable = "/bin/true";')
        sweep = SubmissionItem(description=_SCAN, values=["0", "1", "2", "3", "4"])
        for key, item in (("the-one-alone", single), ("five-of-which-two-fail", sweep)):
            await on.context.client.submit(Submission(key=key, items=[item]))
        rows = on.context.jobs
        await eventually(lambda: len(rows) == 6 and all(on.ended(job) for job in rows.at), 90)
        recent = on.window.findChild(RecentJobs)
        await eventually(
            lambda: [button.text() for _, button in recent.lines] == ["scan  ·  5 jobs", "alone"]
        )
        await eventually(
            lambda: _said(recent.lines[0][1].parentWidget()).startswith("3 of 5 done · 2 failed")
        )
        batch = recent.lines[0][1]
        QTest.mouseClick(batch, Qt.MouseButton.LeftButton)
        page = await eventually(lambda: on.window.findChild(BatchPage), what="a page")
        await eventually(lambda: page.summary.text() == "3 of 5 done · 2 failed")

    play(qapp, broker, scenario)


def _said(line: object) -> str:
    return " ".join(one.text() for one in line.findChildren(QLabel))  # type: ignore[attr-defined]


def test_a_long_name_is_cut_where_there_is_no_room_and_read_in_its_tooltip(
    qapp: QApplication, qtbot: QtBot
) -> None:
    name = "fit & refit of all data of run 7, second pass"
    page = QWidget()
    qtbot.addWidget(page)
    across = QHBoxLayout(page)
    button = FittingButton(name)
    across.addWidget(button)
    across.addStretch(1)
    page.resize(900, 60)
    page.show()
    qapp.processEvents()
    assert (button.text().replace("&&", "&"), button.toolTip()) == (name, "")
    page.resize(160, 60)
    qapp.processEvents()
    assert page.width() == 160
    assert button.text().endswith("…")
    assert button.text().startswith("fit && ")
    assert button.toolTip() == button.accessibleName() == name
    page.resize(900, 60)
    qapp.processEvents()
    assert button.text().replace("&&", "&") == name
