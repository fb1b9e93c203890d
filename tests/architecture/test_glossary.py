"""The glossary says what the names in the sources mean, and names nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.glossary import PAGE, names_in, on_their_way, renew, rows
from tests.architecture.modules import parse, product


def test_every_name_of_the_glossary_is_in_the_sources_or_on_its_way() -> None:
    page = PAGE.read_text()
    _, missing = names_in(page, product())
    assert missing - set(on_their_way(page)) == set()


def test_a_name_that_has_arrived_has_left_the_list_of_those_on_their_way() -> None:
    page = PAGE.read_text()
    there, _ = names_in(page, product())
    assert there & set(on_their_way(page)) == set(), "python -m tests.architecture --record"


def test_every_word_has_a_meaning_and_a_source_and_stands_once_in_order() -> None:
    every = rows(PAGE.read_text())
    names = [name for name, _, _ in every]
    assert len(names) > 100
    assert all(meaning and source for _, meaning, source in every)
    assert names == sorted(set(names), key=str.lower)


def test_a_name_that_came_leaves_the_list_and_the_last_takes_the_section_with_it(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(
        "| `Engine` | what | whence |\n| `Fault` | what | whence |\n\n"
        "## Names on their way\n\nThese come:\n\n`Engine`, `Fault`.\n"
    )
    renew([parse(Path("app/one.py"), "class Engine: ...")], file)
    assert on_their_way(file.read_text()) == ["Fault"]
    renew([parse(Path("app/one.py"), "class Engine: ...\nclass Fault: ...")], file)
    assert file.read_text().endswith("| `Fault` | what | whence |\n")
