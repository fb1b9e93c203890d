"""Rows of a growing file: found without reading it all, equal to what splitting the whole would give."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.inspector.logs.ansi import StyledRun, plain, runs_of
from app.inspector.logs.page import fold, last_top, screen_lines
from app.inspector.logs.spool import EVERY, WIDEST
from tests.app.inspector.spools import spooled

CONTENT = st.lists(
    st.one_of(
        st.just(b"\n"),
        st.binary(max_size=40),
        st.integers(1, 3).map(lambda n: b"x" * (WIDEST * n - 1)),
        st.integers(1, 200).map(lambda n: b"line\n" * n),
    ),
    max_size=12,
)  # fmt: skip


def expected(content: bytes) -> list[tuple[int, bytes]]:
    rows = []
    lines = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        last = number == len(lines)
        whole = line if last else line + b"\n"
        pieces = (whole[start : start + WIDEST] for start in range(0, len(whole), WIDEST))
        rows.extend((number, piece.removesuffix(b"\n")) for piece in pieces)
    return rows


@settings(max_examples=60, deadline=None)
@given(CONTENT)
def test_rows_are_those_of_the_whole_however_it_arrives(parts: list[bytes]) -> None:
    spool = spooled(*parts)
    rows = spool.read_rows(0, spool.rows + 5)
    assert [(row.number, row.raw) for row in rows] == expected(b"".join(parts))
    assert spool.rows == len(rows)


@settings(max_examples=40, deadline=None)
@given(CONTENT, st.data())
def test_any_stretch_of_rows_is_a_stretch_of_all_rows(parts: list[bytes], data: st.DataObject) -> None:
    spool = spooled(*parts)
    first = data.draw(st.integers(0, spool.rows))
    count = data.draw(st.integers(0, 2 * EVERY))
    everything = spool.read_rows(0, spool.rows)
    assert spool.read_rows(first, count) == everything[first : first + count]


@settings(max_examples=40, deadline=None)
@given(CONTENT, st.data())
def test_every_byte_is_found_in_its_row(parts: list[bytes], data: st.DataObject) -> None:
    spool = spooled(*parts)
    if not spool.size:
        return
    offset = data.draw(st.integers(0, spool.size - 1))
    row = spool.read_rows(spool.row_of(offset), 1)[0]
    assert row.offset <= offset <= row.offset + len(row.raw)


def test_a_zero_byte_in_the_beginning_makes_a_file_binary() -> None:
    assert spooled(b"\x7fELF\0\0").binary
    assert not spooled(b"plain text\n").binary


def test_colours_become_tokens_and_control_sequences_vanish() -> None:
    assert runs_of(b"\x1b[31;1mbad\x1b[0m good \x1b[38;5;2mgreen\x1b]0;title\x07!") == [
        StyledRun("bad", "negative", True),
        StyledRun(" good "),
        StyledRun("green", "positive"),
        StyledRun("!", "positive"),
    ]


def test_a_progress_line_shows_what_a_terminal_would_show_last() -> None:
    assert plain(b"10 %\r50 %\r100 %") == "100 %"


def test_hostile_bytes_never_reach_the_screen_as_they_are() -> None:
    shown = plain(b"a\x00\x07\x1b[2J\xff\x9b31mb")
    assert shown.isprintable()
    assert shown.startswith("a")


def test_a_long_row_wraps_into_lines_that_add_up_to_it() -> None:
    spool = spooled(b"\x1b[32m" + b"0123456789" * 10 + b"\x1b[0m tail\n")
    lines = fold(0, spool.read_rows(0, 1)[0], 30)
    assert "".join(line.text for line in lines) == "0123456789" * 10 + " tail"
    assert [line.number for line in lines] == [1, 0, 0, 0]


def test_the_end_of_a_log_stands_at_the_bottom() -> None:
    spool = spooled(b"".join(b"line %d\n" % number for number in range(1000)))
    assert last_top(spool, 20, 0) == 980
    assert screen_lines(spool, 980, 20, 0)[-1].text == "line 999"
    assert last_top(spool, 20, 4) == 990
