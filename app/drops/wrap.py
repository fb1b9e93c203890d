"""A description around a program or script, so that it can run as it was dropped. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from app.description.values import list_source, string_source
from app.drops.classify import Item, ItemKind

STDOUT, STDERR = "std.out", "std.err"
_PLAIN = re.compile(r"[^\w.+-]+")


def describe(item: Item, data: Sequence[Path] = (), cpus: int = 1) -> str:
    """The description that runs a program or script with `data` files beside it.

    A file that can run by itself is the executable; one that cannot is the first argument of its interpreter.
    """
    name = item.facts.path.name
    if item.interpreter:
        executable, *options = shlex.split(item.interpreter)
        words = [*options, f"./{name}" if name.startswith("-") else name]
    else:
        executable, words = name, []
    files = [str(item.facts.path), *map(str, data)]
    return _written(_job_name(name), executable, shlex.join(words), files, cpus)


def describe_data(data: Sequence[Path]) -> str:
    """A beginning of a description that sends these files: what runs on them is still to be said."""
    return _written("", "", "", list(map(str, data)), 1)


def pinned(text: str, site: str) -> str:
    """The same description for one site alone; written into it, so that it can be seen and changed."""
    return f"{text}Requirements = other.GlueSiteName == {string_source(site)};\n" if site else text


def script_from_text(text: str) -> str:
    """Dropped text as a script: a first line that names the shell is added where there is none."""
    body = text.replace("\r\n", "\n")
    body = body if body.endswith("\n") else body + "\n"
    return body if body.startswith("#!") else "#!/bin/sh\n" + body


def _job_name(name: str) -> str:
    return _PLAIN.sub("-", Path(name).stem).strip("-.") or "job"


def _written(name: str, executable: str, arguments: str, files: list[str], cpus: int) -> str:
    lines = [
        f"JobName = {string_source(name)};" if name else "",
        f"Executable = {string_source(executable)};",
        f"Arguments = {string_source(arguments)};" if arguments else "",
        f"NodeNumber = {cpus};" if cpus > 1 else "",
        f"StdOutput = {string_source(STDOUT)};",
        f"StdError = {string_source(STDERR)};",
        f"InputSandbox = {list_source(files)};" if files else "",
        f"OutputSandbox = {list_source([STDOUT, STDERR])};",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def runnable(item: Item) -> bool:
    """True for what can be wrapped in a description."""
    return item.kind in (ItemKind.PROGRAM, ItemKind.SCRIPT)
