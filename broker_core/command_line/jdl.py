"""`crossdesk jdl check` and `crossdesk jdl from`; what became of the lines of a batch script."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from broker_core.client.prepare import Prepared, prepare_now
from broker_core.client.programs.batch_scripts.translation import Fate, Translation
from broker_core.client.programs.describe import translation
from broker_core.client.programs.file_kind import ItemKind, classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.command_line import diagnostics, output, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session
from broker_core.command_line.output import cell, messages
from broker_core.errors import BadRequest
from broker_core.jdl.description import JobDescription
from broker_core.jdl.number_of_jobs import cpus_of_each, number_of_jobs
from broker_core.system.file_errors import unusable

_STYLES = {
    Fate.ATTRIBUTE: "green",
    Fate.REQUIREMENT: "green",
    Fate.SYSTEM_ONLY: "yellow",
    Fate.LEFT_OUT: "yellow",
    Fate.NOT_POSSIBLE: "bold red",
}


def check(
    files: Annotated[list[str], typer.Argument(help="Job descriptions (JDL); - reads one.", metavar="FILE")],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Check descriptions and the files they name; needs no broker."""
    checked = [prepare_now(sys.stdin.read() if file == "-" else Path(file)) for file in files]
    if session().json:
        reports = [_value(one) for one in checked]
        output.as_json(
            reports[0] if len(reports) == 1 else {"ok": all(one.ok for one in checked), "files": reports}
        )
    else:
        for one in checked:
            _show(one)
    return Exit.OK if all(one.ok for one in checked) else Exit.ERROR


def _value(one: Prepared) -> dict[str, object]:
    found = one.description
    return {
        "ok": one.ok,
        "file": one.origin,
        "diagnostics": [item.model_dump() for item in one.diagnostics],
        "name": found.name if found else "",
        "structure": found.structure if found else "",
        "interactive": found.interactive if found else False,
        "cpus": found.cpus if found else 0,
        "jobs": number_of_jobs(found) if found else 0,
        "sandbox": [item.wire().model_dump() for item in one.files],
    }


def _show(one: Prepared) -> None:
    diagnostics.show(output.results(), one.diagnostics, one.origin, one.text)
    name = one.origin or "description"
    if one.description is None or not one.ok:
        count = len(one.errors)
        output.say(f"{name}: {count} error{'s' if count != 1 else ''}.", "bold red")
        return
    files = (
        f", {len(one.files)} file{'s' if len(one.files) != 1 else ''} ({words.size(one.size)})"
        if one.files
        else ""
    )
    output.say(f"{name}: no problems. {_demand(one.description)}{files}.", "green")


def _demand(description: JobDescription) -> str:
    """What it asks for, in words."""
    kind = ("interactive " if description.interactive else "") + description.structure.lower()
    count, (fewest, most) = number_of_jobs(description), cpus_of_each(description)
    cpus = _counted(most, "CPU") if fewest == most else f"{fewest:,} to {_counted(most, 'CPU')}"
    if count > 1:
        return f"{_counted(count, 'job')} of {cpus} each"
    return f"{kind.capitalize()} job, {cpus}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def from_script(
    file: Annotated[
        Path, typer.Argument(help="A batch script, or a submit file of HTCondor.", metavar="FILE")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the description to this file.")
    ] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Make a description from a script for Slurm, PBS, Grid Engine, LSF or HTCondor.

    What became of each line stands on standard error. Needs no broker.
    """
    item = classify(facts_of(file.absolute()))
    if item.kind is not ItemKind.BATCH_SCRIPT:
        why = f"it {item.why}" if item.kind is ItemKind.UNUSABLE else "it has no lines for a batch system"
        raise BadRequest(f"{file.name} is no batch script: {why}.", code="no_batch_script", place=str(file))
    found = translation(item)
    if out is not None:
        _write(out, found.description)
    if session().json:
        output.as_json(translation_value(found))
    else:
        show_translation(found)
        if out is None:
            sys.stdout.write(found.description)
    return Exit.ERROR if found.refusals else Exit.OK


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unusable("The description cannot be written", path, error) from error


def translation_value(found: Translation) -> dict[str, object]:
    """The stable JSON form of a translated script."""
    return {
        "dialect": found.dialect,
        "description": found.description,
        "lines": [
            {
                "line": one.line,
                "text": one.text,
                "option": one.option,
                "fate": one.fate,
                "became": one.became,
                "why": one.why,
            }
            for one in found.outcomes
        ],
    }


def show_translation(found: Translation, *, changed_only: bool = False) -> None:
    """Print on standard error what became of the lines; `changed_only`: of those that did not carry over."""
    rows = found.changed if changed_only else found.outcomes
    shown = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 2, 0, 0))
    for head in ("LINE", "OPTION", "FATE", "BECAME"):
        shown.add_column(head, overflow="fold", justify="right" if head == "LINE" else "left")
    for one in rows:
        meant = cell(one.became)
        if one.why:
            meant = meant + Text("\n" if one.became else "") + Text(cell(one.why).plain, style="dim")
        shown.add_row(str(one.line), cell(one.option), Text(one.fate, style=_STYLES[one.fate]), meant)
    if rows:
        messages().print(shown, soft_wrap=False)
    output.say(f"{found.name}, a script for {found.dialect.system}: {found.summary()}.")


def require_possible(found: Translation, source: str, *, force: bool) -> None:
    """Say what did not carry over; raise BadRequest for what is not possible, unless that is forced."""
    if not session().json:
        show_translation(found, changed_only=True)
    if found.refusals and not force:
        first = found.refusals[0]
        more = f", and {len(found.refusals) - 1} more" if len(found.refusals) > 1 else ""
        raise BadRequest(
            f"Line {first.line}: {first.option} is not possible{more}. {first.why}",
            code="script_not_possible",
            place=source,
            remedy="Change the script, or submit it without these lines by --force.",
        )
