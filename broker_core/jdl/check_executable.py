"""Executable, Arguments and Environment (section 4.2)."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from broker_core.jdl.check_sandboxes import Sandbox
from broker_core.jdl.names import base_name, has_wildcard, wrong_name
from broker_core.jdl.reading import Reading

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)


@dataclass(frozen=True, slots=True)
class Program:
    """What runs, and with which arguments and variables."""

    executable: str
    arguments: str
    environment: tuple[tuple[str, str], ...]
    needs: tuple[str, ...]


def program(reading: Reading, inputs: Sandbox) -> Program:
    """Check the program and return it."""
    executable = reading.string("executable")
    if not reading.has("executable"):
        if "executable" in reading.findings.unread:
            return Program("", "", (), ())
        reading.error("missing-executable", "Executable is missing; name the program to run.", "Executable")
    else:
        _executable(reading, executable, inputs)
    for key in ("prologue", "epilogue"):
        if reading.has(key):
            _path(reading, key, reading.string(key), inputs)
    arguments = reading.string("arguments")
    if arguments:
        _arguments(reading, arguments)
    return Program(executable, arguments, _environment(reading), _needs(reading))


def _executable(reading: Reading, path: str, inputs: Sandbox) -> None:
    if path.strip():
        _path(reading, "executable", path, inputs)
    elif isinstance(reading.value("executable"), str):
        reading.error("missing-executable", "Executable is empty: name the program to run.", "executable")


def _path(reading: Reading, key: str, path: str, inputs: Sandbox) -> None:
    """Complain about a program that cannot be found at the site, whose attribute is `key`."""
    if has_wildcard(path):
        message = f"{reading.ad.entries[key].name} must name one program, without wildcards."
        reading.error("executable-wildcard", message, key)
    elif wrong := wrong_name(path):
        reading.error(*wrong, key)
    elif not path.startswith("/") and not inputs.brings(base_name(path)):
        _not_sent(reading, key, path)


def _not_sent(reading: Reading, key: str, path: str) -> None:
    if "/" in path:
        message = (
            f"{path} is neither an absolute path at the site nor a file of InputSandbox; add it there, or"
            " write its path at the site."
        )
        reading.error("executable-path", message, key)
    elif reading.limits.dialect != "crossdesk":
        message = f"{path} is not in InputSandbox; add it there, or write its path at the site."
        reading.error("executable-path", message, key)
    else:
        message = f"{path} is not in InputSandbox, so it must be installed at the site."
        reading.hint("executable-not-sent", message, key)


_UNQUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_SHELL = re.compile(r"(?:^|\s)([0-9]?>>?|<|\||&&?)(?:\s|$|&[0-9])")


def _arguments(reading: Reading, arguments: str) -> None:
    if found := _SHELL.search(_UNQUOTED.sub("", arguments)):
        message = (
            f"`{found[1]}` in Arguments goes to the program as it is: no shell reads it. Name StdInput or"
            " StdOutput, or run a script."
        )
        reading.hint("shell-sign", message, "arguments")
    if "'" not in arguments and '"' not in arguments and "\\" not in arguments:
        return
    try:
        shlex.split(arguments)
    except ValueError:
        message = "A quote or backslash in Arguments is not closed; close it, or put a backslash before it."
        reading.error("arguments-unbalanced", message, "arguments")


def _environment(reading: Reading) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for text, place in reading.strings("environment"):
        if not _VARIABLE.match(text):
            message = f"{text!r} is not of the form NAME=value; write it so."
            reading.error("environment-format", message, "environment", place)
            continue
        name, _, value = text.partition("=")
        if name in found:
            message = f"{name} is set twice in Environment; the last value holds."
            reading.warning("environment-twice", message, "environment", place)
        found[name] = value
    return tuple(found.items())


def _needs(reading: Reading) -> tuple[str, ...]:
    wanted = (("jobstarter", "job-starter"), ("prologue", "prologue"), ("epilogue", "epilogue"))
    return tuple(need for key, need in wanted if reading.has(key))
