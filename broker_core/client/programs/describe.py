"""A description around a program or script, so that it can run as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from broker_core.client.programs.batch_scripts.condor import list_files
from broker_core.client.programs.batch_scripts.translate import ScriptFile, translate
from broker_core.client.programs.batch_scripts.translation import BatchDialect, Translation
from broker_core.client.programs.file_kind import (
    Item,
    ItemKind,
    classify,
    dialect,
    executed_name,
    looks_like_description,
)
from broker_core.client.programs.path_facts import PathFacts, facts_of, names_beside
from broker_core.errors import BadRequest
from broker_core.jdl.limits import DESCRIPTION_MAX
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tokens import quoted
from broker_core.jdl.syntax.write import value_text

STDOUT, STDERR = "std.out", "std.err"
_PLAIN = re.compile(r"[^\w.+-]+")
_LANGUAGES = {
    "python": "Python",
    "sh": "Shell",
    "bash": "Bash",
    "zsh": "Zsh",
    "perl": "Perl",
    "ruby": "Ruby",
    "Rscript": "R",
    "julia": "Julia",
    "node": "JavaScript",
    "lua": "Lua",
    "awk": "AWK",
    "tclsh": "Tcl",
}
"""Interpreter without its version to the language that it runs."""


def describe(item: Item, data: Sequence[Path] = (), cpus: int = 1, arguments: str = "") -> str:
    """The description that runs a program or script with `data` files beside it.

    A file that can run by itself is the executable; one that cannot is the first argument of its interpreter.
    `arguments` are more of them, written as in a shell. A batch script asks for its CPUs itself.
    """
    if item.kind is ItemKind.BATCH_SCRIPT:
        return translation(item, data, arguments).description
    executable, first = call_of(item.facts.path.name, item.interpreter)
    files = [str(item.facts.path), *map(str, data)]
    words = f"{first} {arguments}".strip()
    return _written(job_name(item.facts.path.name), executable, words, files, cpus)


def translation(item: Item, data: Sequence[Path] = (), arguments: str = "") -> Translation:
    """A batch script as a description, with what became of its lines; `data` travels along.

    So do the files of the script's folder that it names. A script of more than 1 MB is read up to there.
    """
    path, text, beside = item.facts.path, _text(item.facts), names_beside(item.facts.path)
    named = list_files(text) & beside if dialect(item) is BatchDialect.HTCONDOR else frozenset()
    script = ScriptFile(
        path=path,
        text=text,
        call=call_of(path.name, item.interpreter),
        data=tuple(data),
        beside=beside,
        lists={name: _text(facts_of(path.parent / name)) for name in named},
        arguments=arguments,
    )
    return translate(script, job_name(path.name))


def _text(facts: PathFacts) -> str:
    try:
        with facts.path.open("rb") as stream:
            raw = stream.read(DESCRIPTION_MAX)
    except OSError:
        raw = facts.head  # what was read of it a moment ago
    return raw.decode("utf-8-sig", "replace")


def runnable_at(path: Path) -> Item | None:
    """The program, script or notebook at `path`, by its full name; None if it is a description itself.

    Raises BadRequest for what neither is one nor can be run.
    """
    item = classify(facts_of(path))
    if runnable(item):
        return replace(item, facts=replace(item.facts, path=path.absolute()))
    if item.kind is ItemKind.DATA and not looks_like_description(item.facts.head.decode("utf-8", "replace")):
        raise BadRequest(
            f"{path.name} is no description, script or program.",
            code="nothing_to_run",
            place=str(path),
            remedy="Submit what works on it, and name it with --with, or in InputSandbox of a description.",
        )
    return None


def how_it_runs(item: Item) -> str:
    """What is done with a file that is to be run, as a sentence for whoever chose it."""
    match item.kind:
        case ItemKind.PROGRAM:
            return "Program: it is sent along and started."
        case ItemKind.SCRIPT if item.facts.head.startswith(b"#!"):
            line = item.facts.head.split(b"\n", 1)[0].decode("utf-8", "replace")
            kind, by = _language(line[2:]), _start_of(line[2:])
            return f"{kind} script: will be run with {by}, as its first line says."
        case ItemKind.SCRIPT:
            by = item.interpreter
            return f"{_language(by)} script without “#!”: will be run with {by}."
        case ItemKind.BATCH_SCRIPT:
            return _batch_script(item)
        case ItemKind.NOTEBOOK:
            name = executed_name(item.facts.path)
            return f"Notebook: jupyter runs its cells, which the site must have; the result is {name}."
        case ItemKind.DESCRIPTION:
            return "Job description: it says itself what is run."
        case ItemKind.DATA:
            return "No script or program that is known: it is started as it is."
    return f"It {item.why}." if item.why else "It cannot be run."


def _batch_script(item: Item) -> str:
    found = dialect(item)
    title = found.system if found else "a batch system"
    if found is BatchDialect.HTCONDOR:
        return f"Submit file for {title}: it says itself what is run."
    by = item.interpreter or _start_of(item.facts.head.split(b"\n", 1)[0].decode("utf-8", "replace")[2:])
    return (
        f"Batch script for {title}: will be run with {by}; its lines for {title} count as far as the"
        " description has them."
    )


def _start_of(shebang: str) -> str:
    """The program that a first line names, without its folder and without env."""
    words = shebang.split() or ["sh"]
    first = words[0].rsplit("/", 1)[-1]
    more = [word for word in words[1:] if not word.startswith("-")]
    return more[0] if first == "env" and more else first


def _language(command: str) -> str:
    name = _start_of(command).rsplit("/", 1)[-1]
    return _LANGUAGES.get(name) or _LANGUAGES.get(name.rstrip("0123456789."), name)


def call_of(name: str, interpreter: str) -> tuple[str, str]:
    """What is started to run the file of this name, and what Arguments begin with."""
    if not interpreter:
        return name, ""
    try:
        executable, *options = shlex.split(interpreter)
    except ValueError:  # a first line with a quote that is not closed
        executable, *options = interpreter.split()
    return executable, shlex.join([*options, f"./{name}" if name.startswith("-") else name])


def describe_data(data: Sequence[Path]) -> str:
    """A beginning of a description that sends these files: what runs on them is still to be said."""
    return _written("", "", "", list(map(str, data)), 1)


def pinned(text: str, site: str) -> str:
    """The same description for one site alone; written into it, so that it can be seen and changed."""
    if not site:
        return text
    ad = parse(text).ad
    entry = ad.entries.get("requirements") if ad is not None else None
    before = text[entry.value_start : entry.value_end].strip() if entry is not None else ""
    mine = at_site(site)
    if before == mine:
        return text
    return set_attribute(text, "Requirements", f"({before}) && {mine}" if before else mine)


def at_site(site: str) -> str:
    """The requirement that a description with this site and no other has."""
    return f"other.GlueSiteName == {quoted(site)}"


def script_from_text(text: str) -> str:
    """Dropped text as a script: a first line that names the shell is added where there is none."""
    body = text.replace("\r\n", "\n")
    body = body if body.endswith("\n") else body + "\n"
    return body if body.startswith("#!") else "#!/bin/sh\n" + body


def job_name(name: str) -> str:
    """The name of a job that runs the file of this name."""
    return _PLAIN.sub("-", Path(name).stem).strip("-.") or "job"


def _written(name: str, executable: str, arguments: str, files: list[str], cpus: int) -> str:
    lines = [
        f"JobName = {quoted(name)};" if name else "",
        f"Executable = {quoted(executable)};",
        f"Arguments = {quoted(arguments)};" if arguments else "",
        f"NodeNumber = {cpus};" if cpus > 1 else "",
        f"StdOutput = {quoted(STDOUT)};",
        f"StdError = {quoted(STDERR)};",
        f"InputSandbox = {value_text(files)};" if files else "",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def runnable(item: Item) -> bool:
    """True for what can be wrapped in a description."""
    return item.kind in (ItemKind.PROGRAM, ItemKind.SCRIPT, ItemKind.BATCH_SCRIPT, ItemKind.NOTEBOOK)
