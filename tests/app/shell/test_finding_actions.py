"""The palette shows what cannot be done now, grey and with what has to be done first."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.shell.finder import Find, score
from app.stores.alike import Alike
from tests.app.windows import Stage, play

RUNNING = {"state": "Running", "held": "", "interactive": False, "exit_code": None}


def found(on: Stage, text: str) -> list[Find]:
    return on.window.handlers.finder.find(text)


def test_an_action_that_does_not_apply_says_what_comes_first(qapp: QApplication, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        actions = on.context.actions
        first = found(on, "canc")[0]
        assert (first.title, first.enabled) == ("Cancel", False)
        assert first.detail == "not connected to the broker"
        actions.link(True)
        assert found(on, "canc")[0].detail == "select a job first"
        actions.select([Alike(RUNNING, 2)])
        first = found(on, "canc")[0]
        assert (first.enabled, first.detail) == (True, "Del")
        assert found(on, "show logs")[0].detail == "select one job only"
        assert found(on, "fetch output")[0].detail == "not for these jobs"
        assert found(on, "save description")[0].detail == "open a description first"
        assert found(on, "start the broker")[0].detail == "connected already"
        assert all(line.enabled for line in found(on, ""))

    play(qapp, tmp_path / "state", scenario, connect=False)


def test_return_on_a_grey_line_does_nothing_and_leaves_the_palette_open(
    qapp: QApplication, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        palette = on.window.handlers.palette
        palette.open_with("canc")
        QTest.keyClick(palette.edit, Qt.Key.Key_Return)
        assert palette.isVisible()
        palette.edit.setText("qqzzqq <b>")
        assert palette.nothing.text() == "No results for “qqzzqq <b>”."
        assert palette.nothing.isVisible()

    play(qapp, tmp_path / "state", scenario, connect=False)


@pytest.mark.parametrize(
    ("wanted", "text", "fits"),
    [
        ("canc", "Resources: where their facts come from", False),
        ("canc", "Cancel", True),
        ("smltr", "Simulator", True),
        ("wcr", "Where could it run?", True),
        ("rsrc", "Resources", True),
        ("logs", "Show logs", True),
        ("out", "A job that could not run", False),
    ],
)
def test_letters_strewn_over_a_text_do_not_find_it(wanted: str, text: str, fits: bool) -> None:
    assert (score(wanted, text) is not None) is fits
