"""What a file is that is dropped, chosen or submitted: a description, program, script, data or a folder."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from broker_core.client.programs.batch_scripts.directives import dialect_of
from broker_core.client.programs.batch_scripts.translation import BatchDialect
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
    BATCH_SCRIPT = "batch script"
    """A script or submit file for a batch system, whose directives become a description."""
    NOTEBOOK = "notebook"
    """A Jupyter notebook, whose cells are run in their order."""
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
    """What runs a script or notebook that cannot run by itself, as a command line; empty if it can."""
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
    if (script := _batch_script(facts)) is not None:
        return script
    if facts.head.startswith(b"#!"):
        return _by_shebang(facts)
    if facts.path.suffix.lower() == ".ipynb" and not is_binary(facts.head):
        return Item(facts, ItemKind.NOTEBOOK, _notebook_call(facts.path))
    return _by_name(facts)


def dialect(item: Item) -> BatchDialect | None:
    """Whose batch script a file is, as far as its beginning says; None if it is none."""
    if is_binary(item.facts.head):
        return None
    return dialect_of(item.facts.head.decode("utf-8", "replace"), item.facts.path.suffix)


def _batch_script(facts: PathFacts) -> Item | None:
    found = dialect(Item(facts, ItemKind.DATA))
    if found is None or facts.path.suffix.lower() in _DATA:
        return None
    if found is BatchDialect.HTCONDOR:
        return Item(facts, ItemKind.BATCH_SCRIPT)
    if facts.head.startswith(b"#!"):
        return Item(facts, ItemKind.BATCH_SCRIPT, _by_shebang(facts).interpreter)
    ending = facts.path.suffix.lower()
    return Item(facts, ItemKind.BATCH_SCRIPT, "bash" if ending == ".sh" else INTERPRETERS.get(ending, "bash"))


def _notebook_call(path: Path) -> str:
    """The result has a name of its own: what was sent does not come home."""
    options = "--to notebook --execute --ExecutePreprocessor.timeout=-1"
    return f"jupyter nbconvert {options} {shlex.quote(f'--output={executed_name(path)}')}"


def executed_name(path: Path) -> str:
    """Name of a notebook with the results of its cells."""
    return f"{path.stem}-executed.ipynb"


def interpreter_wanted(path: Path) -> str:
    """The command that has to run a file which is started by its name and cannot run so; empty if it can.

    A shell would take its text for its own. What is started is made executable, so that does not count.
    """
    item = classify(facts_of(path))
    first_line = item.facts.head.split(b"\n", 1)[0]
    runs = (ItemKind.SCRIPT, ItemKind.BATCH_SCRIPT, ItemKind.NOTEBOOK)
    if item.kind not in runs or (first_line.startswith(b"#!") and not first_line.endswith(b"\r")):
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
