"""Words that puzzled users are not used again, neither in the window, nor at the prompt, nor in the help."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PROGRAMS = ("app", "broker_core/command_line", "broker_core/scheduling")
_PUZZLING = (
    "Looking what is there",
    "could not be looked at",
    "Does not hold",
    "would when idle.",
    "CPUs too few",
    "Nothing fits these letters",
    "another types",
    "Type here",
    "Choose none",
    "How far jobs came",
    "no limit of the broker's",
    "Looked at every",
    "unforeseen happened",
    "Desk and help",
    ": in order.",
    "stdout on ours",
    "Put this note away",
    "Tear this tab off",
    "Not to be had",
    "size of letters",
    "Larger letters",
    "Larger text",
    "Smaller text",
    "Change the text so",
    "Begin from a description",
    "Cancel asked for",
    "Its agent is there",
    "The time is over",
    "scrolled away",
    "At most so many",
    "at most so many",
    "list-match shows",
    "Where can it run",
    "number of CEs",
)


@cache
def _shown() -> tuple[tuple[str, str], ...]:
    """Place and text of all that can be shown; docstrings cannot."""
    pages = (_ROOT / "resources/help").glob("*.md")
    found = [(page.name, page.read_text(encoding="utf-8")) for page in pages]
    for folder in _PROGRAMS:
        for path in (_ROOT / folder).rglob("*.py"):
            found += [(f"{path.relative_to(_ROOT)}:{line}", text) for line, text in _texts(path)]
    return tuple(found)


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said_to_readers = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said_to_readers:
            yield node.lineno, node.value


@pytest.mark.parametrize("words", _PUZZLING)
def test_nothing_shown_says(words: str) -> None:
    assert not [place for place, text in _shown() if words in text]
