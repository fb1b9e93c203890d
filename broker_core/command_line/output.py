"""Results go to standard output, messages and progress to standard error."""

from __future__ import annotations

import sys
from typing import Any

import orjson
from rich.console import Console
from rich.style import Style
from rich.text import Text

from broker_core.client.printable import printable as printable
from broker_core.client.printable import printable_text
from broker_core.command_line.diagnostics import show
from broker_core.command_line.invocation import session
from broker_core.errors import CrossDeskError, DescriptionRefused
from broker_core.jobs.query import UnclearQuery
from broker_core.wire.checks import DiagnosticView

_WIDE = 10_000


def printable_lines(text: str) -> Text:
    """A text of unknown origin, of several lines, to be printed."""
    return Text(printable_text("\n".join(text.splitlines())))


def cell(value: str | Text) -> Text:
    """What stands in a cell of a table: nothing of it reaches the terminal as a control character.

    Styled text may have several lines; one with other control characters keeps its first style alone.
    """
    if isinstance(value, str):
        return Text(printable(value))
    plain = value.plain
    shown = printable_text(plain)
    return value if shown == plain else Text(shown, style=value.style or _first_style(value))


def _first_style(value: Text) -> str | Style:
    return value.spans[0].style if value.spans else ""


def results() -> Console:
    """Console for results; as wide as it takes where no terminal shows them."""
    if sys.stdout.isatty():
        return Console(highlight=False, markup=False, emoji=False)
    return Console(width=_WIDE, highlight=False, markup=False, emoji=False)


def messages() -> Console:
    """Console for messages and progress."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """A message for people; silent when the result is JSON."""
    if not session().json:
        messages().print(Text(printable(text), style=style))


def line(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(printable(text) + "\n")


def as_json(value: Any) -> None:
    """The result as one JSON value."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def error(problem: CrossDeskError) -> None:
    """An error: what happened, where, what to do; as a JSON object if that was asked for."""
    if session().json:
        as_json({"error": error_value(problem)})
        return
    console = messages()
    if isinstance(problem, DescriptionRefused):
        unsaid = [one for one in _diagnostics(problem) if one.message != problem.message or one.fixes]
        show(console, unsaid, problem.place)
    head = Text("error: ", style="bold red") + Text(printable(problem.message), style="bold")
    console.print(head)
    if isinstance(problem, UnclearQuery):
        console.print(Text(f"  {printable(problem.text)}\n  ") + Text(problem.marks, style="bold red"))
    elif problem.place:
        console.print(Text(f"  where: {printable(problem.place)}", style="dim"))
    if problem.remedy:
        console.print(Text(f"  {printable(problem.remedy)}"))


def _diagnostics(problem: CrossDeskError) -> tuple[DiagnosticView, ...]:
    return getattr(problem, "diagnostics", ())


def error_value(problem: CrossDeskError) -> dict[str, Any]:
    """The stable JSON form of an error."""
    return {
        "code": problem.code,
        "message": problem.message,
        "place": problem.place,
        "remedy": problem.remedy,
        "diagnostics": [one.model_dump() for one in _diagnostics(problem)],
    }
