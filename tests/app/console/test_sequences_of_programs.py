"""What editors, pagers and multiplexers send beside text: resets, titles, cursors, reports, links."""

from __future__ import annotations

import pytest

from app.console.emulator.frame import ScreenCursor, ScreenFrame
from app.console.emulator.ghostty import Ghostty
from app.console.emulator.keys import KeyEncoder
from tests.app.console.sequences import CSI, LETTERS, screen

ST = "\x1b\\"


def said(terminal: Ghostty, sequence: str) -> str:
    terminal.feed(sequence.encode())
    return bytes(terminal.said().replies).decode()


def cursor(terminal: Ghostty) -> ScreenCursor:
    frame = ScreenFrame(terminal)
    frame.update()
    frame.close()
    return frame.cursor


# Soft reset (DECSTR), which the shell's `reset` and `tput rs2` send


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (f"{LETTERS}{CSI}2;4r", f"{CSI}5;1H\nx", ["BBBBB", "CCCCC", "DDDDD", "EEEEE", "x"]),
        (f"{CSI}2;4r{CSI}?6h", f"{CSI}1;1Hx", ["x"]),
        (f"ab{CSI}4h", f"{CSI}1;1Hx", ["xb"]),
        (f"{CSI}?7l", "x" * 21, ["x" * 20, "x"]),
        ("\x1b(0", "q", ["q"]),
        ("\x1b)0\x0e", "q", ["q"]),
        (f"{CSI}?69h{CSI}3;6s", f"{CSI}1;1H12345678", ["12345678"]),
        (f"{CSI}3;3H\x1b7", f"{CSI}5;5H\x1b8x", ["x"]),
    ],
)
def test_a_soft_reset_forgets_what_confines_text(before: str, after: str, expected: list[str]) -> None:
    assert screen(f"{before}{CSI}!p{after}") == expected


def test_a_soft_reset_leaves_text_cursor_and_screen_where_they_are(terminal: Ghostty) -> None:
    terminal.feed(f"{CSI}?1049hkept{CSI}3;4H{CSI}1;31m{CSI}?25l{CSI}!pplain".encode())
    frame = ScreenFrame(terminal)
    frame.update()
    assert terminal.alternate
    assert frame.rows[0].text() == "kept"
    assert frame.rows[2].text() == "   plain"
    assert not frame.cell_styles.all[frame.rows[2].cell_styles[3]].bold
    assert (frame.cursor.column, frame.cursor.row) == (8, 2)
    frame.close()


def test_a_soft_reset_gives_the_usual_keys_back(terminal: Ghostty) -> None:
    terminal.feed(f"{CSI}?1h\x1b={CSI}!p".encode())
    assert not terminal.mode(1)


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_soft_reset_may_be_cut_anywhere(cut: int) -> None:
    terminal = Ghostty(20, 5)
    sequence = f"{CSI}!p".encode()
    terminal.feed(f"{CSI}4hab".encode() + sequence[:cut])
    terminal.feed(sequence[cut:] + f"{CSI}1;1Hx".encode())
    assert terminal.text().strip() == "xb"
    terminal.feed(b"!p[!p")
    assert "x!p[!p" in terminal.text()
    terminal.close()


# Titles


def test_a_title_is_put_aside_and_comes_back(terminal: Ghostty) -> None:
    terminal.feed(f"\x1b]2;shell{ST}{CSI}22;2t\x1b]0;editor\x07{CSI}22;0;0t\x1b]2;help\x07".encode())
    assert terminal.title == "help"
    terminal.feed(f"{CSI}23;0;0t".encode())
    assert terminal.title == "editor"
    terminal.feed(f"{CSI}23;2t{CSI}23;2t".encode())
    assert terminal.title == "shell"


def test_names_of_icons_are_no_titles(terminal: Ghostty) -> None:
    terminal.feed(f"\x1b]2;one\x07{CSI}22;1t\x1b]2;two\x07{CSI}23;1t".encode())
    assert terminal.title == "two"


def test_many_titles_are_put_aside_and_the_oldest_are_forgotten(terminal: Ghostty) -> None:
    for number in range(30):
        terminal.feed(f"\x1b]2;{number}\x07{CSI}22t".encode())
    for _ in range(30):
        terminal.feed(f"{CSI}23t".encode())
    assert terminal.title == "20"


# Cursor


@pytest.mark.parametrize(
    ("style", "shape", "blinking"),
    [(1, "block", True), (2, "block", False), (3, "underline", True), (4, "underline", False),
     (5, "bar", True), (6, "bar", False)],
)  # fmt: skip
def test_editors_choose_the_cursor(terminal: Ghostty, style: int, shape: str, blinking: bool) -> None:
    terminal.feed(f"{CSI}{style} q".encode())
    assert (cursor(terminal).shape, cursor(terminal).blinking) == (shape, blinking)


def test_a_hidden_cursor_is_hidden_until_it_is_shown(terminal: Ghostty) -> None:
    terminal.feed(f"{CSI}?25l".encode())
    assert cursor(terminal).row == -1
    terminal.feed(f"{CSI}?25h".encode())
    assert cursor(terminal).row == 0


# Reports


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (f"{CSI}c", f"{CSI}?62;22c"),
        (f"{CSI}>c", f"{CSI}>1;0;0c"),
        (f"{CSI}5n", f"{CSI}0n"),
        (f"{CSI}3;4H{CSI}6n", f"{CSI}3;4R"),
        (f"{CSI}14t", f"{CSI}4;80;160t"),
        (f"{CSI}16t", f"{CSI}6;16;8t"),
        (f"{CSI}18t", f"{CSI}8;5;20t"),
        (f"{CSI}?25$p", f"{CSI}?25;1$y"),
        (f"{CSI}?1049$p", f"{CSI}?1049;2$y"),
        (f"{CSI}?9999$p", f"{CSI}?9999;0$y"),
        (f"{CSI}4h{CSI}4$p", f"{CSI}4;1$y"),
        (f"{CSI}?996n", f"{CSI}?997;2n"),
        (f"{CSI}?u", f"{CSI}?0u"),
        (f"\x1bP$qm{ST}", f"\x1bP1$r0m{ST}"),
        (f"{CSI}2;4r\x1bP$qr{ST}", f"\x1bP1$r2;4r{ST}"),
        (f"{CSI}4 q\x1bP$q q{ST}", f"\x1bP1$r4 q{ST}"),
        (f"\x1bP$qz{ST}", f"\x1bP0$r{ST}"),
        (f"\x1bP+q524742{ST}", f"\x1bP1+r524742=38{ST}"),
        ("\x1b]10;?\x07", "\x1b]10;rgb:1010/1010/1010\x07"),
        (f"\x1b]11;?{ST}", f"\x1b]11;rgb:ffff/ffff/ffff{ST}"),
    ],
)
def test_questions_of_programs_are_answered(terminal: Ghostty, question: str, answer: str) -> None:
    assert said(terminal, question) == answer


def test_what_was_asked_in_the_past_is_not_answered_again(terminal: Ghostty) -> None:
    terminal.feed(f"{CSI}c{CSI}6n\x07\x1b]52;c;eA==\x07\x1b]2;title\x07".encode(), past=True)
    told = terminal.said()
    assert (bytes(told.replies), told.bells, told.clipboard) == (b"", 0, [])
    assert told.titled
    assert said(terminal, f"{CSI}5n") == f"{CSI}0n"


def test_programs_that_want_it_are_told_of_light_and_dark(terminal: Ghostty) -> None:
    dark, light = (
        ("#eeeeee", "#000000", "#0000ff", ["#000000"]),
        ("#000000", "#ffffff", "#0000ff", ["#000000"]),
    )
    terminal.colors(*dark)
    assert not terminal.said().replies
    terminal.feed(f"{CSI}?2031h".encode())
    terminal.colors(*light)
    assert bytes(terminal.said().replies).decode() == f"{CSI}?997;2n"
    terminal.colors(*light)
    assert not terminal.said().replies


# Modes, links, letters


def test_a_paste_is_in_brackets_only_as_long_as_it_is_wanted(terminal: Ghostty) -> None:
    keys = KeyEncoder(terminal)
    terminal.feed(f"{CSI}?2004h".encode())
    assert keys.paste("x") == b"\x1b[200~x\x1b[201~"
    terminal.feed(f"{CSI}?2004l".encode())
    assert keys.paste("x") == b"x"
    keys.close()


def test_a_link_goes_on_over_the_end_of_its_line(terminal: Ghostty) -> None:
    terminal.feed(f"\x1b]8;id=1;https://example.org/long{ST}{'x' * 25}\x1b]8;;{ST}y".encode())
    assert terminal.link((19, 0)) == terminal.link((4, 1)) == "https://example.org/long"
    assert terminal.link((5, 1)) == ""


def test_a_line_is_repeated_as_the_pager_draws_it() -> None:
    assert screen(f"\x1b(0q{CSI}5b\x1b(B|") == ["──────|"]


def test_frames_are_drawn_with_either_set_of_letters() -> None:
    assert screen("\x1b(0lqk\x1b[2;1Hx x\x1b[3;1Hmqj\x1b(B") == ["┌─┐", "│ │", "└─┘"]
    assert screen("\x1b*0\x1bnq\x0fq") == ["─q"]


def test_a_pager_scrolls_back_line_by_line() -> None:
    assert screen(f"{LETTERS}{CSI}1;1H\x1bMnew") == ["new", "AAAAA", "BBBBB", "CCCCC", "DDDDD"]


def test_a_region_is_left_when_the_screen_becomes_larger() -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(f"{CSI}2;3r".encode())
    terminal.resize(20, 8, 8, 16)
    terminal.feed(f"{CSI}8;1Hlast\r\nnew".encode())
    assert terminal.text().splitlines()[-2:] == ["last", "new"]
    terminal.close()


def test_tabs_are_told_and_go_with_the_width() -> None:
    terminal = Ghostty(20, 5)
    terminal.resize(60, 5, 8, 16)
    terminal.feed(b"\t\t\t\tx")
    assert terminal.text().splitlines()[0] == " " * 32 + "x"
    terminal.close()


def test_the_screen_is_cleared_with_what_has_left_it() -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(b"line\r\n" * 50 + f"{CSI}H{CSI}2J{CSI}3J".encode())
    assert terminal.scroll().total == 5
    terminal.close()
