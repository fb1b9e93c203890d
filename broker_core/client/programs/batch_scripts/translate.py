"""A batch script as a description that runs at any site, with an account of every directive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from broker_core.client.programs.batch_scripts import condor, grid_engine, lsf, pbs, slurm
from broker_core.client.programs.batch_scripts.assembly import description_text, set_variables, work_out
from broker_core.client.programs.batch_scripts.directives import (
    MOST_LINES,
    dialect_of,
    directives,
    own_commands,
    submit_lines,
)
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.meanings import Meaning, read_line
from broker_core.client.programs.batch_scripts.options import OptionTable
from broker_core.client.programs.batch_scripts.translation import BatchDialect, Translation

_WORD = re.compile(r"(>{1,2}|-o[ =]|--out\w*[ =])?\s*([\w./][\w.+@/-]*)")
_VARIABLES = {
    BatchDialect.SLURM: slurm.variables,
    BatchDialect.PBS: pbs.variables,
    BatchDialect.GRID_ENGINE: grid_engine.variables,
    BatchDialect.LSF: lsf.variables,
}
_MOST_WORDS = 20_000


class _Reader(NamedTuple):
    """How the options of one system are read."""

    table: OptionTable
    meanings: Mapping[str, Meaning]


_READERS = {
    BatchDialect.SLURM: _Reader(slurm.TABLE, slurm.MEANINGS),
    BatchDialect.PBS: _Reader(pbs.TABLE, pbs.MEANINGS),
    BatchDialect.GRID_ENGINE: _Reader(grid_engine.TABLE, grid_engine.MEANINGS),
    BatchDialect.LSF: _Reader(lsf.TABLE, lsf.MEANINGS),
}


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A batch script with what its folder has; nothing of it is read from the disk here."""

    path: Path
    text: str
    call: tuple[str, str] = ("", "")
    """What is started to run it, and the arguments before those of the script."""
    data: tuple[Path, ...] = ()
    """Files that travel along because somebody chose them."""
    beside: frozenset[str] = frozenset()
    """Names of files in its folder: those that the script names travel along, too."""
    lists: Mapping[str, str] = field(default_factory=dict)
    """Files of values that a submit file names, by their names in its folder."""
    arguments: str = ""
    """More of them, as in a shell."""


def translate(script: ScriptFile, job: str) -> Translation:
    """Translate a batch script; `job` is the job's name where the script gives none.

    Nothing in the script makes this fail: each line that cannot be read has its message in the result.
    Raises ValueError for a text that is no batch script at all.
    """
    dialect = dialect_of(script.text, script.path.suffix)
    if dialect is None:
        raise ValueError("This is no batch script.")
    ledger = Ledger(dialect, script.path.name)
    if dialect is BatchDialect.HTCONDOR:
        _submit_file(ledger, script)
    else:
        _script(ledger, script, dialect)
    files = _files(ledger, script, dialect)
    _arguments(ledger, script)
    work_out(ledger, job, _call(ledger, script), files)
    variables = _VARIABLES[dialect](ledger) if dialect in _VARIABLES else {}
    set_variables(ledger, variables)
    return Translation(
        dialect,
        script.path.name,
        description_text(ledger),
        ledger.outcomes(),
        MappingProxyType(ledger.values),
    )


def _submit_file(ledger: Ledger, script: ScriptFile) -> None:
    lines = submit_lines(script.text)
    folder = condor.SubmitFolder(script.beside, script.lists)
    condor.read_submit_file(ledger, lines[:MOST_LINES], folder)
    _pass_over(ledger, lines[MOST_LINES:])


def _script(ledger: Ledger, script: ScriptFile, dialect: BatchDialect) -> None:
    found = list(directives(script.text, dialect))
    reader, further = _READERS[dialect], 0
    for line in found[:MOST_LINES]:
        if line.meant:
            ledger.refuse(line.at, line.fault)
        elif line.fault:
            ledger.leave_out(line.at, line.fault)
        elif further:
            ledger.refuse(line.at, f"It is for the part of the job that begins in line {further}.")
        elif read_line(ledger, line.at, line.rest, reader.table, reader.meanings):
            further = line.at.line
    _pass_over(ledger, [line.at for line in found[MOST_LINES:]])
    for at, command in own_commands(script.text, dialect):
        why = f"Only {dialect.system} has {command}, so the script runs at sites of this kind alone."
        ledger.term(at, f'other.GlueCEInfoLRMSType == "{dialect}"', why)


def _pass_over(ledger: Ledger, lines: list[Directive]) -> None:
    for at in lines:
        ledger.refuse(at, f"A script with more than {MOST_LINES:,} directives is not read to its end.")


def _arguments(ledger: Ledger, script: ScriptFile) -> None:
    if script.arguments:
        own = ledger.values.get("Arguments", "")
        ledger.values["Arguments"] = f"{own} {script.arguments}".strip()


def _call(ledger: Ledger, script: ScriptFile) -> tuple[str, str]:
    if not ledger.interpreter:
        return script.call
    name = script.path.name
    return ledger.interpreter, f"./{name}" if name.startswith("-") else name


def _files(ledger: Ledger, script: ScriptFile, dialect: BatchDialect) -> list[str]:
    """What travels with the job: the script, what was chosen, and what the script names."""
    folder = script.path.parent
    if dialect is not BatchDialect.HTCONDOR:
        written = {str(ledger.values.get(name)) for name in ("StdOutput", "StdError")}
        for at, name in _named(script.text, script.beside - written - {script.path.name}):
            ledger.more(at, "InputSandbox", [name], "It stands beside the script, which names it.")
            ledger.files.append(name)
    own = [] if dialect is BatchDialect.HTCONDOR else [str(script.path)]
    named = [name if "://" in name else str(folder / name) for name in ledger.files]
    return list(dict.fromkeys([*own, *named, *map(str, script.data)]))


def _named(text: str, names: frozenset[str]) -> Iterator[tuple[Directive, str]]:
    """Files that the commands of a script name, but for those that it writes; each once."""
    left, words = set(names), 0
    for number, line in enumerate(text.splitlines(), 1):
        if not left or words > _MOST_WORDS:
            return
        if line.lstrip().startswith("#"):
            continue
        for found in _WORD.finditer(line):
            words += 1
            name = found[2].removeprefix("./")
            if name in left:
                left.discard(name)
                if not found[1]:
                    yield Directive(number, line, name), name
