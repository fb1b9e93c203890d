"""Arguments: quotes, signs that only a shell understands, paths of files that lie elsewhere at the site."""

from __future__ import annotations

import re
import shlex
from posixpath import normpath

from broker_core.jdl.checks.sandboxes import Sandbox
from broker_core.jdl.diagnostics import changed_part
from broker_core.jdl.names import base_name
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.tokens import quoted

_UNQUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_SHELL = re.compile(r"(?:^|\s)([0-9]?>>?|<|\||&&?)(?:\s|$|&[0-9])")


def arguments(reading: Reading, inputs: Sandbox, name: str = "Arguments") -> str:
    """Check the arguments in the attribute `name`, and return them."""
    key = name.lower()
    text = reading.string(key)
    if found := _SHELL.search(_UNQUOTED.sub("", text)):
        message = (
            f"`{found[1]}` in {name} goes to the program as it is: no shell reads it. Name StdInput or"
            " StdOutput, or run a script."
        )
        reading.hint("shell-sign", message, key)
    try:
        words = shlex.split(text)
    except ValueError:
        message = f"A quote or backslash in {name} is not closed; close it, or put a backslash before it."
        reading.error("arguments-unbalanced", message, key)
    else:
        _folders(reading, name, text, words, inputs)
    return text


def _folders(reading: Reading, attribute: str, text: str, words: list[str], inputs: Sandbox) -> None:
    """A file that is sent along leaves its folder here, which the program would look for in vain."""
    sent = {base_name(entry): entry for entry in inputs.entries}
    for word in words:
        path = word.rpartition("=")[2] if word.startswith("-") else word
        name = base_name(path)
        if name not in sent or not _ends_with(sent[name], path):
            continue
        there = inputs.renamed.get(name, name)
        changed = set_attribute(reading.findings.text, attribute, quoted(text.replace(path, there)))
        can_be_changed = path in text and not reading.inside
        fixes = [changed_part(f"Write {there}", reading.findings.text, changed)] if can_be_changed else []
        message = f"{path} is sent along without its folder, so the job finds it as {there}; write it so."
        reading.warning("argument-in-folder", message, attribute.lower(), None, fixes)
        return


def _ends_with(entry: str, path: str) -> bool:
    """True if a relative path with a folder in it names this file."""
    inner = normpath(path)
    if "/" not in inner or inner.startswith(("/", "../")):
        return False
    return f"/{normpath(entry)}".endswith(f"/{inner}")
