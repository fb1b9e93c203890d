"""What a page shows instead of data fits into a small page too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.list_state import ListState
from tests.app.windows import Stage, play, turns

SENTENCE = "Replay a workload: each job of a trace is submitted at its time, on a clock that jumps. " * 2


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp, Mode.LIGHT)
    yield made
    made.wear(size=13)


@pytest.fixture
def state(theme: Theme) -> Iterator[ListState]:
    page = QWidget()
    page.resize(440, 440)
    made = ListState(theme, page)
    made.show_state("inbox", "Nothing yet", SENTENCE, ("Begin", lambda: None))
    made.resize(400, 260)
    page.show()
    QApplication.processEvents()
    yield made
    page.close()
    page.deleteLater()


def _whole(state: ListState) -> bool:
    text = state.text
    below = state.primary.geometry().top() > text.geometry().bottom()
    return below and text.height() >= text.heightForWidth(text.width())


@pytest.mark.parametrize("size", [13, 16])
def test_the_whole_sentence_is_shown_above_the_button(state: ListState, theme: Theme, size: int) -> None:
    theme.wear(size=size)
    QApplication.processEvents()
    assert _whole(state)
    assert state.minimumSizeHint().width() < 300


def test_the_sentence_of_a_page_is_whole_when_the_page_is_first_shown(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        on.window.resize(900, 560)
        for name in ("view.match", "view.simulation"):
            on.context.trigger(name)
            await turns()
        assert _whole(on.window.tabs.currentWidget().state)

    play(qapp, state_dir, scenario, connect=False)


def test_a_low_page_leaves_the_icon_out(state: ListState) -> None:
    state.resize(400, 400)
    assert state._icon.isVisible()
    state.resize(400, 200)
    assert not state._icon.isVisible()
    state.resize(400, 400)
    assert state._icon.isVisible()
