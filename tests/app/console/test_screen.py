"""What sequences do to the screen: colours, wide characters, links, replies, selection, scroll-back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.console.emulator.cell_style import CellStyle
from app.console.emulator.frame import ScreenFrame
from app.console.emulator.ghostty import Ghostty
from app.console.terminal.palette import PALETTES
from app.theme.tokens import Mode


@pytest.fixture
def frame(terminal: Ghostty) -> Iterator[ScreenFrame]:
    made = ScreenFrame(terminal)
    yield made
    made.close()


def cell_style(frame: ScreenFrame, column: int, row: int = 0) -> CellStyle:
    return frame.cell_styles.all[frame.rows[row].cell_styles[column]]


def test_colours_and_attributes_make_runs(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"a\x1b[1;31mb\x1b[0;38;2;1;2;3;48;5;1mc\x1b[0;4:3;58;2;9;9;9md\x1b[0;7;9me")
    frame.update()
    assert cell_style(frame, 0) == CellStyle()
    assert (cell_style(frame, 1).bold, cell_style(frame, 1).fg) == (True, 0xAA0000)
    assert (cell_style(frame, 2).fg, cell_style(frame, 2).bg) == (0x010203, 0xAA0000)
    assert (cell_style(frame, 3).underline, cell_style(frame, 3).underline_color) == (3, 0x090909)
    assert (cell_style(frame, 4).inverse, cell_style(frame, 4).strikethrough) == (True, True)


def test_a_ground_without_text_has_its_colour(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"\x1b[41m\x1b[K\r\n\x1b[48;2;1;2;3m\x1b[K")
    frame.update()
    assert (cell_style(frame, 9).bg, cell_style(frame, 9, 1).bg) == (0xAA0000, 0x010203)


def test_wide_and_combined_characters_keep_their_cells(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed("漢e\u0301x".encode())
    frame.update()
    assert frame.rows[0].clusters == ((0, 2, "漢"), (2, 1, "e\u0301"))
    assert frame.rows[0].text() == "漢e\u0301x"
    assert frame.cursor.column == 4


def test_only_rows_that_changed_are_told(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"one\r\ntwo\r\n")
    frame.update()
    terminal.feed(b"three")
    assert frame.update() == [2]
    assert frame.update() == []


def test_a_program_is_answered(terminal: Ghostty) -> None:
    terminal.feed(b"\x1b[6n\x1b[5n\x07\x1b]2;My title\x1b\\\x1b]52;c;aGVsbG8=\x07")
    said = terminal.said()
    assert bytes(said.replies) == b"\x1b[1;1R\x1b[0n"
    assert (said.bells, terminal.title, said.clipboard) == (1, "My title", ["hello"])
    assert not terminal.said().replies


def test_bytes_may_be_cut_anywhere(frame: ScreenFrame, terminal: Ghostty) -> None:
    for byte in "\x1b[38;2;1;2;3mé漢\x1b[0m".encode():
        terminal.feed(bytes([byte]))
    frame.update()
    assert frame.rows[0].text() == "é漢"
    assert {cell_style(frame, column).fg for column in range(3)} == {0x010203}


def test_the_alternate_screen_leaves_the_first_as_it_was(terminal: Ghostty) -> None:
    terminal.feed(b"before\x1b[?1049h\x1b[Hinside")
    assert terminal.alternate
    assert "inside" in terminal.text()
    terminal.feed(b"\x1b[?1049l")
    assert (terminal.alternate, terminal.text().strip()) == (False, "before")


def test_a_link_is_known_at_its_cells(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"\x1b]8;;https://example.org/a\x1b\\here\x1b]8;;\x1b\\ not")
    frame.update()
    assert terminal.link((1, 0)) == "https://example.org/a"
    assert terminal.link((6, 0)) == ""
    assert cell_style(frame, 0).link


def test_a_hundred_thousand_lines_can_be_scrolled_back(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"".join(b"line %d\r\n" % number for number in range(120_000)))
    where = terminal.scroll()
    assert where.at_end
    assert where.total >= 100_000
    terminal.scroll_to(where.total - 50_000)
    frame.update()
    assert frame.rows[0].text().startswith("line ")
    terminal.feed(b"news\r\n")
    frame.update()
    assert not terminal.scroll().at_end, "what is being read stays where it is"


def test_what_is_selected_goes_with_its_lines(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"alpha beta\r\ngamma")
    terminal.select((7, 0), (7, 0), by="word")
    frame.update()
    assert frame.rows[0].selected == (6, 9)
    terminal.feed(b"\r\n" * 10)
    assert terminal.selected() == "beta"
    terminal.deselect()
    assert terminal.selected() == ""


def test_a_line_that_was_wrapped_is_copied_as_one(terminal: Ghostty) -> None:
    terminal.feed(b"x" * 30)
    terminal.select((1, 1), (1, 1), by="line")
    assert terminal.selected() == "x" * 30


def test_another_width_lets_lines_flow_anew(terminal: Ghostty) -> None:
    terminal.feed(b"y" * 30)
    terminal.resize(40, 5, 8, 16)
    assert terminal.text().splitlines()[0] == "y" * 30


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK, Mode.CONTRAST])
def test_every_pair_of_the_sixteen_colours_can_be_read(mode: Mode) -> None:
    """A file manager writes grey on blue, whatever the desk makes of grey and blue."""
    terminal = Ghostty(20, 20)
    terminal.colors("#101010", "#ffffff", "#0000ff", PALETTES[mode])
    frame = ScreenFrame(terminal)
    for fg in range(8):
        terminal.feed("".join(f"\x1b[3{fg};4{bg}mx" for bg in range(8) if bg != fg).encode() + b"\r\n")
    frame.update()
    inks, grounds, _ = frame.cell_styles.inks(0x101010, 0xFFFFFF)
    used = sorted({int(number) for row in frame.rows[:8] for number in row.cell_styles[:7]})
    assert len(used) == 56
    assert min(contrast(int(inks[one]), int(grounds[one])) for one in used) >= 3.4
    frame.close()
    terminal.close()


def contrast(one: int, other: int) -> float:
    dark, light = sorted(relative(color) for color in (one, other))
    return (light + 0.05) / (dark + 0.05)


def relative(color: int) -> float:
    parts = [(color >> shift & 255) / 255 for shift in (16, 8, 0)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colours_that_a_program_mixes_itself_are_left_alone(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"\x1b[38;2;100;100;100;48;2;101;101;101m\xe2\x96\x80\x1b[38;5;240;48;5;241mx")
    frame.update()
    inks, _, _ = frame.cell_styles.inks(0, 0xFFFFFF)
    assert int(inks[frame.rows[0].cell_styles[0]]) == 0x646464
    assert int(inks[frame.rows[0].cell_styles[1]]) == cell_style(frame, 1).fg


def test_looks_are_right_where_the_screen_lies_over_two_pages(terminal: Ghostty, frame: ScreenFrame) -> None:
    count, between = 3000, 0
    terminal.feed("\r\n".join(f"\x1b[38;2;{line % 5};0;0m{line}" for line in range(count)).encode())
    for top in range(count - 5):
        terminal.scroll_to(top)
        if len(set(terminal.pages(range(5)))) > 1:
            frame.update()
            between += 1
            assert [cell_style(frame, 0, row).fg >> 16 for row in range(5)] == [
                (top + row) % 5 for row in range(5)
            ]
    assert between


def test_a_ground_without_text_is_no_character(terminal: Ghostty, frame: ScreenFrame) -> None:
    terminal.feed(b"\x1b[41m\x1b[2J")
    frame.update()
    assert {row.clusters for row in frame.rows} == {()}
    assert cell_style(frame, 3, 3).bg == 0xAA0000
