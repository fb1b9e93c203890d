"""Executable and Environment (section 4.2), and the software that the program runs with."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

from broker_core.jdl.checks.arguments import arguments
from broker_core.jdl.checks.sandboxes import Sandbox
from broker_core.jdl.description import NO_COMMAND, Software, UserCommand
from broker_core.jdl.diagnostics import changed_part
from broker_core.jdl.names import base_name, has_wildcard, scheme, wrong_name, wrong_output
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.tokens import quoted

KEYS = ("walltime", "maxwalltime", "walltimelimit")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_CLOCK = re.compile(r"(?:(\d{1,6})-)?(\d{1,9}):([0-5]?\d)(?::([0-5]?\d))?", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([smhd]?)", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)
_MODULE = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.+/:@=-]{0,199}", re.ASCII)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[!-~]{1,500}", re.ASCII)
_PACKAGES = (".txt", ".in", ".lock", ".yml", ".yaml")


@dataclass(frozen=True, slots=True)
class Streams:
    """File names of the three streams; empty where none is named."""

    stdin: str
    stdout: str
    stderr: str


def streams(reading: Reading, inputs: Sandbox) -> Streams:
    """Check the three streams and return their names."""
    found = Streams(reading.string("stdinput"), reading.string("stdoutput"), reading.string("stderror"))
    for key, name in (("stdoutput", found.stdout), ("stderror", found.stderr)):
        if name and _plain(reading, key, name) and (wrong := wrong_output(name)):
            reading.error(*wrong, key)
    if found.stdin and _plain(reading, "stdinput", found.stdin):
        _input(reading, found.stdin, inputs)
    if reading.limits.dialect != "crossdesk" and found.stdout and found.stderr:
        _pair(reading, found)
    return found


def _plain(reading: Reading, key: str, name: str) -> bool:
    if has_wildcard(name):
        message = f"{reading.ad.entries[key].name} must name one file; leave out wildcards."
        reading.error("stream-wildcard", message, key)
        return False
    return True


def _input(reading: Reading, name: str, inputs: Sandbox) -> None:
    if name.startswith("/"):
        return
    if wrong := wrong_name(name):
        reading.error(*wrong, "stdinput")
    elif not inputs.brings(base_name(name)):
        message = f"{name} is not in InputSandbox, so the job would not find its input; add it there."
        reading.error("stdin-not-in-sandbox", message, "stdinput")


def _pair(reading: Reading, found: Streams) -> None:
    if found.stdout != found.stderr and base_name(found.stdout) == base_name(found.stderr):
        message = (
            "StdOutput and StdError have the same file name in different folders; use one path or two names."
        )
        reading.error("stream-names-clash", message, "stderror")


def seconds(value: object) -> float | None:
    """Seconds from a number or a text such as `01:30:00`, `2-12:00`, `90m` or `2h`; None from others."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return float(days * 86400 + hours * 3600 + minutes * 60 + rest)
    if amount := _AMOUNT.fullmatch(text):
        return float(amount[1]) * _UNITS[amount[2] or "s"]
    return None


def wall_limit(reading: Reading) -> float | None:
    """Seconds after which the job is ended; None if the description sets no limit."""
    found: float | None = None
    for key in KEYS:
        if not reading.has(key):
            continue
        value = seconds(reading.value(key))
        name = reading.ad.entries[key].name
        if value is None or not 0 < value < 1e10:
            message = f'{name} must be a time above 0: seconds, or a text such as "01:30:00" or "90m".'
            reading.error("wall-time-format", message, key)
        elif found is not None and found != value:
            reading.error(
                "wall-times-differ", f"{name} differs from the other wall time given; leave out one.", key
            )
        else:
            found = value
    return found


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """What runs, and with which arguments and variables."""

    executable: str
    arguments: str
    environment: tuple[tuple[str, str], ...]
    starter: UserCommand = NO_COMMAND
    prologue: UserCommand = NO_COMMAND
    epilogue: UserCommand = NO_COMMAND


def program(reading: Reading, inputs: Sandbox) -> ProgramCall:
    """Check the program and return it."""
    executable = reading.string("executable")
    if not reading.has("executable"):
        if "executable" in reading.findings.unread:
            return ProgramCall("", "", ())
        reading.error("missing-executable", "Executable is missing; name the program to run.", "Executable")
    else:
        _executable(reading, executable, inputs)
    return ProgramCall(
        executable,
        arguments(reading, inputs),
        _environment(reading),
        *(_call(reading, name, inputs) for name in ("JobStarter", "Prologue", "Epilogue")),
    )


def _call(reading: Reading, name: str, inputs: Sandbox) -> UserCommand:
    key = name.lower()
    if reading.has(key):
        _path(reading, key, reading.string(key), inputs)
    return UserCommand(reading.string(key), arguments(reading, inputs, f"{name}Arguments"))


def _executable(reading: Reading, path: str, inputs: Sandbox) -> None:
    if path.strip():
        _path(reading, "executable", path, inputs)
        if inputs.interpreter:
            _without_interpreter(reading, path, inputs.interpreter)
    elif isinstance(reading.value("executable"), str):
        reading.error("missing-executable", "Executable is empty: name the program to run.", "executable")


def _without_interpreter(reading: Reading, path: str, interpreter: str) -> None:
    text = reading.findings.text
    command, _, options = interpreter.partition(" ")
    words = " ".join(filter(None, (options, shlex.quote(base_name(path)), reading.string("arguments"))))
    changed = set_attribute(set_attribute(text, "Arguments", quoted(words)), "Executable", quoted(command))
    fixes = [] if reading.inside else [changed_part(f"Run with {command}", text, changed)]
    message = (
        f"{path} does not begin with #! and the name of what runs it, so a shell would read it as its own."
        f" Run it with {command}, or add that line."
    )
    reading.warning("no-interpreter-line", message, "executable", None, fixes)


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
    if version := reading.string("mwversion"):
        found.setdefault("EDG_MW_VERSION", version)
    return tuple(found.items())


def software(reading: Reading, inputs: Sandbox, sub_job_type: str) -> Software:
    """Check Modules, Container and PythonEnvironment and return them."""
    modules = reading.strings("modules")
    for name, node in modules:
        if not _MODULE.fullmatch(name):
            message = f"{name!r} is no name of a module; write one such as gcc/14."
            reading.error("module-name", message, "modules", node)
    found = Software(
        tuple(name for name, _ in modules), reading.string("container"), reading.string("pythonenvironment")
    )
    if found.container:
        found = replace(found, container=_container(reading, found.container, inputs))
    if found.python:
        found = replace(found, python=_packages(reading, found.python, inputs))
    if found.container and found.python:
        message = (
            "PythonEnvironment is built outside of the Container; leave out one, or put it into the image."
        )
        reading.error("attributes-exclude", message, "pythonenvironment")
    if found.container and sub_job_type not in ("", "plain"):
        message = "The processes of MPI are started outside of a Container; leave it out, or use Modules."
        reading.error("attributes-exclude", message, "container")
    return found


def _container(reading: Reading, image: str, inputs: Sandbox) -> str:
    if scheme(image):
        if not _ADDRESS.fullmatch(image):
            message = f"{image!r} is no address of an image; write one such as docker://debian:12."
            reading.error("address-form", message, "container")
    elif has_wildcard(image) or wrong_name(image):
        reading.error("container-image", "Container must name one image, without wildcards.", "container")
    elif not image.startswith("/"):
        image = base_name(image)
        if not inputs.brings(image):
            message = (
                f"{image} is not in InputSandbox; add it there, or write its path at the site or its address."
            )
            reading.error("container-image", message, "container")
    return image


def _packages(reading: Reading, path: str, inputs: Sandbox) -> str:
    key, name = "pythonenvironment", base_name(path)
    if name == "uv.lock":
        message = "uv.lock belongs to a whole project; export it: uv export -o requirements.txt."
        reading.error("python-environment", message, key)
    elif not name.endswith(_PACKAGES) and not ("pylock" in name and name.endswith(".toml")):
        message = f"{name} is no list of packages; name a requirements.txt, a pylock.toml or a conda .yml."
        reading.error("python-environment", message, key)
    elif wrong := wrong_name(path):
        reading.error(*wrong, key)
    elif not inputs.brings(name):
        message = f"{name} is not in InputSandbox, so the site could not build the environment; add it there."
        reading.error("python-environment", message, key)
    return name
