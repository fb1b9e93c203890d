"""What options mean that several batch systems have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from broker_core.client.programs.batch_scripts.amounts import (
    array_indices,
    clock,
    count,
    megabytes,
    time_text,
)
from broker_core.client.programs.batch_scripts.ledger import Directive, Ledger
from broker_core.client.programs.batch_scripts.options import GivenOption, OptionTable, words_of
from broker_core.jdl.syntax.tokens import quoted

Meaning = Callable[[Ledger, Directive, str], None]
"""Takes an option's value into the ledger. Raises ValueError, in words, for a value that it cannot have."""

_RESOURCE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/+-]*", re.ASCII)
"""A name that sites give: of an account, a queue, a feature."""
_LICENSE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/+-]*(?::[1-9][0-9]{0,5})?", re.ASCII)
_NAME = re.compile(r"[^\w.+@-]+")
_PATTERN = re.compile(r"%%|%(\d*)([A-Za-z])")
_NUMBERED = re.compile(r"[._+-]*\0")
NO_MAIL = "No mail is sent: the desktop and `crossdesk job wait` tell of ends."
OWN_FOLDER = "Each job runs in a folder of its own, which is also what the variables for it say."
NO_LOGIN = "Variables of the login stay here; those that the program needs are listed by their names."

FURTHER_PART = (
    "A job whose parts ask for different things is one that this batch system alone starts. Ask for what the "
    "largest part needs in one set of options, or submit each part as a job of its own."
)

NUMBER, TASK, JOB = "\0", "_PARAM_", "\1"
"""In names of files: the job's number, the task's, and the job's name, which is put in at the end."""
NOTES = {
    "mail": NO_MAIL,
    "folder": OWN_FOLDER,
    "login": NO_LOGIN,
    "hold": "Submit it with a reason to wait (`--hold`), and release it when it may start.",
    "wait": "Submit it with `--wait`, which ends with the jobs.",
    "order": "Jobs do not wait for each other: submit it once `crossdesk job wait` has seen the other end.",
    "test": "`crossdesk job list-match` says where a job can run.",
    "later": "A job starts as soon as there is room; hold it, and release it when it may start.",
    "again": "The broker itself starts a job elsewhere whose site failed, and never one that has ended.",
    "interactive": "It is a session and no batch job; write Interactive = true for a program to talk to.",
    "signal": "It would reach what watches the job at its site, and end it.",
    "streams": "What the job writes can be read while it runs, and comes home at its end.",
    "window": "Write InteractiveX11 = true in a description of an interactive job.",
    "files": "Files travel by their names: list them in InputSandbox and OutputSandbox.",
    "quiet": "It concerns what the command prints.",
    "user": "Jobs run under the account by which the site is reached.",
}
"""Reasons that options of several batch systems share, by the word in their tables."""


def read_line(
    ledger: Ledger, at: Directive, rest: str, table: OptionTable, meanings: Mapping[str, Meaning]
) -> bool:
    """Take all options of one directive into the ledger; what is wrong with one becomes its account.

    True where the options end, as those of a further part of the job begin.
    """
    try:
        words = words_of(rest)
    except ValueError as problem:
        ledger.refuse(at, str(problem))
        return False
    if not words:
        ledger.leave_out(at, "There is no option in this line.")
    end = next((number for number, word in enumerate(words) if word in table.parts), len(words))
    for given in table.read(words[:end]):
        _take(ledger, replace(at, option=given.written), given, meanings)
    if end < len(words):
        ledger.refuse(replace(at, option=" ".join(words[end:])), FURTHER_PART)
    return end < len(words)


def _take(ledger: Ledger, at: Directive, given: GivenOption, meanings: Mapping[str, Meaning]) -> None:
    option = given.option
    if given.fault or option is None:
        ledger.refuse(at, given.fault)
    elif option.meaning == "keep":
        ledger.system_only(at, *_words_again(option.name, given))
    elif option.meaning == "leave":
        ledger.leave_out(at, NOTES.get(option.note, option.note))
    elif option.meaning == "refuse":
        ledger.refuse(at, NOTES.get(option.note, option.note))
    else:
        carry_out(ledger, at, given.value, meanings[option.meaning])


def carry_out(ledger: Ledger, at: Directive, value: str, meaning: Meaning) -> None:
    """Take one value into the ledger; one that it cannot have is refused with the reason."""
    try:
        meaning(ledger, at, value)
    except ValueError as problem:
        ledger.refuse(at, str(problem))


def _words_again(name: str, given: GivenOption) -> list[str]:
    if name.startswith("--"):
        return [f"{name}={given.value}" if given.value else name]
    return [name, *([given.value] if given.value else [])]


def job_name(ledger: Ledger, at: Directive, value: str) -> None:
    """A name for people."""
    name = _NAME.sub("-", value).strip("-.")
    if not name:
        raise ValueError("This is no name.")
    ledger.attribute(at, "JobName", name)


def text_attribute(name: str, why: str = "") -> Meaning:
    """A name that sites give."""

    def meaning(ledger: Ledger, at: Directive, value: str) -> None:
        ledger.attribute(at, name, resource_name(value), why)

    return meaning


def resource_name(value: str) -> str:
    """A name that sites give; raises ValueError, in words, for what can be none."""
    if not _RESOURCE.fullmatch(value.strip()):
        raise ValueError(f"“{value}” is no name that a site can have given.")
    return value.strip()


def licenses(ledger: Ledger, at: Directive, value: str) -> None:
    """`name`, or `name:2` for two of them, divided by commas."""
    names = [part.strip() for part in value.split(",") if part.strip()]
    if wrong := [name for name in names if not _LICENSE.fullmatch(name)]:
        raise ValueError(f"“{wrong[0]}” is no license such as name or name:2.")
    ledger.more(at, "Licenses", names)


def figure(key: str, *names: str, owner: str = "") -> Meaning:
    """A whole number above 0 from which the attributes `names` follow."""

    def meaning(ledger: Ledger, at: Directive, value: str) -> None:
        ledger.figure(at, key, whole(value), *names, owner=owner)

    return meaning


def memory(key: str, unit: str, *names: str, owner: str = "memory") -> Meaning:
    """A size in megabytes; a plain number counts in `unit`."""

    def meaning(ledger: Ledger, at: Directive, value: str) -> None:
        ledger.figure(at, key, size(value, unit), *names, owner=owner)

    return meaning


def scratch(unit: str) -> Meaning:
    """Room on the node's own disk."""

    def meaning(ledger: Ledger, at: Directive, value: str) -> None:
        ledger.attribute(at, "ScratchSize", size(value, unit))

    return meaning


def wall_time(ledger: Ledger, at: Directive, value: str) -> None:
    """`[[days:]hours:]minutes:seconds`, or seconds."""
    seconds = clock(value)
    if not seconds:
        raise ValueError(f"“{value}” is no time such as 12:00:00.")
    ledger.attribute(at, "WallTime", time_text(seconds))


def array(ledger: Ledger, at: Directive, value: str) -> None:
    """The numbers of an array."""
    ledger.array(at, array_indices(value))


def queue(ledger: Ledger, at: Directive, value: str) -> None:
    """One queue, or several of which any will do."""
    names = [resource_name(name) for name in value.split(",")]
    if len(names) == 1:
        ledger.attribute(at, "QueueName", names[0])
    else:
        elsewhere = f"other.GlueCEInfoLRMSType =!= {quoted(ledger.dialect)}"
        terms = " || ".join([elsewhere, *(f"other.GlueCEName == {quoted(name)}" for name in names)])
        system = ledger.dialect.system
        ledger.term(at, terms, f"At sites of {system} any queue of these names will do, elsewhere any queue.")


def with_word(meaning: Meaning, *option: str, mark: str = "") -> Meaning:
    """The same, said once more to the script's own system, which has it under a name that each site chooses.

    `option`: what stands ahead of the word there; `mark`: what the word begins with.
    """

    def both(ledger: Ledger, at: Directive, value: str) -> None:
        meaning(ledger, at, value)
        word, why = at.option.removeprefix("-l "), f"Sites of {ledger.dialect.system} are asked so."
        ledger.system_only(at, *option, f"{mark}{word}", why=why)

    return both


def asked_names(ledger: Ledger, variables: Mapping[str, str]) -> dict[str, str]:
    """Variables with the values of attributes that the script gives; `variables`: variable to attribute."""
    known = {name: ledger.values.get(attribute) for name, attribute in variables.items()}
    return {name: str(value) for name, value in known.items() if value is not None}


def input_file(ledger: Ledger, at: Directive, value: str) -> None:
    """A file that the program reads; one beside the script travels along."""
    path = value.strip()
    if path == "/dev/null":
        ledger.leave_out(at, "A job reads nothing unless StdInput names a file.")
        return
    ledger.attribute(at, "StdInput", path if path.startswith("/") else path.rpartition("/")[2])
    if not path.startswith("/"):
        ledger.files.append(path)


def interpreter(ledger: Ledger, at: Directive, value: str) -> None:
    """The shell that runs the script."""
    shell = value.split(",")[0].strip()
    if not re.fullmatch(r"[\w./+-]+", shell, re.ASCII):
        raise ValueError(f"“{value}” is no path of a shell.")
    ledger.run_by(at, shell)


def assignments(ledger: Ledger, at: Directive, parts: list[str]) -> None:
    """Variables: `NAME=value` is set, a name alone would be copied from the login."""
    given = {name.strip(): value for name, equals, value in (part.partition("=") for part in parts) if equals}
    wrong = [name for name in given if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)]
    if wrong:
        raise ValueError(f"“{wrong[0]}” is no name of a variable.")
    if given:
        ledger.variables(at, given)
    copied = [part.strip() for part in parts if "=" not in part and part.strip()]
    if copied:
        names = ", ".join(copied[:5])
        ledger.leave_out(replace(at, option=names), f"{NO_LOGIN} To set one, write NAME=value.")


def whole(value: str) -> int:
    """A whole number above 0; raises ValueError in words."""
    number = count(value)
    if number is None:
        raise ValueError(f"“{value}” is no whole number above 0.")
    return number


def size(value: str, unit: str) -> int:
    """Megabytes; raises ValueError in words."""
    found = megabytes(value, unit)
    if not found:
        raise ValueError(f"“{value}” is no size such as 4G.")
    return found


def output(attribute: str, names: Mapping[str, str] = {}) -> Meaning:
    """A file for what the program writes; `names`: variables in it to NUMBER, TASK or JOB."""

    def meaning(ledger: Ledger, at: Directive, value: str) -> None:
        name, why = output_name(value, names)
        if name:
            ledger.attribute(at, attribute, name, why)
        else:
            ledger.leave_out(at, why or "What the job writes is a file of its own here.")

    return meaning


def output_name(value: str, names: Mapping[str, str]) -> tuple[str, str]:
    """The name in the job's own folder, and what is different about it, as a sentence."""
    path = value.strip()
    if path.startswith(("/dev/null", ":/dev/null")):
        return "", "It is written all the same, and read with `crossdesk job log`."
    for variable, meant in names.items():
        path = path.replace(variable, meant)
    path = _PATTERN.sub(_replacement, path)
    numbered, why = NUMBER in path, []
    path = _NUMBERED.sub("", path)
    if "/" in path:
        why.append("It is in the job's own folder and comes home from there.")
    if numbered:
        why.append("Each job has its own, so its number is not part of the name.")
    return path.rpartition("/")[2].lstrip(".-+:"), " ".join(why)


def _replacement(found: re.Match[str]) -> str:
    if found[0] == "%%":
        return "%"
    return {"x": JOB, "a": TASK, "I": TASK}.get(found[2], NUMBER)
