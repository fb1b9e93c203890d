"""Drafts on the disk: what survives a crash."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from app.description.document import read_description, write_description
from app.editor.recovery import DraftKeeper, drafts
from broker_core.errors import BadRequest

_WRITER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QObject
from app.editor.recovery import DraftKeeper
app = QCoreApplication([])
parent = QObject()
keeper = DraftKeeper(parent, Path(sys.argv[1]))
keeper.changed('Executable = "é😀";', Path("/data/a.jdl"))
keeper.write()
"""


def _crashed_desktop(directory: Path) -> None:
    subprocess.run([sys.executable, "-c", _WRITER, str(directory)], check=True)


def test_a_draft_of_an_ended_desktop_is_found_with_its_path(tmp_path: Path) -> None:
    _crashed_desktop(tmp_path / "drafts")
    found = drafts(tmp_path / "drafts")
    assert [(draft.text, draft.path) for draft in found] == [('Executable = "é😀";', Path("/data/a.jdl"))]
    assert stat.S_IMODE(found[0].file.stat().st_mode) == 0o600


def test_a_draft_of_a_running_desktop_is_left_to_it(tmp_path: Path, qapp: object) -> None:
    parent = QObject()
    keeper = DraftKeeper(parent, tmp_path)
    keeper.changed("a", None)
    keeper.write()
    assert keeper.file.exists()
    assert drafts(tmp_path) == []
    keeper.drop()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_draft_is_neither_offered_nor_deleted(tmp_path: Path) -> None:
    broken = tmp_path / "0.draft.json"
    broken.write_bytes(b"{\xff")
    assert drafts(tmp_path) == []
    assert broken.exists()


def test_a_draft_that_cannot_be_written_says_why(tmp_path: Path, qapp: object) -> None:
    (tmp_path / "file").write_text("")
    parent = QObject()
    keeper = DraftKeeper(parent, tmp_path / "file" / "drafts")
    keeper.changed("a", None)
    keeper.write()
    assert keeper.fault


def test_saving_keeps_the_mode_and_goes_through_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "a.jdl", tmp_path / "link.jdl"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_description(link, "new é")
    assert link.is_symlink()
    assert target.read_text("utf-8") == "new é"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.jdl", "link.jdl"]


def test_a_file_that_cannot_be_saved_or_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="was not saved"):
        write_description(tmp_path / "no" / "a.jdl", "x")
    with pytest.raises(BadRequest, match="cannot be read"):
        read_description(tmp_path / "gone.jdl")


def test_a_binary_or_enormous_file_is_not_opened(tmp_path: Path) -> None:
    binary, enormous = tmp_path / "b.jdl", tmp_path / "e.jdl"
    binary.write_bytes(b"\x7fELF\0")
    enormous.write_bytes(b"")
    os.truncate(enormous, 100 << 20)
    with pytest.raises(BadRequest, match="binary"):
        read_description(binary)
    with pytest.raises(BadRequest, match="too large"):
        read_description(enormous)
