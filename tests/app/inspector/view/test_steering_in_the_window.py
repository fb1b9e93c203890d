"""Parameters of running programs, changed from a real window before a real broker and agent."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSlider, QStyle, QStyleOptionSlider

from app.inspector.view.pane import ViewPane
from broker_core.client.connect import connect
from broker_core.client.interactive import SessionOptions, open_session
from broker_core.client.prepare import prepare
from tests.app.console.programs import shown
from tests.app.windows import Stage, outside, play
from tests.waiting import eventually
from tests.worker.steered import program

TERMINAL = "Interactive = true;"


async def steered_job(on: Stage, folder: Path, more: str) -> tuple[str, ViewPane]:
    """A running job with parameters, and the View tab that shows it."""
    await on.ready()
    (words,) = program("python", folder)
    text = f'Executable = "{Path(words).name}"; InputSandbox = {{"{Path(words).name}"}}; {more}'
    (job,) = (await on.context.client.submit_prepared(await prepare(text, folder))).ids
    inspector = on.window.inspector
    assert inspector is not None
    if more == TERMINAL:  # whoever looks at the console has the last output, for which the agent would wait
        await shown(on, job)
    on.context.show_job(job, "view")
    pane = cast(ViewPane, inspector.panes["view"])
    await eventually(lambda: "stop" in pane.controls.controls, 90, "controls")
    return job, pane


def handle(slider: QSlider) -> QPoint:
    """Where the handle of a slider is."""
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    part = slider.style().subControlRect(
        QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider
    )
    return part.center()


def drag(slider: QSlider, share: float) -> None:
    """Drag the handle so far along the slider."""
    start = handle(slider)
    end = QPoint(round(share * slider.width()), start.y())
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(slider, left, Qt.KeyboardModifier.NoModifier, start)
    for step in range(1, 11):
        QTest.mouseMove(slider, start + (QPointF(end - start) * step / 10).toPoint())
    QTest.mouseRelease(slider, left, Qt.KeyboardModifier.NoModifier, end)


@pytest.mark.parametrize("more", [TERMINAL, ""], ids=["interactive", "batch"])
def test_a_slider_is_dragged_and_the_program_reacts(
    qapp: QApplication, broker: Path, tmp_path: Path, more: str
) -> None:
    async def scenario(on: Stage) -> None:
        job, pane = await steered_job(on, tmp_path, more)
        rate = pane.controls.controls["rate"]
        assert rate.isEnabled()
        assert rate.field.text() == "0.5"
        await eventually(lambda: rate.slider.width() > 40)
        await outside(lambda: drag(rate.slider, 0.9))
        wanted = float(rate.field.text())
        assert wanted > 0.6
        await eventually(lambda: pane.recording.curves["used"].points()[1][-1] == wanted, 90, "its reaction")
        await eventually(lambda: not rate.busy, what="it is settled")
        assert rate.field.text() == f"{wanted:.10g}"
        last = pane.recording.steering.changes[-1]
        assert (last.name, last.after) == ("rate", wanted)
        stop = pane.controls.controls["stop"]
        await eventually(lambda: stop.switch.isVisible())
        stop.switch.click()
        await eventually(lambda: on.ended(job), 90, "its end")
        await eventually(lambda: not stop.isEnabled(), what="the controls are disabled")
        await eventually(lambda: stop.switch.isChecked())
        assert rate.field.text() == f"{wanted:.10g}"

    play(qapp, broker, scenario)


def test_what_another_desk_changes_is_shown_pending_then_taken_with_its_name(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        job, pane = await steered_job(on, tmp_path, TERMINAL)
        size = pane.controls.controls["size"]
        async with await connect(broker, start=False) as client:
            other = await open_session(client, job, SessionOptions(attached=False))
            await other.forwards.steering.set("size", "7")
            await eventually(lambda: size.field.text() == "7" and size.slider.value() == 6, 90, "it is shown")
            await eventually(lambda: size.sign.toolTip().startswith("Changed by "), 90, "it is taken")
            await outside(lambda: drag(size.slider, 0.05))
            wanted = size.field.text()
            seen = other.forwards.steering
            await eventually(lambda: seen.changes["size"].value == wanted, 90, "the other desk sees ours")
            await eventually(lambda: not size.busy)
            await other.forwards.steering.set("size", "9")
            await eventually(lambda: pane.recording.curves["size"].points()[1][-1] == 9, 90, "the last wins")
            await eventually(lambda: size.field.text() == "9")
            await other.close()
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job), 90, "its end")

    play(qapp, broker, scenario)


def test_where_the_agent_carries_lines_alone_a_change_is_given_up_with_the_reason(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        more = 'Interactive = true; InteractiveAgent = "lines";'
        job, pane = await steered_job(on, tmp_path, more)
        rate = pane.controls.controls["rate"]
        await eventually(lambda: "the plain agent is used" in pane.controls.line.text(), 90, "the reason")
        await outside(lambda: drag(rate.slider, 0.9))
        await eventually(lambda: not rate.busy and rate.field.text() == "0.5", 90, "it is given up")
        assert "the plain agent is used" in pane.controls.line.text()
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job), 90, "its end")

    play(qapp, broker, scenario)
