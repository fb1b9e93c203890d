"""`crossdesk job top` on a terminal of 80 x 24, which is given back however the program ends."""

from __future__ import annotations

import fcntl
import signal
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.console.emulator.ghostty import Ghostty
from tests.command_line.calling import crossdesk
from tests.interactive.keyboard import Keyboard
from tests.waiting import wait_until

SIZE = (80, 24)
UP, DOWN, END = b"\x1b[A", b"\x1b[B", b"\x1b[F"
UNFOLD, FOLD = b"\x1b[C", b"\x1b[D"


class TopTerminal(Keyboard):
    """The program on an emulated terminal whose screen the test reads."""

    def __init__(self, *words: str) -> None:
        self.emulator = Ghostty(*SIZE)
        self._fed = 0
        super().__init__("job", "top", *words, TERM="xterm-256color", COLUMNS="", LINES="")

    def opened(self, slave: int) -> None:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))

    def screen(self) -> list[str]:
        """The lines of the screen as they are now."""
        self.shows(b"")()
        while self._fed < len(self.seen):
            self.emulator.feed(self.seen[self._fed :])
            self._fed = len(self.seen)
            self.shows(b"")()
        return self.emulator.text().split("\n")

    def until(self, text: str) -> list[str]:
        """Wait until the screen shows a text; returns its lines."""
        wait_until(lambda: text in "\n".join(self.screen()), what=lambda: f"{text!r} in {self.screen()}")
        return self.screen()

    def line(self, number: int, *texts: str) -> list[str]:
        """Wait until a line has these texts: the screen comes in parts. Returns all lines."""
        wait_until(
            lambda: all(text in self.screen()[number] for text in texts),
            what=lambda: f"line {number} has {texts} in {self.screen()}",
        )
        return self.screen()

    def ended(self) -> int:
        """Wait for the end of the program; fails unless the terminal is as it was before."""
        code = self.process.wait(60)
        self.screen()
        assert not self.emulator.alternate
        assert self.emulator.mode(25), "the cursor is seen"
        assert termios.tcgetattr(self.master)[:4] == self.before[:4]
        return code

    def close(self) -> None:
        super().close()
        self.emulator.close()

    def members(self, count: int) -> list[str]:
        """The screen once it shows so many members of the sweep: it comes in parts."""

        def shown() -> list[str]:
            lines = self.screen()
            return lines if sum("scan (" in line for line in lines) == count else []

        return wait_until(shown, what=f"{count} members are shown")


def _submit(folder: Path, name: str, *words: str) -> list[str]:
    path = folder / f"{name}.jdl"
    path.write_text(f'JobName = "{name}"; Executable = "/bin/sleep"; Arguments = "_PARAM_";')
    return crossdesk("job", "submit", str(path), *words).out.split()


@pytest.fixture
def waiting(broker: Path, tmp_path: Path) -> list[str]:
    """Ids of forty jobs on hold, newest first."""
    values = [word for value in range(40) for word in ("--value", f"{300 + value}")]
    return _submit(tmp_path, "scan", "--hold", "look", *values)[::-1]


@pytest.fixture
def top(waiting: list[str]) -> Iterator[TopTerminal]:
    terminal = TopTerminal()
    yield terminal
    terminal.close()


def test_jobs_are_shown_as_they_change_and_q_ends(top: TopTerminal, tmp_path: Path) -> None:
    top.until("40 jobs: 40 Waiting")
    lines = top.line(2, "+ scan", "40 jobs: 40 Waiting")
    assert lines[1].split()[:3] == ["ID", "NAME", "STATE"]
    assert lines[3].strip() == "", "a batch is one line"
    top.type(DOWN + b"\r")
    top.members(19)
    lines = top.line(23, "q quit")
    assert all(len(line.rstrip()) <= SIZE[0] for line in lines)
    (new,) = _submit(tmp_path, "new", "--hold", "look", "--value", "300")
    top.until("41 jobs: 41 Waiting")
    top.line(2, f"{new[:8]} new")
    assert crossdesk("job", "cancel", new).code == 0
    top.until("Canceled")
    top.type(b"q")
    assert top.ended() == 0


def test_arrows_choose_a_job_that_c_cancels_after_a_question(top: TopTerminal, waiting: list[str]) -> None:
    top.until("40 jobs: 40 Waiting")
    top.type(DOWN + UNFOLD)
    lines = top.members(19)
    first, second = lines[3].split()[0], lines[4].split()[0]
    top.type(DOWN + DOWN + b"c")
    top.line(23, second, "? y/n")
    top.type(b"n")
    top.until("q quit")
    top.type(UP + b"c")
    top.until(f"{first}? y/n")
    top.type(b"y")
    top.until("1 Canceled")
    states = crossdesk("job", "list", "state:canceled", "--json").json["jobs"]
    assert [row["id"][:8] for row in states] == [first]
    top.type(END)
    wait_until(lambda: "scan (300)" in "\n".join(top.screen()) or "scan (339)" in "\n".join(top.screen()))
    top.type(b"c")
    top.until("? y/n")
    top.type(b"n" + FOLD + b"c")
    top.until("Cancel 39 jobs of scan")
    assert not any("scan (" in line for line in top.screen())
    top.type(b"y")
    top.until("40 jobs: 40 Canceled")
    top.type(b"c")
    top.until("All of them have ended.")
    top.type(b"q")
    assert top.ended() == 0


@pytest.mark.parametrize("how", [b"\x03", signal.SIGTERM, signal.SIGHUP, "broker"])
def test_the_terminal_is_given_back_at_every_end(top: TopTerminal, how: bytes | signal.Signals | str) -> None:
    top.until("40 jobs: 40 Waiting")
    if isinstance(how, bytes):
        top.type(how)
    elif isinstance(how, signal.Signals):
        top.process.send_signal(how)
    else:
        assert crossdesk("broker", "stop").code == 0
    assert top.ended() == {b"\x03": 0, "broker": 1}.get(how, 130)
    if how == "broker":
        assert b"The broker was stopped." in top.seen


def test_a_query_chooses_the_jobs(waiting: list[str]) -> None:
    terminal = TopTerminal("param:301,302")
    try:
        terminal.until("2 jobs: 2 Waiting")
        terminal.type(b"q")
        assert terminal.ended() == 0
    finally:
        terminal.close()


def test_without_a_terminal_it_prints_once(waiting: list[str]) -> None:
    said = crossdesk("job", "top")
    assert said.code == 0
    assert "scan  40 jobs: 40 Waiting" in said.out
    assert len(crossdesk("job", "top", "-param:300", "--json").json["jobs"]) == 39
