"""The display of a running program in a real window before a real broker, agent and X server."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import cast

import av
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.inspector.view.display import CONNECTING, FIGURES, FREE, OURS, WITH_VIDEO, DisplayView
from app.inspector.view.pane import ViewPane
from broker_core.client.connect import connect
from broker_core.client.interactive import SessionOptions, open_session
from broker_core.client.prepare import prepare
from tests.app.windows import Stage, outside, play
from tests.interactive import drawing
from tests.interactive.drawing import BUTTON, COUNTER, KEY, RELEASED, SIDE
from tests.interactive.screens import SeenScreen
from tests.interactive.video import near
from tests.waiting import eventually

pytestmark = pytest.mark.display
_TEXT = """Executable = "{python}"; Arguments = "drawing.py {rate} 0 {side}"; InputSandbox = {{"drawing.py"}};
Interactive = true; InteractiveDisplay = "{size}";"""


async def drawing_job(
    on: Stage, rate: float, side: int = 0, size: str = "320x240"
) -> tuple[str, DisplayView]:
    """A running job that draws, and its display in the View tab."""
    await on.ready()
    source = Path(drawing.__file__)
    text = _TEXT.format(python=sys.executable, rate=rate, side=side, size=size)
    prepared = await prepare(text, source.parent)
    (job,) = (await on.context.client.submit_prepared(prepared)).ids
    assert on.window.inspector is not None
    on.context.show_job(job, "view")
    view = cast(ViewPane, on.window.inspector.panes["view"]).display
    await eventually(lambda: near(color(view, 300, 40), drawing.GROUND), 90, view.remark.text)
    return job, view


def color(view: DisplayView, x: int, y: int) -> int:
    """Of a pixel of the display."""
    image = view.canvas.image
    return image.pixel(x, y) & 0xFFFFFF if not image.isNull() else -1


def number(view: DisplayView, square: int) -> int:
    """The number in a square of the drawing program."""
    return color(view, square * SIDE + 5, 5)


async def shows(view: DisplayView, square: int, wanted: int) -> None:
    """Wait until a square holds a number."""
    await eventually(lambda: number(view, square) == wanted, what=lambda: hex(number(view, square)))


def at(view: DisplayView, x: int, y: int) -> QPoint:
    """Where a pixel of the display is on the canvas."""
    box = view.canvas.shown_at()
    scale = box.width() / view.canvas.image.width()
    return (box.topLeft() + QPointF((x + 0.5) * scale, (y + 0.5) * scale)).toPoint()


async def shares_its_session(on: Stage, job: str) -> None:
    """Parameters of a job with a display go over the session that shows it."""
    assert on.window.inspector is not None
    pane = cast(ViewPane, on.window.inspector.panes["view"])
    await eventually(lambda: "unused" in pane.controls.controls and pane.link is not None, 90, "controls")
    assert pane.link is not None
    sent: list[str] = []
    pane.link.sent.connect(sent.append)
    pane.link.set("unused", "3")
    await eventually(lambda: sent == ["unused"], 90, "the agent has the change")
    assert [one.name for one in threading.enumerate()].count(f"console of {job}") == 1


def pictures_of(video: Path) -> list[np.ndarray]:
    """Red, green and blue of all pictures."""
    with av.open(str(video)) as opened:
        return [one.to_ndarray(format="rgb24") for one in opened.decode(video=0)]


def is_near(pixel: np.ndarray, color: int) -> bool:
    """Whether a pixel of a video has about this color."""
    wanted = [color >> 16, color >> 8 & 0xFF, color & 0xFF]
    return bool((abs(pixel.astype(int) - wanted) < 25).all())


def test_what_is_seen_is_called_video_or_exact_and_the_reason_for_none_is_shown(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        job, view = await drawing_job(on, 30, 380, "640x480")
        await eventually(lambda: view.figures_text.text().endswith(" · video"), 90, view.figures_text.text)
        assert view.figures_text.toolTip() == f"640 × 480 pixels. {FIGURES} {WITH_VIDEO}"
        assert view.link is not None
        view.link.begun.emit(QSize(640, 480), "the node makes none: its Python has no package av")
        assert view.figures_text.toolTip().endswith(": the node makes none: its Python has no package av.")
        await eventually(lambda: view.figures_text.text().endswith(" · without video"))
        await on.context.client.cancel([job])

    play(qapp, broker, scenario)


def test_a_display_moves_and_takes_mouse_and_keyboard(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        notices: list[str] = []
        on.context.noticed.connect(lambda notice: notices.append(notice.text))
        job, view = await drawing_job(on, 30)
        canvas = view.canvas
        before = number(view, COUNTER)
        await eventually(lambda: number(view, COUNTER) > before + 5, what="it moves")
        await eventually(lambda: {"pictures/s", "ms"} <= set(view.figures_text.text().split()))
        assert view.figures_text.toolTip().startswith("320 × 240 pixels. ")
        await eventually(lambda: view.remark.text() == FREE)
        await shares_its_session(on, job)
        view.recording.begin(tmp_path / "moving.webm")
        QTest.keyClick(canvas, Qt.Key.Key_X)  # not captured: it is none of the program's
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at(view, 200, 150))
        place = canvas.pixel_at(QPointF(at(view, 200, 150)))
        await shows(view, BUTTON, 1 << 20 | place.x() << 10 | place.y())
        assert number(view, KEY) == drawing.GROUND
        await eventually(lambda: view.remark.text() == OURS)
        for key, symbol in ((Qt.Key.Key_Tab, 0xFF09), (Qt.Key.Key_F5, 0xFFC2)):
            QTest.keyClick(canvas, key)
            await shows(view, KEY, symbol)
        QTest.keyClicks(canvas, "aZ")
        await shows(view, KEY, ord("Z"))
        QTest.keyPress(canvas, Qt.Key.Key_Control)
        QTest.keyPress(canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        await shows(view, KEY, ord("c"))
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        QTest.keyPress(canvas, Qt.Key.Key_G, both)
        await shows(view, RELEASED, ord("c"))
        await eventually(lambda: view.remark.text() == FREE)
        assert not canvas.captures
        assert view.recording.time_text.text().startswith("Recording 0:")
        view.recording.button.click()
        assert not view.recording.time_text.isVisible()
        await eventually(lambda: any("of video to" in one for one in notices), what="it is written")
        seen = pictures_of(tmp_path / "moving.webm")
        # How many pictures there are meanwhile says how fast the machine is.
        assert len(seen) > 1
        assert not is_near(seen[0][5, RELEASED * SIDE + 5], ord("c"))
        assert any(is_near(one[220, 300], drawing.GROUND) for one in seen)
        assert is_near(seen[-1][5, RELEASED * SIDE + 5], ord("c"))
        QTest.keyClick(canvas, Qt.Key.Key_X)
        await outside(lambda: QTest.mouseMove(canvas, at(view, 20, 20)))
        shown = canvas.image
        view.write_snapshot(shown, tmp_path / "shot.png")
        await eventually(lambda: QImage(str(tmp_path / "shot.png")).size() == shown.size())
        assert number(view, KEY) == ord("c")
        view.full.click()
        full = view.full_screen
        assert full is not None
        await eventually(lambda: canvas.window() is full and canvas.shown_at().width() > 320)
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at(view, 100, 100))
        QTest.keyClick(canvas, Qt.Key.Key_Escape)
        await shows(view, KEY, 0xFF1B)
        QTest.keyPress(canvas, Qt.Key.Key_G, both)
        QTest.keyClick(canvas, Qt.Key.Key_Return)
        assert canvas.captures
        QTest.keyPress(canvas, Qt.Key.Key_G, both)
        QTest.keyClick(canvas, Qt.Key.Key_Escape)
        assert (view.full_screen, canvas.window()) == (None, on.window)
        assert canvas.isVisible()
        before = number(view, COUNTER)
        await eventually(lambda: number(view, COUNTER) > before, what="it moves here again")
        view.full.click()
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job) and not view.isVisible(), 90, "it goes with the job")
        assert (view.link, view.full_screen) == (None, None)

    play(qapp, broker, scenario)


def test_two_desks_and_a_window_that_is_hidden(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        job, view = await drawing_job(on, 30)
        async with await connect(broker, start=False) as client:
            other = await open_session(client, job, SessionOptions(attached=False))
            seen = SeenScreen(other.forwards.screen)
            await eventually(lambda: "2 desks see this display." in view.remark.text())
            QTest.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=at(view, 10, 200))
            await eventually(lambda: seen.control_state == (False, True, 2))
            await seen.takes_input()
            await eventually(lambda: not view.canvas.captures)
            assert "Another desk uses mouse and keyboard." in view.remark.text()
            seen.tap(ord("y"))
            await shows(view, KEY, ord("y"))
            on.context.show_job(job, "story")
            await eventually(lambda: not view.isVisible())
            seen.tap(ord("z"))
            await seen.shows(KEY, ord("z"))
            on.context.show_job(job, "view")
            await shows(view, KEY, ord("z"))
            await other.close()
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job), 90, "its end")

    play(qapp, broker, scenario)


def test_a_job_without_a_display_has_none_in_its_view(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        text = 'Executable = "/bin/sleep"; Arguments = "600"; Interactive = true;'
        (job,) = (await on.context.client.submit_prepared(await prepare(text, Path("/")))).ids
        assert on.window.inspector is not None
        on.context.show_job(job, "view")
        pane = cast(ViewPane, on.window.inspector.panes["view"])
        await eventually(lambda: pane.empty_state.heading.text() == "Nothing published yet", 90)
        assert not pane.display.wanted
        assert CONNECTING not in pane.display.remark.text()
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job), 90, "its end")

    play(qapp, broker, scenario)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("", "does not start on this node"),
        ('InteractiveAgent = "lines";', "No terminal: the plain agent is used"),
    ],
    ids=["no server", "plain agent"],
)
def test_a_display_that_cannot_be_had_says_why_and_the_program_runs(
    qapp: QApplication, broker: Path, tmp_path: Path, more: str, why: str
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        (tmp_path / "Xvfb").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "Xvfb").chmod(0o755)
        text = f"""Executable = "/bin/sleep"; Arguments = "600"; Interactive = true; {more}
            InteractiveDisplay = "320x240"; Environment = {{"PATH={tmp_path}:/usr/bin:/bin"}};"""
        (job,) = (await on.context.client.submit_prepared(await prepare(text, Path("/")))).ids
        assert on.window.inspector is not None
        on.context.show_job(job, "view")
        pane = cast(ViewPane, on.window.inspector.panes["view"])
        await eventually(lambda: why in pane.display.remark.text(), 90, pane.display.remark.text)
        assert pane.showing_content()
        assert not pane.display.canvas.isVisible()
        assert not pane.display.full.isVisible()
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job), 90, "its end")

    play(qapp, broker, scenario)
