"""Drag events sent to a window: what the overlay says, what is accepted, what letting go does."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from app.drops.folder import FolderSheet
from app.drops.script import ScriptSheet
from app.drops.target import PRIVATE, DropTarget, install
from app.editor.editor import Editor
from app.theme.tokens import Mode
from tests.app.bench_context import BenchContext

COPY, LEFT, NONE = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
BESIDE, ON_EDITOR = QPoint(20, 300), QPoint(700, 300)


class Window(QMainWindow):
    """A label at the left, an editor at the right."""

    def __init__(self, context: BenchContext) -> None:
        super().__init__()
        self.context, self.editor = context, Editor(context, 'Executable = "/bin/true";\n')
        page = QWidget()
        row = QHBoxLayout(page)
        row.addWidget(QLabel("jobs"))
        row.addWidget(self.editor, 1)
        self.setCentralWidget(page)
        self.resize(1280, 800)
        self.target: DropTarget = install(context, self)

    def drag(self, mime: QMimeData, place: QPoint) -> bool:
        """Carry something over the window; True if it would be taken."""
        enter = QDragEnterEvent(place, COPY, mime, LEFT, NONE)
        enter.ignore()
        QApplication.sendEvent(self, enter)
        return enter.isAccepted()

    def drop(self, mime: QMimeData, place: QPoint) -> None:
        """Carry something there and let go."""
        assert self.drag(mime, place)
        QApplication.sendEvent(self, QDropEvent(QPointF(place), COPY, mime, LEFT, NONE))


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot) -> Window:
    made = Window(BenchContext(qapp))
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def _files(*paths: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def _text(text: str) -> QMimeData:
    mime = QMimeData()
    mime.setText(text)
    return mime


def test_the_overlay_says_beforehand_what_depends_on_the_place(window: Window, tmp_path: Path) -> None:
    data = tmp_path / "in put.csv"
    data.write_bytes(b"x" * 1536)
    assert window.drag(_files(data), ON_EDITOR)
    assert window.target.overlay.isVisible()
    assert window.target.overlay.headline.text() == "Drop to send with this job"
    assert window.target.overlay.detail.text() == "1 file, 1.5 KiB will join its input sandbox"
    assert window.drag(_files(data), BESIDE)
    assert window.target.overlay.headline.text() == "Drop to describe a job for this"
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not window.target.overlay.isVisible()


def test_a_data_file_dropped_on_an_editor_joins_its_sandbox(window: Window, tmp_path: Path) -> None:
    data = tmp_path / "in put.csv"
    data.write_bytes(b"x")
    window.drop(_files(data), ON_EDITOR)
    assert f'InputSandbox = {{"{data}"}};' in window.editor.text()
    assert not window.target.overlay.isVisible()


def test_a_data_file_dropped_elsewhere_begins_a_description(window: Window, tmp_path: Path) -> None:
    data = tmp_path / "in.csv"
    data.write_bytes(b"x")
    window.drop(_files(data), BESIDE)
    assert str(data) in window.context.opened[0][0]


def test_what_cannot_be_used_is_refused_with_the_reason(window: Window, tmp_path: Path) -> None:
    assert not window.drag(_files(tmp_path / "gone"), BESIDE)
    assert window.target.overlay.detail.text() == "gone does not exist."
    far = QMimeData()
    far.setUrls([QUrl("https://example.org/a.jdl")])
    assert not window.drag(far, BESIDE)


def test_the_desks_own_drags_are_left_alone(window: Window) -> None:
    mime = _text("x")
    mime.setData(PRIVATE + "rows", b"1")
    assert not window.drag(mime, BESIDE)
    assert not window.target.overlay.isVisible()


def test_a_folder_offers_its_descriptions(window: Window, tmp_path: Path) -> None:
    for name in ("a.jdl", "sub/b.jdl", ".hidden/c.jdl", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('Executable = "/bin/true";')
    window.drop(_files(tmp_path), BESIDE)
    sheet = window.findChild(FolderSheet)
    assert [path.name for path in sheet.checked()] == ["a.jdl", "b.jdl"]
    sheet.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert sheet.go_on.text() == "Continue with 1"
    sheet.all.click()
    assert not sheet.go_on.isEnabled()


def test_a_folder_without_descriptions_says_what_one_is(window: Window, tmp_path: Path) -> None:
    window.drop(_files(tmp_path), BESIDE)
    sheet = window.findChild(FolderSheet)
    assert ".jdl" in sheet.hint.text()
    assert not sheet.go_on.isEnabled()


def test_plain_text_is_offered_as_a_script_and_nothing_is_sent(window: Window) -> None:
    window.drop(_text("echo hello"), BESIDE)
    assert window.findChild(ScriptSheet).text.toPlainText() == "#!/bin/sh\necho hello\n"


def test_a_thousand_and_one_files_are_refused_without_being_looked_at(window: Window, tmp_path: Path) -> None:
    assert not window.drag(_files(*(tmp_path / str(n) for n in range(1001))), BESIDE)
    assert "folder" in window.target.overlay.detail.text()


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_the_overlay_is_pictured(qapp: QApplication, qtbot: QtBot, tmp_path: Path, mode: Mode) -> None:
    window = Window(BenchContext(qapp, mode=mode))
    qtbot.addWidget(window)
    window.show()
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    window.drag(_files(tmp_path / "run.sh"), BESIDE)
    folder = Path("build/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    assert window.grab().save(str(folder / f"drop-overlay-{mode}.png"))
