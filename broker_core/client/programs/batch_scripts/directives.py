"""The lines of a script that are meant for a batch system, and which system it is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from broker_core.client.programs.batch_scripts.ledger import Directive
from broker_core.client.programs.batch_scripts.translation import BatchDialect

SUBMIT_FILES = frozenset({".sub", ".submit", ".condor", ".jds"})
"""Endings of submit files of HTCondor; other systems' users call scripts so, too."""
_MARKS = {
    "#SBATCH": BatchDialect.SLURM,
    "#PBS": BatchDialect.PBS,
    "#$": BatchDialect.GRID_ENGINE,
    "#BSUB": BatchDialect.LSF,
}
_DIRECTIVE = re.compile(r"(#SBATCH|#PBS|#BSUB)(?=\s|$)|(#\$)(?=[ \t]*-)")
_ANY = re.compile(r"^(?:#(?:SBATCH|PBS|BSUB)[ \t]|#\$[ \t]*-[a-zA-Z@])", re.MULTILINE)
_ALMOST = re.compile(r"#{1,2}[ \t]*([A-Za-z]{3,7})[ \t]+--?[A-Za-z]")
_QUEUE = re.compile(r"^[ \t]*queue\b(?![ \t]*=)[^;]*$", re.IGNORECASE | re.MULTILINE)
_COMMAND = re.compile(
    r"^[ \t]*(?:executable|cmd|universe|docker_image|arguments)[ \t]*=", re.IGNORECASE | re.MULTILINE
)
_TO_THE_FIRST_COMMAND = frozenset({BatchDialect.SLURM, BatchDialect.PBS})
_OWN_COMMANDS = {
    BatchDialect.SLURM: "srun|sbatch|salloc|scontrol|squeue|sacct|sstat|scancel|sbcast",
    BatchDialect.PBS: "qsub|qstat|qdel|qalter|pbsdsh|pbs_tmrsh",
    BatchDialect.GRID_ENGINE: "qsub|qstat|qdel|qalter|qrsh|qconf",
    BatchDialect.LSF: "bsub|bjobs|bkill|bmod|blaunch|jsrun",
}
_BEFORE = r"(?:^|[;&|(`]|\b(?:then|do|else|exec|time|nohup|if|while)\s)\s*(?:\w+=\S*\s+)*"
MOST_LINES = 1000
"""Directives of one script that are read."""


@dataclass(frozen=True, slots=True)
class DirectiveLine:
    """A line that is a directive, or is meant to be one."""

    at: Directive
    rest: str = ""
    """What stands behind the mark."""
    fault: str = ""
    """Why it counts for nothing, as a sentence; empty if it counts."""
    meant: bool = False
    """It looks as if it was meant to count."""


def dialect_of(text: str, ending: str = "") -> BatchDialect | None:
    """Whose batch script a text is, from its beginning at least; None if it is none.

    `ending` is that of its file's name, with the dot. Of several systems that with the most lines has it.
    """
    counts: dict[BatchDialect, int] = {}
    for found in _ANY.finditer(text):
        mark = found[0].split()[0].split("-")[0]
        counts[_MARKS[mark]] = counts.get(_MARKS[mark], 0) + 1
    if counts:
        return max(counts, key=lambda dialect: counts[dialect])
    submit = ending.lower() in SUBMIT_FILES or _QUEUE.search(text)
    return BatchDialect.HTCONDOR if submit and _COMMAND.search(text) and not text.startswith("#!") else None


def directives(text: str, dialect: BatchDialect) -> Iterator[DirectiveLine]:
    """All directives of a script in their order, also those that the system would pass over."""
    commands = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            commands = commands or bool(line.strip())
            continue
        found = _DIRECTIVE.match(line)
        at = Directive(number, line)
        if found is None:
            yield from _almost(at, dialect)
            continue
        rest = line[found.end() :]
        if _MARKS[found[0]] is not dialect:
            other = _MARKS[found[0]].system
            yield DirectiveLine(at, rest, f"It is a line for {other}; those for {dialect.system} count here.")
        elif commands and dialect in _TO_THE_FIRST_COMMAND:
            yield DirectiveLine(at, rest, f"{dialect.system} reads no line behind the first command.")
        else:
            yield DirectiveLine(at, rest)


def _almost(at: Directive, dialect: BatchDialect) -> Iterator[DirectiveLine]:
    """A line that misses its mark by a letter, a blank or its case."""
    found = _ALMOST.match(at.text)
    mark = next(mark for mark, one in _MARKS.items() if one is dialect)
    if found is None or at.text.startswith("##"):
        return
    word, wanted = found[1].upper(), mark[1:]
    if word == wanted or sorted(word) == sorted(wanted) or _alike(word, wanted):
        fault = f"{dialect.system} takes it for a comment: its lines begin with {mark}."
        yield DirectiveLine(at, at.text, fault, meant=True)


def _alike(word: str, wanted: str) -> bool:
    return len(wanted) > 3 and difflib.SequenceMatcher(None, word, wanted).ratio() > 0.8


def submit_lines(text: str) -> list[Directive]:
    """The commands of a submit file, each with its continuation lines."""
    found: list[Directive] = []
    parts: list[str] = []
    begun, bracket = 0, False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not parts and not bracket and (not bare or bare.startswith("#")):
            continue
        begun = begun if parts else number
        goes_on = bare.endswith("\\")
        parts.append(bare.removesuffix("\\").strip())
        whole = " ".join(parts)
        bracket = bool(re.match(r"queue\b", whole, re.IGNORECASE)) and whole.count("(") > whole.count(")")
        if not goes_on and not bracket:
            found.append(Directive(begun, whole, whole))
            parts = []
    if parts:
        found.append(Directive(begun, " ".join(parts), " ".join(parts)))
    return found


def own_commands(text: str, dialect: BatchDialect) -> Iterator[tuple[Directive, str]]:
    """Commands of the batch system that the script itself calls: each once, where it does so first."""
    if dialect not in _OWN_COMMANDS:
        return
    calls = re.compile(rf"{_BEFORE}({_OWN_COMMANDS[dialect]})(?=\s|$)")
    known: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for found in calls.finditer(line):
            if found[1] not in known:
                known.add(found[1])
                yield Directive(number, line, found[1]), found[1]
