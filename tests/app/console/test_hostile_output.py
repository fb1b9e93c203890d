"""Output that means harm, or is broken: it reaches no clipboard, types nothing, and stops nothing."""

from __future__ import annotations

import random
import re

import pytest

from app.console.emulator.frame import ScreenFrame
from app.console.emulator.ghostty import Ghostty

CSI = "\x1b["
ANSWER = re.compile(
    rb"\x1b\[[?>]?[0-9;:]*[a-zA-Z$]?[a-zA-Z]|\x1b[P\]_][ -~]*(?:\x1b\\|\x07)|\x1b\[\?[0-9;]*\$y"
)
"""What a terminal may answer: whole sequences of printable characters, never a line that a shell runs."""


CELLS = (80, 24)


def answers(terminal: Ghostty, sequence: str) -> bytes:
    terminal.feed(sequence.encode())
    return bytes(terminal.said().replies)


QUESTIONS = (
    f"{CSI}c", f"{CSI}>c", f"{CSI}=c", f"{CSI}5n", f"{CSI}6n", f"{CSI}?6n", f"{CSI}14t", f"{CSI}16t",
    f"{CSI}18t", f"{CSI}20t", f"{CSI}21t", f"{CSI}>q", f"{CSI}?2026$p", f"{CSI}4$p", f"{CSI}?u", f"{CSI}x",
    "\x05", "\x1bZ",
    f"{CSI}?996n", "\x1bP+q524742\x1b\\", "\x1bP+q0a6c730a\x1b\\", "\x1bP+q\nls\n\x1b\\", "\x1bP$qm\x1b\\",
    "\x1bP$q\nls\n\x1b\\", "\x1b]10;?\x07", "\x1b]11;?\x1b\\", "\x1b]4;1;?\x07", "\x1b]4;1;?\nls\n\x07",
    "\x1b]52;c;?\x07", "\x1b]2;\nls\n\x07\x1b[21t", "\x1b]0;`ls`\x07\x1b[20t", "\x1b]50;?\x07", "\x1b]60\x07",
    "\x1b_Ga=q,i=31,s=1,v=1,t=d,f=24;AAAA\x1b\\", "\x1b_Ga=q,i=\nls\n,t=d;AAAA\x1b\\",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_answer_is_a_line_that_a_shell_would_run(terminal: Ghostty, question: str) -> None:
    said = answers(terminal, question)
    assert b"ls" not in said
    assert not set(said) & set(b"\r\n\t\x03\x04\x15")
    assert ANSWER.sub(b"", said) == b""


@pytest.mark.parametrize("which", ["c", "p", "s", ""])
def test_the_clipboard_is_told_to_nobody(terminal: Ghostty, which: str) -> None:
    assert answers(terminal, f"\x1b]52;{which};?\x07\x1b]52;{which};?\x1b\\") == b""


def test_titles_are_told_to_nobody_and_hold_no_control_characters(terminal: Ghostty) -> None:
    assert answers(terminal, f"\x1b]2;a\rb\nc\x08d\u202e\x07{CSI}21t{CSI}20t") == b""
    assert not any(ord(letter) < 32 for letter in terminal.title)


def test_a_title_of_the_stack_cannot_end_its_sequence(terminal: Ghostty) -> None:
    terminal.feed(f"\x1b]2;a\u009cb{CSI}22;0t\x1b]2;two\x07{CSI}23;0t".encode())
    terminal.feed(f"\x1b]2;kept\x07{CSI}22;2t{CSI}22;0t".encode() + f"{CSI}23;0t".encode() * 20)
    assert terminal.text().strip() == ""
    assert terminal.title


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/tmp/tty-graphics-protocol-secret", "/dev/shm/secret"]
)  # fmt: skip
@pytest.mark.parametrize("medium", ["f", "t", "s"])
def test_pictures_name_no_files_of_the_desk(terminal: Ghostty, path: str, medium: str) -> None:
    from base64 import b64encode

    name = b64encode(path.encode()).decode()
    said = answers(terminal, f"\x1b_Ga=q,i=1,t={medium},f=100;{name}\x1b\\")
    assert b"unsupported medium" in said


def test_very_large_text_for_the_clipboard_is_left_out(terminal: Ghostty) -> None:
    terminal.feed(b"\x1b]52;c;" + b"QUFB" * 1_000_000 + b"\x07after")
    assert terminal.said().clipboard == []
    assert "after" in terminal.text()


@pytest.mark.parametrize("final", [*"@ABCDEFGHIJKLMPSTXZ`abdefghlmnpqrstu", " q", "!p", "$p", '"q', "'}"])
def test_huge_and_very_many_parameters_do_no_harm(terminal: Ghostty, final: str) -> None:
    for numbers in ("4294967297", "99999999999999999999", "1;" * 5000 + "1", "-5", ":::::", "0"):
        terminal.feed(f"{CSI}{numbers}{final}".encode())
    terminal.feed(b"\x18\x1bc\x1b[1;1Hstill here")
    assert terminal.text().startswith("still here")
    assert terminal.size == (80, 24)


def test_repeating_a_letter_very_often_fills_one_screen(terminal: Ghostty) -> None:
    terminal.feed(b"x\x1b[999999999b")
    assert terminal.scroll().total <= 24 + 65535 // 80 + 1


@pytest.mark.parametrize(
    "begin", ["\x1b]2;", "\x1b]8;;", "\x1b]52;c;", "\x1bP", "\x1bP+q", "\x1b_G", "\x1b^", "\x1bX"]
)
def test_a_string_that_never_ends_takes_no_memory_and_is_left_by_a_cancel(
    terminal: Ghostty, begin: str
) -> None:
    terminal.feed(begin.encode())
    for _ in range(64):
        terminal.feed(b"endless " * 8192)
    assert len(terminal.title) < 10_000
    terminal.feed(b"\x18\x1b\\seen")
    assert "seen" in terminal.text()


def test_noise_of_every_kind_is_survived_and_the_screen_can_be_had_back() -> None:
    chance = random.Random(20061122)
    parts = [
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b"\x1b",
        b"\x9b",
        b";",
        b"?",
        b"!",
        b"p",
        b"t",
        b"\xe6\xbc",
        b"\xff",
        b"22;0t",
    ]
    terminal = Ghostty(40, 10)
    frame = ScreenFrame(terminal)
    for _ in range(300):
        noise = b"".join(
            chance.choice(parts) if chance.random() < 0.5 else chance.randbytes(3) for _ in range(60)
        )
        terminal.feed(noise)
        if chance.random() < 0.1:
            terminal.resize(chance.randint(2, 300), chance.randint(1, 100), 8, 16)
        frame.update()
    terminal.resize(40, 10, 8, 16)
    terminal.feed(b"\x18\x1b\\\x1bcback")
    frame.update()
    assert frame.rows[0].text() == "back"
    frame.close()
    terminal.close()


def test_combining_characters_without_end_stay_in_their_cell(terminal: Ghostty) -> None:
    frame = ScreenFrame(terminal)
    terminal.feed(("a" + "\u0301" * 20_000 + "b").encode())
    frame.update()
    assert terminal.cursor == (2, 0)
    frame.close()
