"""The figures that the sources may not exceed, and how they come down."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).with_name("ratchet.toml")
_HEAD = """\
# The most that each measure of tests/architecture may come to. Figures only fall:
# `python -m tests.architecture --record` writes those that did.
"""


def recorded(file: Path = FILE) -> dict[str, int]:
    """The figures in the file."""
    return tomllib.loads(file.read_text()) if file.exists() else {}


def worse(figures: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    """What grew, a sentence for each."""
    return [
        f"{name} is {figure}, {before[name]} at most: python -m tests.architecture --list {name}"
        for name, figure in figures.items()
        if name in before and figure > before[name]
    ]


def better(figures: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    """What fell or is new, a sentence for each."""
    return [
        f"{name} is {figure}, {before.get(name, 'nothing')} is recorded:"
        " python -m tests.architecture --record"
        for name, figure in figures.items()
        if name not in before or figure < before[name]
    ]


def record(figures: Mapping[str, int], file: Path = FILE) -> None:
    """Write the figures that fell or are new; one that grew keeps what is recorded."""
    before = recorded(file)
    lines = [f"{name} = {min(figure, before.get(name, figure))}\n" for name, figure in figures.items()]
    file.write_text(_HEAD + "".join(lines))
