"""What is wrong with a description, where, and how to put it right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from broker_core.jdl.limits import Budget

MOST = 100
"""So many diagnostics are kept of one description; the last one then says that there were more."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Replace the characters from `start` to `end` by `text`."""

    title: str
    start: int
    end: int
    text: str


def changed_part(title: str, before: str, after: str) -> Fix:
    """The fix that makes `after` of `before`: what lies between their equal beginnings and ends."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = shorter - start
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return Fix(title, start, len(before) - tail, after[start : len(after) - tail])


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error, warning or hint; the fields of `wire.checks.Diagnostic`."""

    severity: str
    """error, warning or hint."""
    code: str
    """Stable; see `codes.CODES`."""
    message: str
    attribute: str = ""
    line: int = 0
    """1-based; 0 if it concerns the whole description."""
    column: int = 0
    start: int = 0
    end: int = 0
    fixes: tuple[Fix, ...] = ()


class Where(TypedDict, total=False):
    """The place of a diagnostic and what would put it right; see `DiagnosticList.add`."""

    start: int
    end: int
    attribute: str
    fixes: Sequence[Fix]


@dataclass(slots=True)
class DiagnosticList:
    """Collects the diagnostics of one text."""

    text: str
    found: list[Diagnostic] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    """Attributes, in lower case, that are there but could not be read: they are not missing."""
    budget: Budget = field(default_factory=Budget)
    """What the constants of the text may still cost."""

    @property
    def full(self) -> bool:
        """There is no sense in looking for more."""
        return len(self.found) >= MOST

    @property
    def failed(self) -> bool:
        """There is an error among them."""
        return any(item.severity == "error" for item in self.found)

    def error(self, code: str, message: str, **where: Unpack[Where]) -> None:
        """Something that refuses the description; `where` as for `add`."""
        self.add("error", code, message, **where)

    def warning(self, code: str, message: str, **where: Unpack[Where]) -> None:
        """A slip that is tolerated, or a wish that is not carried out."""
        self.add("warning", code, message, **where)

    def hint(self, code: str, message: str, **where: Unpack[Where]) -> None:
        """Something worth a second look."""
        self.add("hint", code, message, **where)

    def add(
        self,
        severity: str,
        code: str,
        message: str,
        start: int = -1,
        end: int = -1,
        attribute: str = "",
        fixes: Sequence[Fix] = (),
    ) -> None:
        """Keep one diagnostic about the characters from `start` to `end`; -1: about the whole text."""
        if self.full:
            return
        if len(self.found) == MOST - 1:
            severity, code, fixes = "error", "too-many-errors", ()
            message = "There is more to report than is listed; put these right first."
        line = column = 0
        if start >= 0:
            line = self.text.count("\n", 0, start) + 1
            column = start - self.text.rfind("\n", 0, start)
        place = (max(start, 0), max(end, start, 0))
        self.found.append(Diagnostic(severity, code, message, attribute, line, column, *place, tuple(fixes)))

    def in_order(self) -> tuple[Diagnostic, ...]:
        """All diagnostics by place; those without a place first."""
        return tuple(sorted(self.found, key=lambda item: (item.line, item.column)))
