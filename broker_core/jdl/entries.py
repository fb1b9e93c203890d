"""The entries of a sandbox with their places, for those who look for the files."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.diagnostics import DiagnosticList
from broker_core.jdl.names import scheme
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.parse import parse_into


@dataclass(frozen=True, slots=True)
class LocatedEntry:
    """One string of InputSandbox."""

    text: str
    """Its value, as written: a path or wildcard, or `file://` with a path."""
    start: int
    """Offset in the text, in characters."""
    end: int
    line: int
    """1-based."""
    column: int


def sandbox_entries(text: str) -> tuple[LocatedEntry, ...]:
    """The local files and wildcards that `InputSandbox` names; empty where the text cannot be read."""
    findings = DiagnosticList(text)
    ad = parse_into(findings)
    if ad is None:
        return ()
    found = []
    for value, place in Reading(ad, findings).strings("inputsandbox"):
        if scheme(value) in ("", "file"):
            line = text.count("\n", 0, place.start) + 1
            column = place.start - text.rfind("\n", 0, place.start)
            found.append(LocatedEntry(value, place.start, place.end, line, column))
    return tuple(found)
