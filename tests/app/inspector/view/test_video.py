"""Recording pictures of a display: what was shown is in the file, and when, also while it is written."""

from __future__ import annotations

import shutil
import threading
import weakref
from pathlib import Path

import av
import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.inspector.view.video.file import VideoFile
from app.inspector.view.video.recorder import VideoRecorder
from tests.waiting import LONG, wait_until

SIZE = (97, 65)
RED, BLUE = QColor(220, 20, 30), QColor(10, 40, 200)


def picture(color: QColor, size: tuple[int, int] = SIZE) -> QImage:
    made = QImage(*size, QImage.Format.Format_RGB32)
    made.fill(color)
    return made


def shown(path: Path) -> list[tuple[float, tuple[int, ...]]]:
    """When which color was shown."""
    with av.open(str(path)) as opened:
        stream = opened.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("vp9", *SIZE)
        frames = list(opened.decode(stream))
    return [
        (round(one.time or 0.0, 2), tuple(one.to_ndarray(format="rgb24")[30, 40].tolist())) for one in frames
    ]


def is_near(one: tuple[int, ...], color: QColor) -> bool:
    wanted = (color.red(), color.green(), color.blue())
    return all(abs(a - b) < 12 for a, b in zip(one, wanted, strict=True))


class Recorded:
    """What a recorder told."""

    def __init__(self, recorder: VideoRecorder) -> None:
        self.written: list[tuple[Path, float]] = []
        self.failed: list[str] = []
        recorder.written.connect(lambda path, seconds: self.written.append((path, seconds)))
        recorder.failed.connect(lambda path, why: self.failed.append(why))

    def wait(self, app: QApplication) -> None:
        """Until it told one or the other."""

        def told() -> bool:
            app.processEvents()
            return bool(self.written or self.failed)

        wait_until(told, LONG, "the recorder tells of its end")


@pytest.mark.parametrize("kind", ["webm", "mp4"])
def test_pictures_are_in_the_file_with_their_times_and_colors(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"video.{kind}"
    file = VideoFile(path, *SIZE)
    file.add(picture(RED), 0.0)
    file.add(picture(RED, (64, 64)), 0.1)  # of another screen
    file.add(picture(BLUE), 0.5)
    file.add(picture(BLUE), 0.5)  # none is lost, and time does not stand still
    file.add(picture(RED), 2.25)
    file.close()
    seen = shown(path)
    assert [time for time, _ in seen] == [0.0, 0.5, 0.5, 2.25]
    assert [is_near(color, RED) for _, color in seen] == [True, False, False, True]
    assert is_near(seen[1][1], BLUE)


@pytest.mark.parametrize("kind", ["webm", "mp4"])
def test_what_was_written_before_a_kill_can_be_played(tmp_path: Path, kind: str) -> None:
    path, copy = tmp_path / f"video.{kind}", tmp_path / f"copy.{kind}"
    file = VideoFile(path, *SIZE)
    for number in range(60):
        file.add(picture(RED if number % 2 else BLUE), number / 10)
    shutil.copy(path, copy)
    file.close()
    assert len(shown(copy)) >= 40
    assert len(shown(path)) == 60


def test_a_recorder_writes_what_is_shown_and_how_long(qapp: QApplication, tmp_path: Path) -> None:
    now = [100.0]
    recorder = VideoRecorder(tmp_path / "video.webm", lambda: now[0])
    told = Recorded(recorder)
    recorder.start(picture(RED))
    wait_until(lambda: recorder.idle, LONG, "the first picture is written")
    now[0] = 101.5
    recorder.show(picture(BLUE))
    wait_until(lambda: recorder.idle, LONG, "the second picture is written")
    now[0] = 103.0
    recorder.stop()
    recorder.stop()
    now[0] = 110.0
    recorder.show(picture(RED))  # too late
    told.wait(qapp)
    assert (told.written, told.failed) == ([(tmp_path / "video.webm", 3.0)], [])
    seen = shown(tmp_path / "video.webm")
    assert [time for time, _ in seen] == [0.0, 1.5, 3.0]
    assert is_near(seen[0][1], RED)
    assert is_near(seen[2][1], BLUE)
    assert not [one for one in threading.enumerate() if one.name.startswith("recording ")]


@pytest.mark.expected_log("Recording .*video.webm")
def test_a_file_that_cannot_be_written_is_told(qapp: QApplication, tmp_path: Path) -> None:
    recorder = VideoRecorder(tmp_path / "nowhere/video.webm")
    told = Recorded(recorder)
    recorder.start(picture(RED))
    told.wait(qapp)
    assert told.written == []
    assert "No such file or directory" in told.failed[0]
    recorder.show(picture(BLUE))
    recorder.stop()


def test_a_recorder_that_nobody_holds_goes_in_the_thread_of_the_window(
    qapp: QApplication, tmp_path: Path
) -> None:
    """An object of Qt that another thread destroys takes the desk with it, now and then."""
    gone = list[threading.Thread]()
    recorder = VideoRecorder(tmp_path / "short.webm")
    weakref.finalize(recorder, lambda: gone.append(threading.current_thread()))
    recorder.start(picture(RED))
    recorder.stop()
    del recorder

    def is_gone() -> bool:
        qapp.processEvents()
        return bool(gone)

    wait_until(is_gone, LONG, "the recorder is gone")
    assert gone == [threading.main_thread()]
