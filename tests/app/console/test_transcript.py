"""A transcript is saved as people read it, or as it was written, whole and in its order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from app.console.emulator.transcript import Transcript
from tests.bookkeeping.disks import small_disk


def saved(tmp_path: Path, written: bytes, *, lines: bool = False) -> str:
    transcript = Transcript()
    transcript.add(written)
    path = tmp_path / "console.txt"
    assert transcript.copy().write_text(path, 80, 24, lines=lines) == path.stat().st_size
    transcript.close()
    return path.read_text()


def test_text_has_no_sequences_and_is_what_was_seen(tmp_path: Path) -> None:
    written = (
        b"\x1b[1;32mann\x1b[0m> ls\r\n\x1b]0;title\x07name\r\n"
        b"  1 of 3\r  2 of 3\r  3 of 3\r\n"
        b"mistypd\x08\x08ed\r\n" + "漢字 é".encode() + b"\r\n" + b"x" * 200 + b"\r\n"
    )
    shown = f"ann> ls\nname\n  3 of 3\nmistyed\n漢字 é\n{'x' * 200}\n"
    assert saved(tmp_path, written) == shown


def test_a_program_without_a_terminal_begins_its_lines_at_the_left(tmp_path: Path) -> None:
    assert saved(tmp_path, b"one\ntwo\n", lines=True) == "one\ntwo\n"


def test_what_an_editor_showed_goes_away_with_it_also_where_it_runs_on(tmp_path: Path) -> None:
    inside = b"before\r\n\x1b[?1049h\x1b[H\x1b[2Jinside the editor"
    assert saved(tmp_path, inside) == "before\n"
    assert saved(tmp_path, inside + b"\x1b[?1049lafter\r\n") == "before\nafter\n"


def test_what_was_cleared_from_the_screen_is_kept(tmp_path: Path) -> None:
    clear = b"\x1b[H\x1b[2J\x1b[3J"
    many = b"".join(b"line %d\r\n" % number for number in range(40))
    shown = saved(tmp_path, many + clear + b"after\r\n" + clear + b"last\r\n").splitlines()
    assert [line for line in shown if line] == [*(f"line {number}" for number in range(40)), "after", "last"]


@pytest.mark.parametrize("color", [b"", b"\x1b[32m"])
def test_more_lines_than_a_terminal_keeps_are_all_there(tmp_path: Path, color: bytes) -> None:
    count = 150_000
    written = b"".join(b"%sline %d\r\n" % (color, number) for number in range(count))
    assert saved(tmp_path, written).splitlines() == [f"line {number}" for number in range(count)]


def test_bytes_are_saved_as_they_came_while_more_arrive(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.add(b"\x1b[1mone\r\n" * 30_000)
    copy = transcript.copy()
    transcript.add(b"later")
    assert copy.write(tmp_path / "console.log") == 300_000 - 30_000
    assert (tmp_path / "console.log").read_bytes() == b"\x1b[1mone\r\n" * 30_000
    transcript.add(b" and more")
    transcript.close()


def test_what_arrives_after_the_console_was_closed_is_let_go() -> None:
    transcript = Transcript()
    transcript.add(b"shown")
    transcript.close()
    assert transcript.add(b"under way") == ""
    transcript.close()


@pytest.mark.root
def test_a_full_disk_ends_the_transcript_once_and_keeps_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        transcript = Transcript()
        told = [transcript.add(b"%07d\n" % number * 8192) for number in range(40)]
        assert [one for one in told if one] == ["No space left on device"]
        copy = transcript.copy()
        kept = copy.write(tmp_path / "kept")
        assert (tmp_path / "kept").stat().st_size == kept
        assert 500_000 < kept <= 1 << 20
        transcript.close()
