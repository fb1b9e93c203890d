"""Which fields the form has, in which section, and what each is for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QT_TRANSLATE_NOOP


class FieldKind(StrEnum):
    """How a field is filled in, and so how its value is written."""

    TEXT = "text"
    """One line, written as a string."""
    PROGRAM = "program"
    """One line with a button to choose a file, written as a string."""
    EXPRESSION = "expression"
    """One line, written as it stands."""
    NUMBER = "number"
    """A whole number, 1 or more."""
    AMOUNT = "amount"
    """A whole number; 0 stands for an absent attribute."""
    NAME = "name"
    """A name, chosen of those that the sites offer or written."""
    NAMES = "names"
    """Names with commas, chosen of those that the sites offer or written; written as a list."""
    CHOICE = "choice"
    """One of a few words, written as a string."""
    TIME = "time"
    """A time such as 90m or 2h, written as a string."""
    SITE = "site"
    """One of the sites, written as a requirement; or any."""
    SWITCH = "switch"
    """True, or not written at all."""
    SENT = "sent"
    """Files to send, with their sizes and the total."""
    LINES = "lines"
    """A list of strings, one on a line."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One field: the attribute it stands for, its label, and a short help."""

    attribute: str
    label: str
    help: str
    kind: FieldKind = FieldKind.TEXT
    choices: tuple[tuple[str, str], ...] = ()
    """(value, label); an empty value means that the attribute is not written."""
    hint: str = ""
    """Shown in the empty field."""
    unit: str = ""
    """Behind a number."""

    @property
    def key(self) -> str:
        """Name of the field in the form: that of its attribute, of which the site is a second view."""
        return "Site" if self.kind is FieldKind.SITE else self.attribute


@dataclass(frozen=True, slots=True)
class Section:
    """Fields that belong together."""

    title: str
    fields: tuple[FormField, ...]


def _t(text: str) -> str:
    return str(QT_TRANSLATE_NOOP("Form", text))


SECTIONS: tuple[Section, ...] = (
    Section(
        _t("What to run"),
        (
            FormField(
                "Executable",
                _t("Program"),
                _t("A script or program of yours, or one that is there, such as /bin/echo."),
                FieldKind.PROGRAM,
                hint=_t("choose one, or drop it here"),
            ),
            FormField(
                "Arguments",
                _t("Arguments"),
                _t("Words as on a command line; nothing is expanded. _PARAM_ takes each value of a sweep."),
            ),
            FormField("JobName", _t("Name"), _t("Shown in the jobs table."), hint=_t("the program's name")),
        ),
    ),
    Section(
        _t("Files"),
        (
            FormField(
                "InputSandbox", _t("Input files"), _t("Files that travel with the job."), FieldKind.SENT
            ),
        ),
    ),
    Section(
        _t("Needs"),
        (
            FormField(
                "CpuNumber",
                _t("CPUs"),
                _t("Of one node for a program; processes of MPI go where CPUs are free."),
                FieldKind.NUMBER,
            ),
            FormField(
                "MemoryPerNode",
                _t("Memory"),
                _t("On each node that the job gets."),
                FieldKind.AMOUNT,
                hint=_t("site's default"),
                unit=_t("MB"),
            ),
            FormField(
                "WallTime",
                _t("Time"),
                _t("It is ended after that: 90m, 2h or 01:30:00."),
                FieldKind.TIME,
                hint=_t("no limit"),
            ),
            FormField(
                "GPUNumber",
                _t("GPUs"),
                _t("On each node that the job gets."),
                FieldKind.AMOUNT,
                hint=_t("none"),
            ),
            FormField(
                "GPUModel",
                _t("GPU model"),
                _t("One of those that your sites have, or a name such as a100."),
                FieldKind.NAME,
                hint=_t("any model"),
            ),
            FormField(
                "HostNumber",
                _t("Nodes"),
                _t("The CPUs are spread evenly over them."),
                FieldKind.AMOUNT,
                hint=_t("one, or as MPI needs"),
            ),
            FormField("Requirements", _t("Where"), _t("Any site, or this one alone."), FieldKind.SITE),
            FormField(
                "Account",
                _t("Account"),
                _t("The project that is charged at the site."),
                FieldKind.NAME,
                hint=_t("site's default"),
            ),
            FormField(
                "QueueName",
                _t("Queue"),
                _t("Queues of other names are not used then."),
                FieldKind.NAME,
                hint=_t("any queue"),
            ),
            FormField(
                "QOS",
                _t("QOS"),
                _t("The quality of service: how far ahead, how long and how much."),
                FieldKind.NAME,
                hint=_t("site's default"),
            ),
        ),
    ),
)
"""The form from top to bottom."""

NEEDED = next(one for one in SECTIONS if one.title == _t("Needs"))
"""The section that a preset fills in."""

MORE: tuple[Section, ...] = (
    Section(
        _t("Nodes"),
        (
            FormField(
                "SMPGranularity",
                _t("CPUs a node"),
                _t("At least so many of them on each node, instead of a number of nodes."),
                FieldKind.AMOUNT,
                hint=_t("as they are free"),
            ),
            FormField(
                "MemoryPerCPU",
                _t("CPU memory"),
                _t("For each CPU, instead of the memory of a node."),
                FieldKind.AMOUNT,
                hint=_t("site's default"),
                unit=_t("MB"),
            ),
            FormField(
                "ScratchSize",
                _t("Scratch space"),
                _t("On the own disk of each node."),
                FieldKind.AMOUNT,
                hint=_t("site's default"),
                unit=_t("MB"),
            ),
            FormField(
                "WholeNodes",
                _t("Whole nodes"),
                _t("No other job runs on the nodes at the same time."),
                FieldKind.SWITCH,
            ),
            FormField(
                "Features",
                _t("Features"),
                _t("Words of the site for such nodes; each node has all of them."),
                FieldKind.NAMES,
                hint=_t("any node"),
            ),
            FormField(
                "Licenses",
                _t("Licenses"),
                _t("Those that the batch system counts; matlab:2 for two of them."),
                FieldKind.NAMES,
                hint=_t("none"),
            ),
            FormField(
                "Reservation",
                _t("Reservation"),
                _t("Nodes that are kept for you at the site under this name."),
                FieldKind.NAME,
                hint=_t("none"),
            ),
            FormField(
                "BatchOptions",
                _t("Batch options"),
                _t("Further words for the batch systems of one kind."),
                FieldKind.EXPRESSION,
                hint='[ slurm = {"--nice=5"} ]',
            ),
            FormField(
                "IgnoreUnsupported",
                _t("Also without"),
                _t("Runs also where GPUs, accounts and the like are unknown, without them."),
                FieldKind.SWITCH,
            ),
        ),
    ),
    Section(
        _t("Software"),
        (
            FormField(
                "Modules",
                _t("Modules"),
                _t("Environment modules of the site, in the order in which they are loaded."),
                FieldKind.NAMES,
                hint=_t("none"),
            ),
            FormField(
                "Container",
                _t("Container"),
                _t("Image: a path at the site, one of the input files, or an address."),
                hint=_t("none"),
            ),
            FormField(
                "PythonEnvironment",
                _t("Python"),
                _t("Input file that lists packages: requirements.txt, a lock, or environment.yml."),
                hint=_t("that of the site"),
            ),
        ),
    ),
    Section(
        _t("Sweep"),
        (
            FormField(
                "Parameters",
                _t("Values"),
                _t("One job for each, in place of _PARAM_: a list, or a number up to which is counted."),
                FieldKind.EXPRESSION,
                hint='{"a", "b"}',
            ),
            FormField(
                "MaxRunningJobs",
                _t("At a time"),
                _t("So many of its jobs; the others wait for their turn."),
                FieldKind.AMOUNT,
                hint=_t("as many as can"),
            ),
        ),
    ),
    Section(
        _t("Results"),
        (
            FormField(
                "OutputSandbox",
                _t("Files"),
                _t("One name on a line; * and ? are allowed."),
                FieldKind.LINES,
            ),
        ),
    ),
    Section(
        _t("Matching"),
        (
            FormField(
                "Requirements",
                _t("Requirements"),
                _t("What a resource must have; empty: anywhere."),
                FieldKind.EXPRESSION,
                hint="other.GlueHostMainMemoryRAMSize >= 1024",
            ),
            FormField(
                "Rank",
                _t("Rank"),
                _t("Which of them first: higher is better."),
                FieldKind.EXPRESSION,
                hint="other.GlueHostFreeCPUs",
            ),
        ),
    ),
    Section(
        _t("Kind"),
        (
            FormField(
                "JobType",
                _t("Kind"),
                _t("Parallel jobs use several CPUs at the same time."),
                FieldKind.CHOICE,
                (("", _t("Normal")), ("Parallel", _t("Parallel"))),
            ),
            FormField(
                "SubJobType",
                _t("Parallel by"),
                _t("The library a parallel job was built with."),
                FieldKind.CHOICE,
                (
                    ("", _t("None")),
                    ("openmpi", "Open MPI"),
                    ("mpich", "MPICH"),
                    ("pacx-mpi", "PACX-MPI"),
                    ("mpich-g2", "MPICH-G2"),
                    ("plain", _t("Plain")),
                ),
            ),
            FormField(
                "Interactive",
                _t("Interactive"),
                _t("You steer it while it runs; it starts at once."),
                FieldKind.SWITCH,
            ),
        ),
    ),
    Section(
        _t("Streams"),
        (
            FormField("StdInput", _t("Input"), _t("File read as standard input."), hint=_t("none")),
            FormField("StdOutput", _t("Output"), _t("File that takes what it prints."), hint="std.out"),
            FormField("StdError", _t("Errors"), _t("File that takes error messages."), hint="std.err"),
        ),
    ),
    Section(
        _t("Environment"),
        (FormField("Environment", _t("Variables"), _t("NAME=value, one on a line."), FieldKind.LINES),),
    ),
)
"""What few jobs need: folded away at first."""
