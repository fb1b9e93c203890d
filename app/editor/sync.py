"""Changes of a description's text, made so that comments, order, cursor and undo survive."""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from app.editor.on_disk import as_entry
from app.editor.statements import statements
from app.editor.values import list_source, string_source, strings_of
from broker_core.jdl.edit import set_attribute


def changed_span(old: str, new: str) -> tuple[int, int, str] | None:
    """The smallest span of `old` to replace, and by what, to get `new`; None if they are equal."""
    if old == new:
        return None
    start = _alike(old, new)
    end = _alike(reversed(old[start:]), reversed(new[start:]))
    return start, len(old) - end, new[start : len(new) - end]


def _alike(one: Iterable[str], other: Iterable[str]) -> int:
    """How many characters agree before the first that differs."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def with_files(text: str, paths: list[Path], base: Path) -> str:
    """The text with these files in its input sandbox; those listed already are not listed twice.

    A sandbox that is not a plain list of names is left as it is.
    """
    listed = listed_files(text)
    if listed is None:
        return text
    known = {os.path.normpath(os.path.join(base, os.path.expanduser(name))) for name in listed}
    new = [as_entry(path, base) for path in paths if os.path.normpath(path) not in known]
    return set_attribute(text, sandbox_name(text), list_source(listed + new)) if new else text


def with_program(text: str, program: Path, base: Path) -> str:
    """The text with `program` as its executable, sent along."""
    named = set_attribute(text, "Executable", string_source(program.name))
    return with_files(named, [program], base)


def listed_files(text: str) -> list[str] | None:
    """Entries of the input sandbox as written; None if they are not written as plain strings."""
    found = statements(text).get("inputsandbox")
    return strings_of(found.value) if found and found.value else []


def sandbox_name(text: str) -> str:
    """How the text spells the attribute, so that its spelling stays."""
    found = statements(text).get("inputsandbox")
    return found.name if found else "InputSandbox"
