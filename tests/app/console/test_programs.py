"""Real programs in the terminal: full-screen ones, driven by keys, compared with what they did."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.terminal.view import TerminalView
from tests.app.console.conftest import Run

pytestmark = pytest.mark.console
Key = Qt.Key
SHELLS = {"python": ["-q"], "ipython": ["-m", "IPython", "--no-banner", "--no-confirm-exit"]}
PROMPTS = {"python": (">>>", ">>>", ">>>"), "ipython": ("In [1]:", "In [2]:", "In [4]:")}
"""How they ask for the first, the second and the last line: a key before that is lost."""


def screen(view: TerminalView) -> str:
    return view.terminal.text()


def typed(view: TerminalView, text: str) -> None:
    """As an input method gives letters that are on no key."""
    event = QInputMethodEvent()
    event.setCommitString(text)
    QApplication.sendEvent(view, event)


def test_vim_edits_a_file(view: TerminalView, run: Run, qtbot: QtBot, until: Any, tmp_path: Path) -> None:
    vim = run("vim", "-u", "NONE", "-N", "poem.txt")
    until(lambda: view.terminal.alternate and '"poem.txt"' in screen(view))
    qtbot.keyClicks(view, "ihello")
    qtbot.keyClick(view, Key.Key_Return)
    typed(view, "wörld")
    until(lambda: "-- INSERT --" in screen(view) and "wörld" in screen(view))
    qtbot.keyClick(view, Key.Key_Escape)
    qtbot.keyClick(view, Key.Key_Up)
    qtbot.keyClick(view, Key.Key_A, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(view, "!")
    qtbot.keyClick(view, Key.Key_Escape)
    qtbot.keyClicks(view, ":wq")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: vim.status == 0)
    assert (tmp_path / "poem.txt").read_text() == "hello!\nwörld\n"
    assert not view.terminal.alternate


def test_tmux_and_the_terminal_agree_on_every_line(
    view: TerminalView, run: Run, qtbot: QtBot, until: Any, tmp_path: Path
) -> None:
    """Tmux has an emulator of its own: what it holds of its pane is compared with what is on the screen."""
    (tmp_path / "table.txt").write_text(
        "".join(f"\x1b[3{n % 8}m{n:4} \x1b[1mcolumn\x1b[0m 漢字 é {'-' * (n % 40)}\n" for n in range(60))
    )
    program = run("tmux", "-f", "/dev/null", "new-session", "sh -c 'cat table.txt; printf done; exec cat'")
    until(lambda: "done" in screen(view))
    told = subprocess.run(
        ["tmux", "capture-pane", "-p"],
        env={"TMUX_TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pane = [line.rstrip() for line in screen(view).splitlines()[:29]]
    assert pane == [line.rstrip() for line in told.splitlines()[:29]]
    assert any("漢字" in line for line in pane)
    qtbot.keyClick(view, Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    until(lambda: program.status == 0)


def test_htop_shows_itself_and_hears_keys_and_mouse(
    view: TerminalView, run: Run, qtbot: QtBot, until: Any
) -> None:
    htop = run("htop", "--delay=5")
    until(lambda: "F10" in screen(view) and "PID" in screen(view))
    assert view.terminal.takes_mouse
    qtbot.keyClick(view, Key.Key_F1)
    until(lambda: "Process state" in screen(view))
    qtbot.keyClicks(view, "x")
    until(lambda: "F10Quit" in screen(view))
    row, line = next((row, line) for row, line in enumerate(screen(view).splitlines()) if "F10Quit" in line)
    at = QPoint(int((line.index("F10Quit") + 4) * view.cell.width()), int(row * view.cell.height()) + 4)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    until(lambda: htop.status == 0)


def test_less_searches_and_leaves(
    view: TerminalView, run: Run, qtbot: QtBot, until: Any, tmp_path: Path
) -> None:
    (tmp_path / "long").write_text("".join(f"row {number}\n" for number in range(1000)))
    less = run("less", "long")
    until(lambda: "row 28" in screen(view))
    qtbot.keyClicks(view, "/row 500")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: screen(view).startswith("row 500"))
    qtbot.keyClicks(view, "q")
    until(lambda: less.status == 0)


def test_python_edits_its_line_and_takes_a_paste(
    view: TerminalView, run: Run, qtbot: QtBot, until: Any
) -> None:
    python = run("python3", "-q")
    until(lambda: ">>>" in screen(view))
    qtbot.keyClicks(view, "1+2")
    qtbot.keyClick(view, Key.Key_Left)
    qtbot.keyClicks(view, "4")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: "\n43" in screen(view))
    view.paste("print('a' * 3)\n")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: "\naaa" in screen(view))
    qtbot.keyClick(view, Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    until(lambda: python.status == 0)


@pytest.mark.parametrize("shell", SHELLS)
def test_an_interactive_python_completes_and_remembers(
    shell: str, view: TerminalView, run: Run, qtbot: QtBot, until: Any
) -> None:
    """IPython asks where the cursor is, and redraws its line at every key."""
    first, second, third = PROMPTS[shell]
    python = run(sys.executable, *SHELLS[shell])
    until(lambda: first in screen(view))
    qtbot.keyClicks(view, "number = 6 * 7")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: screen(view).rstrip().endswith(second) and "6 * 7" in screen(view))
    qtbot.keyClicks(view, "number.bit_l")
    qtbot.keyClick(view, Key.Key_Tab)
    until(lambda: "number.bit_length" in screen(view))
    qtbot.keyClick(view, Key.Key_U, Qt.KeyboardModifier.ControlModifier)

    def recalled() -> bool:
        """IPython reads its history beside the prompt, and a key before that is lost."""
        if screen(view).count("number = 6 * 7") == 2:
            return True
        qtbot.keyClick(view, Key.Key_Up)
        return False

    until(recalled)
    qtbot.keyClicks(view, " + 58")
    qtbot.keyClick(view, Key.Key_Return)
    qtbot.keyClicks(view, "number")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: "100" in screen(view) and screen(view).rstrip().endswith(third))
    qtbot.keyClick(view, Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    until(lambda: python.status == 0)


def test_a_program_learns_the_size_and_is_interrupted(
    view: TerminalView, run: Run, qtbot: QtBot, until: Any
) -> None:
    shell = run("env", "PS1=ready> ", "bash", "--norc", "--noprofile")
    until(lambda: "ready>" in screen(view))
    qtbot.keyClicks(view, "stty size; sleep 1000")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: "30 100" in screen(view))
    qtbot.keyClick(view, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    until(lambda: "^C" in screen(view))
    view.resize(view.width() - round(view.cell.width() * 20), view.height())
    qtbot.keyClicks(view, "stty size; exit 7")
    qtbot.keyClick(view, Key.Key_Return)
    until(lambda: shell.status == 7)
    assert "30 80" in screen(view)
