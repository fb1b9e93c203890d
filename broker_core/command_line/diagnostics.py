"""Diagnostics as compilers show them: the line, a caret, and how to put it right."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from broker_core.client.printable import printable
from broker_core.wire.checks import DiagnosticView

_STYLES = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}
_LONGEST = 160
"""Characters of a line that are shown."""


def show(console: Console, found: Iterable[DiagnosticView], origin: str, text: str | None = None) -> None:
    """Print diagnostics about the description in the file `origin`, whose text is read if not given."""
    lines = (_read(origin) if text is None else text).splitlines()
    for one in found:
        console.print(_head(one, origin))
        if 0 < one.line <= len(lines):
            _excerpt(console, one, lines[one.line - 1])
        for fix in one.fixes:
            console.print(Text("  = fix: ", style="bold green") + Text(printable(fix.title)))
        console.print()


def _read(origin: str) -> str:
    if not origin:
        return ""
    try:
        return Path(origin).read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""  # the diagnostic itself says that the file cannot be read


def _head(one: DiagnosticView, origin: str) -> Text:
    place = printable(origin or "description") + (f":{one.line}:{one.column}" if one.line else "")
    style = _STYLES[one.severity]
    return (
        Text(f"{place}: ")
        + Text(f"{one.severity}[{one.code}]", style=style)
        + Text(f": {printable(one.message)}", style="bold")
    )


def _excerpt(console: Console, one: DiagnosticView, line: str) -> None:
    first = max(0, one.column - 1 - _LONGEST // 2) if len(line) > _LONGEST else 0
    part = line[first : first + _LONGEST].replace("\t", " ")
    shown = "".join(char if char.isprintable() else "?" for char in part)
    number = str(one.line)
    width = max(1, min(one.end - one.start, len(part) - (one.column - 1 - first)))
    marks = "^" + "~" * (width - 1)
    gutter = " " * len(number)
    console.print(Text(f"  {number} | ", style="dim") + Text(shown))
    caret = Text(" " * (one.column - 1 - first) + marks, style=_STYLES[one.severity])
    console.print(Text(f"  {gutter} | ", style="dim") + caret)
