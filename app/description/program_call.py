"""The program of a description as its user sees it: a script by its name, also behind an interpreter."""

from __future__ import annotations

import os.path
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from app.description.document import listed_files, sandbox_name, with_files
from app.description.needs import CPUS, NEEDS, with_cpus, with_needs
from app.description.sandbox_files import as_entry
from app.description.statements import statements
from app.description.sweep import with_values
from app.description.values import list_source, string_of, string_source
from broker_core.client.programs.describe import call_of, describe, job_name
from broker_core.client.programs.file_kind import Item, classify, interpreter_wanted
from broker_core.client.programs.path_facts import facts_of
from broker_core.jdl.syntax.edit import set_attribute


@dataclass(frozen=True, slots=True)
class CalledProgram:
    """What a description runs."""

    name: str
    """Of the program; of a script that is given to its interpreter the script's."""
    before: str = ""
    """What Arguments begin with so that the interpreter finds the script; empty if it runs by itself."""
    arguments: str = ""
    """The rest of Arguments: those of the user."""
    item: Item | None = None
    """The file that travels with the job as its program; None if the program is there already."""


def program_call(text: str, base: Path) -> CalledProgram | None:
    """What `text` runs, with files looked for below `base`.

    None if there is no program, or if program or arguments are written as expressions.
    """
    found = statements(text)
    executable, arguments = (
        string_of(found[name].value) if name in found else "" for name in ("executable", "arguments")
    )
    if not executable or arguments is None:
        return None
    for entry in listed_files(text) or ():
        path = Path(os.path.join(base, os.path.expanduser(entry)))
        if path.name == executable:
            return CalledProgram(executable, "", arguments, classify(facts_of(path)))
        if shlex.quote(path.name) in arguments and (call := _given_to(executable, arguments, path)):
            return call
    return CalledProgram(executable, "", arguments)


def _given_to(executable: str, arguments: str, path: Path) -> CalledProgram | None:
    item = classify(facts_of(path))
    starter, before = call_of(path.name, item.interpreter)
    if starter != executable or not (arguments == before or arguments.startswith(f"{before} ")):
        return None
    return CalledProgram(path.name, before, arguments[len(before) + 1 :], item)


def with_program(text: str, program: Path, base: Path) -> str:
    """The text that runs `program`, which is sent along: by itself, or as the argument of its interpreter.

    The user's arguments stay; the program that the text ran before stays at home.
    """
    interpreter = interpreter_wanted(program)
    if not text.strip():
        item = classify(facts_of(program))
        here = replace(item.facts, path=Path(as_entry(program, base)))
        return describe(replace(item, facts=here, interpreter=interpreter))
    old = program_call(text, base)
    executable, first = call_of(program.name, interpreter)
    text = set_attribute(text, "Executable", string_source(executable))
    if first or (old is not None and old.before):
        words = f"{first} {old.arguments if old else ''}".strip()
        text = set_attribute(text, "Arguments", string_source(words) if words else None)
    if old is not None and old.item is not None:
        text = _renamed(_without(text, old.item.facts.path, base), old.name, program.name)
    return with_files(text, [program], base)


def _without(text: str, path: Path, base: Path) -> str:
    listed = listed_files(text) or []
    others = [name for name in listed if Path(os.path.join(base, os.path.expanduser(name))) != path]
    return set_attribute(text, sandbox_name(text), list_source(others)) if others != listed else text


def _renamed(text: str, old: str, new: str) -> str:
    """A job that was named by its program is named by the new one."""
    found = statements(text).get("jobname")
    if found is None or string_of(found.value) != job_name(old):
        return text
    return set_attribute(text, found.name, string_source(job_name(new)))


def with_field(text: str, attribute: str, source: str | None, base: Path) -> str:
    """The text after a field was changed: `source` is its new value, None takes it out.

    Arguments of a script that is given to its interpreter go behind the script; another program written in
    its place takes the arguments without it.
    """
    if attribute == CPUS:
        return with_cpus(text, source)
    if attribute == NEEDS:
        return with_needs(text, source or "")
    if attribute == "Parameters":
        return with_values(text, source)
    old = program_call(text, base) if attribute in ("Executable", "Arguments") else None
    if old is None or not old.before:
        return set_attribute(text, attribute, source)
    if attribute == "Arguments":
        words = string_of(source) if source else ""
        return set_attribute(text, attribute, string_source(f"{old.before} {words}" if words else old.before))
    text = set_attribute(text, attribute, source)
    return set_attribute(text, "Arguments", string_source(old.arguments) if old.arguments else None)
