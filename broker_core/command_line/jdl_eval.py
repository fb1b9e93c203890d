"""`crossdesk jdl eval`: what an expression is worth, by the code that matches jobs with resources."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from broker_core.client.evaluation import Evaluated, evaluated, surrounded
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session
from broker_core.command_line.shielding import unshielded
from broker_core.system.file_errors import unusable


def evaluate(
    expression: Annotated[
        str | None, typer.Argument(help="An expression, e.g. 'other.GlueCEInfoTotalCPUs >= 4'.")
    ] = None,
    own: Annotated[
        Path | None, typer.Option("--self", help="Description (JDL) whose attributes stand bare.")
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--other",
            help="Resource behind other.: a ClassAd, TOML of GLUE names, or FILE#CE of [[resources]].",
        ),
    ] = None,
    source: Annotated[
        str, typer.Option("--from", help="File with an expression on each line; - reads standard input.")
    ] = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Evaluate an expression as the matcher does; needs no broker."""
    if (expression is None) == (not source):
        raise typer.BadParameter("Give one expression, or a file of them with --from.")
    around = surrounded(own, other, time.time())
    lines = [unshielded(expression)] if expression is not None else _lines(source)
    good = True
    for number, text in enumerate(lines, 1):
        if source and _empty(text):
            continue
        found = evaluated(text, around)
        good = good and found.wrong is None
        _show(found, f"{source or 'expression'}:{number}")
    return Exit.OK if good else Exit.ERROR


def _lines(source: str) -> Iterator[str]:
    if source == "-":
        yield from (line.rstrip("\r\n") for line in sys.stdin)
        return
    try:
        yield from Path(source).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise unusable("The expressions cannot be read", source, error) from error


def _empty(line: str) -> bool:
    """Nothing stands on the line, or only a comment."""
    text = line.strip()
    return (
        not text
        or text.startswith(("//", "#"))
        or (text[:2] == "/*" and text.find("*/") in (-1, len(text) - 2))
    )


def _show(found: Evaluated, place: str) -> None:
    """One line of result for each expression; what is wrong with it goes to standard error."""
    if session().json:
        sys.stdout.buffer.write(orjson.dumps(_value(found), option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()
        return
    output.line(found.text)
    if found.why:
        output.say(f"{place}: the value is error: {found.why}.", "yellow")
    if found.wrong is not None:
        wrong = found.wrong
        output.say(f"{place}:{wrong.column}: error[{wrong.code}]: {wrong.message}", "bold red")
        output.say(f"  {found.expression}")
        output.say(f"  {' ' * (wrong.column - 1)}^")


def _value(found: Evaluated) -> dict[str, Any]:
    value: dict[str, Any] = {
        "expression": found.expression,
        "type": found.type,
        "value": found.value,
        "text": found.text,
    }
    if found.why:
        value["why"] = found.why
    if found.wrong is not None:
        wrong = found.wrong
        value["error"] = {"code": wrong.code, "message": wrong.message, "column": wrong.column}
    return value
