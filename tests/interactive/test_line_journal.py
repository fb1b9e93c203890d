"""What desks typed is on disk before it is sent: deaths at any byte lose only what nobody was told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.interactive.sessions.line_journal import LineJournal


def test_each_byte_counts_once_and_only_from_the_desk_that_writes(tmp_path: Path) -> None:
    journal = LineJournal(tmp_path / "one")
    journal.give_to("a")
    journal.add("a", 0, b"one\n")
    journal.add("a", 0, b"one\ntwo\n")
    journal.add("b", 0, b"not heard\n")
    with pytest.raises(ValueError, match="missing"):
        journal.add("a", 100, b"later\n")
    journal.give_to("b")
    journal.add("a", 8, b"not heard\n")
    journal.add("a", 18, b"nor what was under way behind it\n")
    journal.add("b", 0, b"three\n")
    assert journal.typed(0, 100) == b"one\ntwo\nthree\n"
    assert journal.typed(4, 4) == b"two\n"
    assert [journal.arrived("a", place) for place in (0, 4, 7, 14)] == [0, 4, 4, 8]
    assert journal.arrived("b", 14) == 6
    journal.close()


def test_a_journal_is_read_back_whatever_byte_the_death_came_at(tmp_path: Path) -> None:
    journal = LineJournal(tmp_path / "one")
    journal.give_to("a")
    journal.add("a", 0, b"one\n")
    journal.signal("INT")
    journal.close()
    for name, torn in (("input", b"two"), ("desks", b"typed a 8"), ("control", b"TER")):
        with open(tmp_path / "one" / name, "ab") as file:
            file.write(torn)
    again = LineJournal(tmp_path / "one")
    assert (again.writer, again.size, again.typed(0, 100)) == ("a", 4, b"one\n")
    again.add("a", 4, b"two\n")
    again.end()
    again.add("a", 8, b"after the end\n")
    assert again.typed(0, 100) == b"one\ntwo\n"
    assert again.wishes(0) == b"INT\nend 8\n"
    assert again.wishes(4) == b"end 8\n"
    again.close()
    last = LineJournal(tmp_path / "one")
    assert last.ended
    last.end()
    assert last.wishes(0) == b"INT\nend 8\n"
    with pytest.raises(ValueError, match="no signal"):
        last.signal("INT\nKILL")
    last.close()
