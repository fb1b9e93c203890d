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
    CHOICE = "choice"
    """One of a few words, written as a string."""
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
                _t("A file to send along, or a program that is there."),
                FieldKind.PROGRAM,
            ),
            FormField("Arguments", _t("Arguments"), _t("Words as on a command line; nothing is expanded.")),
            FormField("JobName", _t("Name"), _t("Shown in the jobs table."), hint=_t("the program's name")),
        ),
    ),
    Section(
        _t("Files"),
        (
            FormField("InputSandbox", _t("Sent"), _t("Files that travel with the job."), FieldKind.SENT),
            FormField(
                "OutputSandbox",
                _t("Brought back"),
                _t("One name on a line; * and ? are allowed."),
                FieldKind.LINES,
            ),
        ),
    ),
    Section(
        _t("Where"),
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
        _t("CPUs and kind"),
        (
            FormField(
                "JobType",
                _t("Kind"),
                _t("Parallel jobs use several CPUs at the same time."),
                FieldKind.CHOICE,
                (("", _t("Normal")), ("Parallel", _t("Parallel"))),
            ),
            FormField("NodeNumber", _t("CPUs"), _t("Fixed while the job runs."), FieldKind.NUMBER),
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
"""The form from top to bottom."""
