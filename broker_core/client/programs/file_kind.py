"""What a file is that is dropped, chosen or submitted: a description, program, script, data or a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from broker_core.client.programs.path_facts import PathFacts, facts_of
from broker_core.jdl.limits import DESCRIPTION_MAX

DESCRIPTIONS = frozenset({".jdl", ".sdl", ".classad"})
INTERPRETERS = {
    ".py": "python3",
    ".sh": "sh",
    ".bash": "bash",
    ".zsh": "zsh",
    ".pl": "perl",
    ".rb": "ruby",
    ".r": "Rscript",
    ".jl": "julia",
    ".js": "node",
    ".lua": "lua",
    ".awk": "awk -f",
    ".tcl": "tclsh",
}
"""File name ending (lower case) to the command that runs such a file."""
_BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_LIBRARY = re.compile(r"\.(so(\.\d+)*|a|o|dylib)$", re.IGNORECASE)
_DATA = frozenset(
    [
        *(".csv", ".tsv", ".txt", ".dat", ".json", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".md"),
        *(".log", ".in", ".h5", ".hdf5", ".npy", ".npz", ".root", ".fits", ".nc"),
    ]
)
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+([^\r\n]*))?")
_SAYS_SO = re.compile(
    r"^\s*\[?\s*(executable|jobtype|nodes|inputsandbox|stdoutput|arguments|type)\s*=(?!=)",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENTS = re.compile(r"/\*.*?(\*/|\Z)|//[^\n]*", re.DOTALL)


class ItemKind(StrEnum):
    """What one file or folder is to the desktop."""

    DESCRIPTION = "description"
    """Opens in the editor, or is submitted as it stands."""
    PROGRAM = "program"
    """A binary that runs by itself."""
    SCRIPT = "script"
    """Text that an interpreter runs."""
    DATA = "data"
    """Sent along with a job."""
    FOLDER = "folder"
    """Offers the descriptions in it."""
    UNUSABLE = "unusable"
    """Cannot be used; `why` says why."""


@dataclass(frozen=True, slots=True)
class Item:
    """One dropped file or folder, told apart."""

    facts: PathFacts
    kind: ItemKind
    interpreter: str = ""
    """What runs a script that cannot run by itself, as a command line; empty if it can."""
    why: str = ""
    """For an unusable one the reason, else what the kind was told by."""


def classify(facts: PathFacts) -> Item:
    """Tell what a dropped path is."""
    if facts.fault:
        return Item(facts, ItemKind.UNUSABLE, why=facts.fault)
    if facts.folder:
        return Item(facts, ItemKind.FOLDER)
    if facts.path.suffix.lower() in DESCRIPTIONS:
        return _description(facts)
    if facts.head.startswith(_BINARIES):
        return Item(facts, ItemKind.DATA if _LIBRARY.search(facts.path.name) else ItemKind.PROGRAM)
    if facts.head.startswith(b"#!"):
        return _by_shebang(facts)
    return _by_name(facts)


def interpreter_wanted(path: Path) -> str:
    """The command that has to run a file which is started by its name and cannot run so; empty if it can.

    A shell would take its text for its own. What is started is made executable, so that does not count.
    """
    item = classify(facts_of(path))
    first_line = item.facts.head.split(b"\n", 1)[0]
    if item.kind is not ItemKind.SCRIPT or (first_line.startswith(b"#!") and not first_line.endswith(b"\r")):
        return ""
    return "" if item.interpreter == "sh" else item.interpreter


def looks_like_description(text: str) -> bool:
    """True if a text reads like a description rather than like a script or prose."""
    bare = _COMMENTS.sub(" ", text[:65536])
    return (
        not bare.startswith("#!")
        and bool(_SAYS_SO.search(bare))
        and (";" in bare or "\n" not in bare.strip())
    )


def is_binary(head: bytes) -> bool:
    """True if these first bytes are no text."""
    return b"\0" in head


def _description(facts: PathFacts) -> Item:
    if is_binary(facts.head):
        return Item(facts, ItemKind.UNUSABLE, why="is named like a description, but it is a binary file")
    if facts.size > DESCRIPTION_MAX:
        return Item(
            facts,
            ItemKind.UNUSABLE,
            why=f"is far too large for a description ({DESCRIPTION_MAX:,} bytes at most)",
        )
    return Item(facts, ItemKind.DESCRIPTION)


def _by_shebang(facts: PathFacts) -> Item:
    line = facts.head.split(b"\n", 1)[0]
    match = _SHEBANG.match(line)
    if match is None:
        return Item(facts, ItemKind.DATA)
    runs_itself = facts.executable and not line.endswith(b"\r")
    return Item(facts, ItemKind.SCRIPT, "" if runs_itself else _interpreter(match))


def _interpreter(shebang: re.Match[bytes]) -> str:
    command = shebang[1].decode("utf-8", "replace")
    more = (shebang[2] or b"").decode("utf-8", "replace").strip()
    if command.rsplit("/", 1)[-1] == "env":
        return more.removeprefix("-S ").strip() or "sh"
    return f"{command} {more}".strip()


def _by_name(facts: PathFacts) -> Item:
    ending = facts.path.suffix.lower()
    if is_binary(facts.head):
        return Item(facts, ItemKind.DATA)
    if ending in INTERPRETERS:
        return Item(facts, ItemKind.SCRIPT, INTERPRETERS[ending])
    if facts.executable and ending not in _DATA:
        return Item(facts, ItemKind.SCRIPT, "sh")
    whole = facts.size <= len(facts.head) and facts.size > 0
    if whole and looks_like_description(facts.head.decode("utf-8", "replace")):
        return Item(facts, ItemKind.DESCRIPTION)
    return Item(facts, ItemKind.DATA)
