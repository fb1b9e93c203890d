"""The control sequences that programs rely on, of the VT100 to VT420 and xterm, against expected screens."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.console.emulator.frame import ScreenFrame
from app.console.emulator.ghostty import Ghostty
from app.console.emulator.keys import MOTION, PRESS, RELEASE, KeyEncoder
from app.console.terminal.view import TerminalView
from tests.app.console.sequences import CSI, LETTERS, screen


def test_linefeed_in_a_scroll_region_moves_only_its_lines() -> None:
    assert screen(f"{LETTERS}{CSI}2;4r{CSI}4;1H\nnew") == ["AAAAA", "CCCCC", "DDDDD", "new", "EEEEE"]


def test_reverse_index_at_the_top_of_a_region_opens_a_line() -> None:
    assert screen(f"{LETTERS}{CSI}2;4r{CSI}2;1H\x1bMnew") == ["AAAAA", "new", "BBBBB", "CCCCC", "EEEEE"]


def test_index_and_next_line_below_the_region_scroll_nothing() -> None:
    assert screen(f"{LETTERS}{CSI}2;3r{CSI}5;3H\x1bD\x1bEx") == ["AAAAA", "BBBBB", "CCCCC", "DDDDD", "xEEEE"]


def test_scrolling_up_and_down_by_lines_stays_in_the_region() -> None:
    assert screen(f"{LETTERS}{CSI}2;4r{CSI}2S") == ["AAAAA", "DDDDD", "", "", "EEEEE"]
    assert screen(f"{LETTERS}{CSI}2;4r{CSI}T") == ["AAAAA", "", "BBBBB", "CCCCC", "EEEEE"]


def test_origin_mode_counts_from_the_region_and_keeps_the_cursor_in_it() -> None:
    assert screen(f"{CSI}2;4r{CSI}?6h{CSI}1;1Hx{CSI}9;1Hy{CSI}?6l{CSI}1;1Hz") == ["z", "x", "", "y"]


def test_origin_mode_answers_places_of_the_region() -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(f"{CSI}2;4r{CSI}?6h{CSI}2;3H{CSI}6n".encode())
    assert bytes(terminal.said().replies) == b"\x1b[2;3R"
    terminal.close()


def test_margins_of_columns_hold_what_is_wrapped_and_scrolled() -> None:
    assert screen(f"{LETTERS}{CSI}?69h{CSI}2;4s{CSI}1;2H{CSI}M") == [
        "ABBBA",
        "BCCCB",
        "CDDDC",
        "DEEED",
        "E   E",
    ]


def test_lines_are_inserted_and_deleted_in_the_region() -> None:
    assert screen(f"{LETTERS}{CSI}1;4r{CSI}2;3H{CSI}2L") == ["AAAAA", "", "", "BBBBB", "EEEEE"]
    assert screen(f"{LETTERS}{CSI}1;4r{CSI}2;3H{CSI}2M") == ["AAAAA", "DDDDD", "", "", "EEEEE"]


def test_characters_are_inserted_deleted_and_erased() -> None:
    assert screen(f"abcdef{CSI}1;3H{CSI}2@") == ["ab  cdef"]
    assert screen(f"abcdef{CSI}1;3H{CSI}2P") == ["abef"]
    assert screen(f"abcdef{CSI}1;3H{CSI}2X") == ["ab  ef"]
    assert screen(f"abcdef{CSI}1;3H{CSI}4hxy{CSI}4lz") == ["abxyzdef"]
    assert screen(f"ab{CSI}3bc") == ["abbbbc"]


def test_what_is_pushed_over_the_edge_is_gone() -> None:
    assert screen(f"{'x' * 19}y{CSI}1;1H{CSI}@") == [" " + "x" * 19]


@pytest.mark.parametrize(
    ("erase", "left"),
    [
        ("K", ["AAAAA", "BBBBB", "CC"]),
        ("1K", ["AAAAA", "BBBBB", "   CC"]),
        ("2K", ["AAAAA", "BBBBB", ""]),
    ],
)
def test_lines_are_erased_from_and_to_the_cursor(erase: str, left: list[str]) -> None:
    assert screen(f"{LETTERS}{CSI}3;3H{CSI}{erase}") == [*left, "DDDDD", "EEEEE"]


@pytest.mark.parametrize(
    ("erase", "left"),
    [
        ("J", ["AAAAA", "BBBBB", "CC"]),
        ("1J", ["", "", "   CC", "DDDDD", "EEEEE"]),
        ("2J", []),
    ],
)
def test_the_screen_is_erased_from_and_to_the_cursor(erase: str, left: list[str]) -> None:
    assert screen(f"{LETTERS}{CSI}3;3H{CSI}{erase}") == left


def test_protected_characters_survive_a_selective_erase() -> None:
    assert screen(f'a{CSI}1"qb{CSI}0"qc{CSI}?2K') == [" b"]


def test_tabs_stand_every_eight_columns_and_are_set_and_cleared() -> None:
    assert screen("a\tb\tc") == ["a       b       c"]
    assert screen(f"{CSI}1;4H\x1bH{CSI}1;1Ha\tb\tc") == ["a  b    c"]
    assert screen(f"{CSI}3ga\tb") == ["a" + " " * 18 + "b"]
    assert screen(f"{CSI}1;18H{CSI}Zx") == [" " * 16 + "x"]
    assert screen(f"{CSI}2Ix") == [" " * 16 + "x"]


def test_the_cursor_is_saved_with_its_attributes_and_restored() -> None:
    terminal = Ghostty(20, 5)
    frame = ScreenFrame(terminal)
    terminal.feed(f"{CSI}2;3H{CSI}1m\x1b7{CSI}0m{CSI}5;1Hlow\x1b8back".encode())
    frame.update()
    assert [row.text() for row in frame.rows] == ["", "  back", "", "", "low"]
    assert frame.cell_styles.all[frame.rows[1].cell_styles[2]].bold
    frame.close()
    terminal.close()


def test_a_cursor_that_was_never_saved_goes_home() -> None:
    assert screen(f"{CSI}3;3H\x1b8x") == ["x"]


def test_text_wraps_late_and_only_where_it_is_told_to() -> None:
    assert screen("x" * 20 + "\r\ny") == ["x" * 20, "y"]
    assert screen("x" * 21) == ["x" * 20, "x"]
    assert screen(f"{CSI}?7l" + "x" * 20 + "yz") == ["x" * 19 + "z"]
    assert screen("x" * 20 + f"\b{CSI}?7hy") == ["x" * 18 + "yx"]


def test_reverse_wrap_goes_back_into_the_line_above() -> None:
    assert screen(f"{CSI}?45h" + "x" * 21 + "\b\b\by")[0] == "x" * 18 + "yx"


def test_wide_characters_do_not_stand_over_the_edge() -> None:
    assert screen("x" * 19 + "漢") == ["x" * 19, "漢"]


def test_cursor_moves_stop_at_edges_and_regions() -> None:
    assert screen(f"{CSI}99;99Hx{CSI}99A{CSI}99Dy") == ["y", "", "", "", " " * 19 + "x"]
    assert screen(f"{CSI}2;4r{CSI}3;1H{CSI}99Ax{CSI}99By") == ["", "x", "", " y"]
    assert screen(f"{CSI}3Gx{CSI}2dy{CSI}2Ez{CSI}Fw") == ["  x", "   y", "w", "z"]


def test_line_drawing_letters_become_lines() -> None:
    assert screen("\x1b(0lqk\x1b(Bq") == ["┌─┐q"]
    assert screen("\x1b)0a\x0eq\x0fq") == ["a─q"]


def test_a_screen_of_letters_for_alignment() -> None:
    assert screen("\x1b#8") == ["E" * 20] * 5


def test_a_full_reset_empties_the_screen_and_forgets_modes() -> None:
    assert screen(f"{LETTERS}{CSI}2;3r{CSI}?6h{CSI}4h\x1bcab{CSI}1;1Hc") == ["cb"]


@pytest.mark.parametrize(
    ("sequence", "color"),
    [
        ("38;2;1;2;3", 0x010203),
        ("38:2:1:2:3", 0x010203),
        ("38:2::1:2:3", 0x010203),
        ("38:5:196", 0xFF0000),
        ("38;5;196", 0xFF0000),
    ],
)
def test_colours_are_written_with_colons_or_semicolons(sequence: str, color: int) -> None:
    terminal = Ghostty(20, 5)
    frame = ScreenFrame(terminal)
    terminal.feed(f"{CSI}{sequence}mx{CSI}4:0;39my".encode())
    frame.update()
    first, second = (frame.cell_styles.all[frame.rows[0].cell_styles[column]] for column in (0, 1))
    assert first.fg == color
    assert (second.fg, second.underline) != (color, 1)
    frame.close()
    terminal.close()


@pytest.mark.parametrize("mode", [47, 1047, 1049])
def test_the_alternate_screen_of_every_kind_leaves_the_first_alone(mode: int) -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(f"first{CSI}?{mode}h{CSI}2J{CSI}Hsecond".encode())
    assert terminal.alternate
    assert terminal.text().strip() == "second"
    terminal.feed(f"{CSI}?{mode}l".encode())
    assert not terminal.alternate
    assert terminal.text().strip() == "first"
    terminal.close()


def test_the_screen_of_1049_is_empty_and_the_cursor_returns() -> None:
    assert screen(f"one{CSI}?1049htwo{CSI}?1049l!") == ["one!"]
    assert screen(f"one{CSI}?1049htwo{CSI}?1049l{CSI}?1049h") == []


def test_what_the_alternate_screen_scrolls_away_is_not_kept() -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(f"{CSI}?1049h".encode() + b"line\r\n" * 50)
    assert terminal.scroll().total == 5
    terminal.close()


@pytest.fixture
def pair() -> tuple[Ghostty, KeyEncoder]:
    terminal = Ghostty(20, 5)
    return terminal, KeyEncoder(terminal)


def test_a_paste_cannot_leave_its_brackets_and_run_a_command(pair: tuple[Ghostty, KeyEncoder]) -> None:
    terminal, keys = pair
    terminal.feed(f"{CSI}?2004h".encode())
    sent = keys.paste("safe\x1b[201~\nrm -rf ~\n\x03\x1b]52;c;eA==\x07")
    assert sent.startswith(b"\x1b[200~safe")
    assert sent.endswith(b"\x1b[201~")
    inside = sent[6:-6]
    assert b"\x1b" not in inside
    assert b"\x03" not in inside


def test_a_paste_without_brackets_carries_no_control_characters(pair: tuple[Ghostty, KeyEncoder]) -> None:
    sent = pair[1].paste("a\x1b[Ab\x03\x08c\td")
    assert not any(byte < 32 and byte not in b"\t\r\n" for byte in sent)
    assert b"\x7f" not in sent


def test_focus_is_told_only_to_programs_that_asked(pair: tuple[Ghostty, KeyEncoder]) -> None:
    terminal, keys = pair
    assert keys.focus(True) == b""
    terminal.feed(f"{CSI}?1004h".encode())
    assert (keys.focus(True), keys.focus(False)) == (b"\x1b[I", b"\x1b[O")


def mouse(keys: KeyEncoder, action: int, button: int, at: tuple[float, float] = (25, 25)) -> bytes:
    return keys.mouse(action, button, at, (10, 20), (200, 100), Qt.KeyboardModifier.NoModifier)


@pytest.mark.parametrize(
    ("modes", "told"),
    [
        ((), (b"", b"", b"", b"")),
        ((1000, 1006), (b"\x1b[<0;3;2M", b"\x1b[<0;3;2m", b"", b"")),
        ((1002, 1006), (b"\x1b[<0;3;2M", b"\x1b[<0;3;2m", b"\x1b[<32;5;2M", b"")),
        ((1003, 1006), (b"\x1b[<0;3;2M", b"\x1b[<0;3;2m", b"\x1b[<32;5;2M", b"\x1b[<35;5;2M")),
        ((1000,), (b'\x1b[M #"', b'\x1b[M##"', b"", b"")),
    ],
)
def test_the_mouse_is_told_as_the_program_asked(
    modes: tuple[int, ...], told: tuple[bytes, ...], pair: tuple[Ghostty, KeyEncoder]
) -> None:
    """A press, a release, a move with the button held, and one without."""
    terminal, keys = pair
    for mode in modes:
        terminal.feed(f"{CSI}?{mode}h".encode())
    assert terminal.takes_mouse == bool(modes)
    pressed, released = mouse(keys, PRESS, 1), mouse(keys, RELEASE, 1)
    dragged, moved = mouse(keys, MOTION, 1, (45, 25)), mouse(keys, MOTION, 0, (45, 25))
    assert (pressed, released, dragged, moved) == told


def test_modes_and_the_terminal_itself_are_told() -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(f"{CSI}?2004h{CSI}?2004$p{CSI}?2026$p{CSI}c".encode())
    said = bytes(terminal.said().replies)
    assert b"\x1b[?2004;1$y" in said
    assert b"\x1b[?2026;2$y" in said
    assert b"\x1b[?6" in said
    terminal.close()


def test_a_synchronized_update_is_shown_at_its_end(view: TerminalView) -> None:
    view.terminal.feed(b"old")
    view.show_output()
    view.terminal.feed(f"{CSI}?2026h{CSI}2J{CSI}H".encode())
    view.show_output()
    assert view.frame.rows[0].text() == "old"
    view.terminal.feed(f"new{CSI}?2026l".encode())
    view.show_output()
    assert view.frame.rows[0].text() == "new"


def test_a_program_that_never_ends_its_update_is_shown_all_the_same(view: TerminalView, until: Any) -> None:
    view.feed(f"{CSI}?2026hstuck".encode())
    until(lambda: view.frame.rows[0].text() == "stuck")


def test_what_is_no_sequence_is_passed_over() -> None:
    assert screen(f"a{CSI}999zb\x1b_private\x1b\\c\x1bP1$tx\x1b\\d\x1b]777;x\x07e{CSI}3\x18f") == ["abcdef"]


def test_scroll_back_is_forgotten_even_within_a_sequence() -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(b"line\r\n" * 50 + b"\x1b[38;5")
    terminal.forget_scroll_back()
    assert terminal.scroll().total == 5
    terminal.close()
