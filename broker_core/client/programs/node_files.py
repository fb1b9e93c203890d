"""Nodes whose descriptions are in files of their own: the broker cannot read them, so they are written in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from broker_core.jdl.check import check
from broker_core.jdl.collection import nodes
from broker_core.jdl.diagnostics import Diagnostic as Found
from broker_core.jdl.limits import DESCRIPTION_MAX, Limits
from broker_core.jdl.names import local, scheme
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.rewrite import rewritten
from broker_core.jdl.syntax.tree import Ad, Entry, Expression, Literal, Reference
from broker_core.jdl.syntax.write import write
from broker_core.wire.checks import DiagnosticView


@dataclass(frozen=True, slots=True)
class Complete:
    """A description that names no other files with descriptions."""

    text: str
    """The description with the nodes written in; as it was where a file cannot be used."""
    diagnostics: tuple[DiagnosticView, ...]
    """What is wrong with the files, at the places that name them."""
    written: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each place that was replaced, in the text as it was, and the length of what stands
    there now; in order."""

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of `text` is in the text as it was; inside of a file it is the file's name."""
        return self._before(start, False), self._before(end, True)

    def _before(self, offset: int, is_end: bool) -> int:
        shift = 0
        for start, end, length in self.written:
            if offset < start + shift or (is_end and offset == start + shift):
                break
            if offset < start + shift + length or (is_end and offset == start + shift + length):
                return end if is_end else start
            shift += length - (end - start)
        return offset - shift


def completed(text: str, base: Path, limits: Limits) -> Complete:
    """Read the files of nodes, relative to `base`, and write them into the text."""
    ad = parse(text).ad
    wrong: list[DiagnosticView] = []
    parts: list[tuple[int, int, str]] = []
    for name, node in nodes(ad) if ad is not None else ():
        entry = node.entries.get("file")
        if entry is None or "description" in node.entries:
            continue
        job, found = _job(name, entry, base, limits)
        wrong += [_at(text, one, entry.value) for one in found]
        if job is not None:
            parts.append((entry.start, entry.end, f"description = [\n{write(job)}];"))
    parts.sort()
    for start, end, written in reversed(parts):
        text = text[:start] + written + text[end:]
    places = tuple((start, end, len(written)) for start, end, written in parts)
    return Complete(text, tuple(wrong), places)


def _job(name: str, entry: Entry, base: Path, limits: Limits) -> tuple[Ad | None, list[DiagnosticView]]:
    """The description in a node's file, and what is to be said of it."""
    written = entry.value.value if isinstance(entry.value, Literal) else None
    if not isinstance(written, str):
        return None, []
    path = base / os.path.expanduser(written)
    try:
        with path.open("rb") as stream:
            text = stream.read(DESCRIPTION_MAX + 1).decode("utf-8-sig")
    except OSError as error:
        words = (
            f"its file {written} cannot be read: {error.strerror}. It is looked for next to the description."
        )
        return None, [_told("error", "node-file-unreadable", f"Node {name}: {words}")]
    except UnicodeDecodeError:
        words = f"Node {name}: its file {written} is not in UTF-8; save it with that encoding."
        return None, [_told("error", "node-file-unreadable", words)]
    checked = check(text, limits=limits)
    told = [_told(one.severity, one.code, _placed(name, written, one)) for one in checked.diagnostics]
    if checked.description is not None and checked.description.structure == "Workflow":
        words = f"Node {name}: {written} describes a graph or collection; a node is one job."
        return None, [*told, _told("error", "nested-workflow", words)]
    ad = parse(text).ad if checked.description is not None else None
    return None if ad is None else _beside(ad, os.path.dirname(written)), told


def _beside(ad: Ad, folder: str) -> Ad:
    """The description with the files that it names next to itself, as seen from the whole description."""
    entry = ad.entries.get("inputsandbox")
    if entry is None or not folder:
        return ad

    def moved(part: Literal | Reference) -> Expression:
        if (
            not isinstance(part, Literal)
            or not isinstance(part.value, str)
            or scheme(part.value) not in ("", "file")
        ):
            return part
        return Literal(os.path.join(folder, local(part.value)), start=part.start, end=part.end)

    there = Entry(entry.name, rewritten(entry.value, moved))
    return Ad({**ad.entries, "inputsandbox": there})


def _placed(name: str, file: str, one: Found) -> str:
    place = f"{file}:{one.line}:{one.column}" if one.line else file
    return f"Node {name}: {place}: {one.message}"


def _told(severity: str, code: str, message: str) -> DiagnosticView:
    return DiagnosticView(severity=severity, code=code, message=message, attribute="File")


def _at(text: str, one: DiagnosticView, place: Expression) -> DiagnosticView:
    line = text.count("\n", 0, place.start) + 1
    column = place.start - text.rfind("\n", 0, place.start)
    return one.model_copy(update={"line": line, "column": column, "start": place.start, "end": place.end})
