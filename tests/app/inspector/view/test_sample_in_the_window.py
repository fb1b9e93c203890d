"""The sample that trains a network, run from a real window before a real broker: its curves are live."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtWidgets import QApplication

from app.inspector.view.pane import ViewPane
from app.welcome.running import run_sample
from tests.app.windows import Stage, play
from tests.waiting import eventually


def test_losses_of_the_sample_are_drawn_while_it_runs_and_can_be_browsed_afterwards(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        (job,) = await run_sample(on.context, "neural-net")
        on.context.show_job(job, "view")
        inspector = on.window.inspector
        assert inspector is not None
        pane = cast(ViewPane, inspector.panes["view"])
        await eventually(lambda: pane.curves is not None and pane.curves.curves, 90, "curves")
        assert not on.ended(job)
        assert pane.curves is not None
        assert [one.name for one in pane.curves.curves] == ["loss", "accuracy"]
        assert list(pane.controls.controls) == ["learning rate", "momentum"]
        assert pane.controls.controls["momentum"].field.text() == "0.6"
        before = len(pane.recording.curves["loss"])
        await eventually(lambda: len(pane.recording.curves["loss"]) > before, 90, "more points")
        await eventually(lambda: on.ended(job), 120, "its end")
        await eventually(lambda: len(pane.recording.curves["loss"]) == 120, 90, "all points")
        await eventually(lambda: pane.doing.text() == "100%   epoch 120 of 120")
        assert pane.arrays is not None
        assert pane.arrays.frame.words.text() == "Version 24 of 24"
        assert pane.recording.unreadable == 0
        await eventually(lambda: not pane.controls.controls["momentum"].isEnabled())

    play(qapp, broker, scenario)
