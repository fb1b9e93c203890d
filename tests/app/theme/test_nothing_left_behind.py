"""The desktop leaves nothing in the temporary directory, however it ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QFile, QIODevice

from app.inspector.own_folder import OwnFolder
from app.theme.theme import embed

_STAY = """
import sys
import app.main as program
from PySide6.QtGui import QIcon
build = program.build
def built(app, options):
    window = build(app, options)
    assert not QIcon(":/crossdesk/dark/check.svg").pixmap(16).isNull()
    window.painted.connect(lambda: print("painted", flush=True))
    return window
program.build = built
sys.exit(program.main(["--theme", "dark"]))
"""
_COPY = """
import sys
from app.inspector.own_folder import OwnFolder
owner = OwnFolder()
(owner.path() / "copy").write_text("of a job")
print(owner.path(), flush=True)
sys.stdin.read()
"""
_ENDINGS = [signal.SIGKILL, signal.SIGTERM]


@pytest.mark.parametrize("ending", _ENDINGS)
def test_a_desktop_that_is_killed_leaves_nothing_in_the_temporary_directory(
    broker: Path, tmp_path: Path, ending: signal.Signals
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    words = [sys.executable, "-c", _STAY]
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as desktop:
        line = desktop.stdout.readline()
        meanwhile = list(folder.iterdir())
        desktop.send_signal(ending)
    assert (line, meanwhile, list(folder.iterdir())) == ("painted\n", [], [])


def _copying() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _COPY], stdin=-1, stdout=-1, text=True)


def test_copies_of_a_killed_desktop_go_with_the_next_one_and_those_of_a_living_one_stay() -> None:
    with _copying() as killed, _copying() as living:
        left, used = Path(killed.stdout.readline().strip()), Path(living.stdout.readline().strip())
        killed.kill()
        killed.wait()
        assert (left / "copy").exists()
        owner = OwnFolder()
        mine = owner.path()
        assert (left.exists(), (used / "copy").exists()) == (False, True)
        assert [stat.S_IMODE(path.stat().st_mode) for path in (mine, mine.parent)] == [0o700, 0o700]
        living.stdin.close()
        living.wait()
        assert not used.exists()
    del owner
    assert not mine.exists()


def test_nothing_is_made_before_it_is_needed() -> None:
    owner = OwnFolder()
    assert not (Path(os.environ["XDG_CACHE_HOME"]) / "crossdesk" / "copies").exists()
    assert owner.path().is_dir()


def test_qt_finds_every_embedded_file() -> None:
    files = {f"icon-{number}.svg": b"content %d" % number for number in range(300)}
    folder = embed("/crossdesk/many", files)
    assert {name: _read(f"{folder}/{name}") for name in files} == files


def _read(path: str) -> bytes:
    file = QFile(path)
    assert file.open(QIODevice.OpenModeFlag.ReadOnly)
    return bytes(file.readAll())
