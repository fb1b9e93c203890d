"""What became of a batch script: its description, and an account of every directive in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

REQUIREMENTS = frozenset(
    [
        *("NodeNumber", "HostNumber", "SMPGranularity", "WholeNodes", "GPUNumber", "GPUModel"),
        *("MemoryPerNode", "MemoryPerCPU", "ScratchSize", "QueueName", "Account", "QOS"),
        *("Features", "Licenses", "Reservation", "Requirements"),
    ]
)
"""Attributes that a site has to meet; all others say what the job is."""


class BatchDialect(StrEnum):
    """Whose directives a script has; the value is the system's name in `BatchOptions`."""

    SLURM = "slurm"
    PBS = "pbs"
    GRID_ENGINE = "sge"
    LSF = "lsf"
    HTCONDOR = "condor"

    @property
    def system(self) -> str:
        """The batch system's name as its makers write it."""
        return _SYSTEMS[self]


_SYSTEMS = {
    BatchDialect.SLURM: "Slurm",
    BatchDialect.PBS: "PBS",
    BatchDialect.GRID_ENGINE: "Grid Engine",
    BatchDialect.LSF: "LSF",
    BatchDialect.HTCONDOR: "HTCondor",
}


class Fate(StrEnum):
    """What one option of a directive became."""

    ATTRIBUTE = "attribute"
    """Part of what the job is, at any site."""
    REQUIREMENT = "requirement"
    """What a site must have, so that the job runs there."""
    SYSTEM_ONLY = "this batch system only"
    """A name of its sites (`NamesOf`), or words in `BatchOptions`: it counts there and nowhere else."""
    LEFT_OUT = "left out"
    """The job runs without it; `why` says what holds instead."""
    NOT_POSSIBLE = "not possible"
    """The job would be another one without it: somebody has to decide."""


@dataclass(frozen=True, slots=True)
class DirectiveOutcome:
    """What became of one option of a directive, or of a line that could not be read as one."""

    line: int
    """Counted from 1."""
    text: str
    """The whole line as written."""
    option: str
    """The part of it that this is about."""
    fate: Fate
    became: str = ""
    """Statements of the description, such as `HostNumber = 2`; empty: none."""
    why: str = ""
    """A sentence where the fate does not speak for itself."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A batch script as a description, line by line."""

    dialect: BatchDialect
    name: str
    """Of the script's file."""
    description: str
    """The text in JDL."""
    outcomes: tuple[DirectiveOutcome, ...]
    """In the order of the lines; every directive has at least one."""
    attributes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Values of the description by their attributes."""

    @property
    def refusals(self) -> tuple[DirectiveOutcome, ...]:
        """What stands in the way of a submission that nobody has looked at."""
        return tuple(one for one in self.outcomes if one.fate is Fate.NOT_POSSIBLE)

    @property
    def changed(self) -> tuple[DirectiveOutcome, ...]:
        """What did not simply carry over: worth a word before the job is sent."""
        carried = (Fate.ATTRIBUTE, Fate.REQUIREMENT)
        return tuple(one for one in self.outcomes if one.fate not in carried)

    def summary(self) -> str:
        """How many options met which fate, in words."""
        counts = {fate: sum(one.fate is fate for one in self.outcomes) for fate in Fate}
        words = {
            "carried over": counts[Fate.ATTRIBUTE] + counts[Fate.REQUIREMENT],
            f"for {self.dialect.system} only": counts[Fate.SYSTEM_ONLY],
            "left out": counts[Fate.LEFT_OUT],
            "not possible": counts[Fate.NOT_POSSIBLE],
        }
        return ", ".join(f"{count} {word}" for word, count in words.items() if count) or "no directives"
