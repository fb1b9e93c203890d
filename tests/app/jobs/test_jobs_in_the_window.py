"""The table of jobs in a window of the usual size."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.jobs.pane import JobsPane
from app.stores.link import ConnectionState
from tests.app.inspector.recorded import row
from tests.app.windows import Stage, play
from tests.waiting import eventually


def test_all_columns_are_seen_beside_the_scroll_bar_of_many_jobs(qapp: QApplication, state_dir: Path) -> None:
    async def scene(on: Stage) -> None:
        on.window.resize(1280, 800)
        on.context.link.set(ConnectionState.CONNECTED)
        made = [row("Done", id=f"job-{number}") for number in range(60)]
        on.context.jobs.merge({name: [one[name] for one in made] for name in made[0]})
        pane = on.window.findChild(JobsPane)
        assert pane is not None
        await eventually(lambda: pane.view.verticalScrollBar().isVisible())
        assert pane.view.horizontalScrollBar().maximum() == 0

    play(qapp, state_dir, scene, connect=False)
