"""What a script asks for, collected option by option: nothing that was read is ever without an entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from broker_core.client.programs.batch_scripts.amounts import ArrayIndices
from broker_core.client.programs.batch_scripts.translation import (
    REQUIREMENTS,
    BatchDialect,
    DirectiveOutcome,
    Fate,
)
from broker_core.jdl.batch_options import refusals
from broker_core.jdl.resource_request import SITE_NAMES
from broker_core.jdl.syntax.write import value_text

_LONGEST = 120
"""Characters of a value in an account."""
_GROUPS = {
    "memory_total": "memory",
    "memory_node": "memory",
    "memory_cpu": "memory",
    "memory_gpu": "memory",
    "gpus": "gpus",
    "gpus_per_node": "gpus",
    "gpus_per_task": "gpus",
}
"""Figures of which one alone can hold."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A line, and the part of it that is dealt with."""

    line: int
    text: str
    option: str = ""


@dataclass(slots=True)
class _Entry:
    at: Directive
    fate: Fate
    names: tuple[str, ...] = ()
    why: str = ""
    shown: str = ""
    """What of the one attribute is due to this; empty: all."""


class Ledger:
    """Values for the description, and an entry for each option.

    What is asked for twice counts once, the last time, as batch systems do it; the entry of the earlier one
    says so.
    """

    def __init__(self, dialect: BatchDialect, name: str) -> None:
        self.dialect, self.name = dialect, name
        self.values: dict[str, Any] = {}
        """Attribute to value."""
        self.figures: dict[str, int] = {}
        """Numbers from which attributes are worked out: nodes, tasks, cpus_per_task, memory_total, ..."""
        self.environment: dict[str, str] = {}
        self.words: list[str] = []
        """For this batch system alone."""
        self.terms: list[str] = []
        """Conditions for Requirements."""
        self.indices: ArrayIndices | None = None
        self.files: list[str] = []
        """Files beside the script that travel along, as written."""
        self.interpreter = ""
        """What runs the script, where a directive names it."""
        self._entries: list[_Entry] = []
        self._owners: dict[str, _Entry] = {}

    def attribute(self, at: Directive, name: str, value: Any, why: str = "") -> None:
        """Give an attribute its value."""
        self._own(name, self._enter(at, Fate.ATTRIBUTE, (name,), why))
        self.values[name] = value

    def more(self, at: Directive, name: str, values: list[str], why: str = "") -> None:
        """Add to an attribute that is a list."""
        known = self.values.setdefault(name, [])
        known += [value for value in values if value not in known]
        self._enter(at, Fate.ATTRIBUTE, (name,), why).shown = value_text(values)

    def figure(
        self, at: Directive, key: str, number: int, *names: str, owner: str = "", why: str = ""
    ) -> None:
        """Note a number from which the attributes `names` are worked out at the end.

        Figures with the same `owner` exclude each other: the last one counts.
        """
        owner = owner or key
        self._own(owner, self._enter(at, Fate.REQUIREMENT, names, why))
        for other in [one for one in self.figures if one != key and owner == _GROUPS.get(one)]:
            del self.figures[other]
        self.figures[key] = number

    def remark(self, key: str, why: str) -> None:
        """Say more about the option that gave a figure, once all of them are known."""
        if (entry := self._owners.get(key)) is not None:
            entry.why = f"{entry.why} {why}".strip()

    def array(self, at: Directive, indices: ArrayIndices) -> None:
        """Make it a sweep over these numbers."""
        names = ("Parameters", "ParameterStart", "ParameterStep")
        self._own("array", self._enter(at, Fate.ATTRIBUTE, names, "One job for each number."))
        if self.indices is not None and self.indices.limit:
            self.figures.pop("at_once", None)
        self.indices = indices
        if indices.limit:
            self.figure(replace(at, option=f"%{indices.limit}"), "at_once", indices.limit, "MaxRunningJobs")

    def variables(self, at: Directive, variables: dict[str, str], why: str = "") -> None:
        """Set variables of the program."""
        self.environment |= variables
        shown = value_text([f"{name}={value}" for name, value in variables.items()])
        self._enter(at, Fate.ATTRIBUTE, ("Environment",), why).shown = shown

    def run_by(self, at: Directive, interpreter: str) -> None:
        """Have the script run by this program."""
        self._own("interpreter", self._enter(at, Fate.ATTRIBUTE, ("Executable", "Arguments"), ""))
        self.interpreter = interpreter

    def term(self, at: Directive, condition: str, why: str = "") -> None:
        """Have resources meet a condition."""
        if condition not in self.terms:
            self.terms.append(condition)
        self._enter(at, Fate.REQUIREMENT, ("Requirements",), why)

    def system_only(self, at: Directive, *words: str, why: str = "") -> None:
        """Give these words to sites of this batch system and to no others, where its words are passed on."""
        refused = next((reason for _, reason in refusals(self.dialect, words)), "")
        if refused:
            self.refuse(at, f"It is not passed on to {self.dialect.system}: {refused}.")
            return
        self.words += words
        entry = self._enter(at, Fate.SYSTEM_ONLY, ("BatchOptions",), why)
        entry.shown = f"[ {self.dialect} = {value_text(words)} ]"

    def leave_out(self, at: Directive, why: str) -> None:
        """Go on without it."""
        self._enter(at, Fate.LEFT_OUT, (), why)

    def refuse(self, at: Directive, why: str) -> None:
        """Say that it cannot be had."""
        self._enter(at, Fate.NOT_POSSIBLE, (), why)

    def _enter(self, at: Directive, fate: Fate, names: tuple[str, ...], why: str) -> _Entry:
        entry = _Entry(at, fate, names, why)
        self._entries.append(entry)
        return entry

    def _own(self, key: str, entry: _Entry) -> None:
        earlier, self._owners[key] = self._owners.get(key), entry
        if earlier is not None:
            same = earlier.at.option == entry.at.option
            words = "says the same again" if same else f"asks for {entry.at.option} instead"
            earlier.fate, earlier.names = Fate.LEFT_OUT, ()
            earlier.why = f"Line {entry.at.line} {words}, and the last one counts."

    def outcomes(self) -> tuple[DirectiveOutcome, ...]:
        """All entries in the order of their lines, once all values are known."""
        ordered = sorted(self._entries, key=lambda entry: entry.at.line)
        return tuple(self._outcome(entry) for entry in ordered)

    def _outcome(self, entry: _Entry) -> DirectiveOutcome:
        at, names = entry.at, [name for name in entry.names if name in self.values]
        fate = entry.fate
        if fate in (Fate.ATTRIBUTE, Fate.REQUIREMENT):
            fate = Fate.REQUIREMENT if REQUIREMENTS & {*names} else Fate.ATTRIBUTE
            if not names:
                fate = Fate.LEFT_OUT
        why = entry.why or ("It has no effect on one job." if fate is Fate.LEFT_OUT else "")
        if names and {*names} <= {*SITE_NAMES}:
            fate = Fate.SYSTEM_ONLY
            system = self.dialect.system
            why = why or f"It counts at sites of {system} that have it; elsewhere the job runs without."
        became = "; ".join(f"{name} = {_shortened(entry.shown or self._text(name))}" for name in names)
        return DirectiveOutcome(at.line, at.text, at.option or at.text, fate, became, why)

    def _text(self, name: str) -> str:
        value = self.values[name]
        return value.text if isinstance(value, JdlText) else value_text(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@dataclass(frozen=True, slots=True)
class JdlText:
    """A value that is no plain number, text or list: as JDL has it."""

    text: str
