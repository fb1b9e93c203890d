"""The description while it is checked: its values as plain ones, and the findings about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from broker_core.jdl.diagnostics import DiagnosticList, Fix
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.limits import Limits
from broker_core.jdl.syntax.tree import Ad, Entry, Expression, ListOf, Literal


@dataclass(frozen=True, slots=True)
class FileFact:
    """What the client found on its disk for one entry of InputSandbox."""

    size: int
    """Bytes; of a wildcard, of all files that it stands for."""
    readable: bool = True
    interpreter: str = ""
    """Command that has to run it, where it is the Executable and cannot run by itself."""


@dataclass(slots=True)
class Reading:
    """One ad under check. Getters give a neutral value where an attribute is absent or of a wrong type:
    the type has then been complained about already."""

    ad: Ad
    findings: DiagnosticList
    files: Mapping[str, FileFact] | None = None
    limits: Limits = field(default_factory=Limits)
    inside: str = ""
    """Name of the workflow node that this is; empty for the description itself."""
    inherited: AbstractSet[str] = frozenset()
    """Attributes that a node has from the whole, where they are complained about."""

    def has(self, key: str) -> bool:
        """True if the attribute (lower case) is given."""
        return key in self.ad.entries

    def value(self, key: str) -> object:
        """Its constant value; None if absent or not constant."""
        entry = self.ad.entries.get(key)
        if entry is None:
            return None
        node = entry.value
        return node.value if type(node) is Literal else constant(node, self.ad, self.findings.budget)

    def string(self, key: str) -> str:
        """A string; empty if absent."""
        value = self.value(key)
        return value if isinstance(value, str) else ""

    def integer(self, key: str) -> int | None:
        """A whole number; None if absent."""
        value = self.value(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def true(self, key: str) -> bool:
        """A truth value; False if absent."""
        return self.value(key) is True

    def strings(self, key: str) -> list[tuple[str, Expression]]:
        """The strings of a list, or a single one, each with its place."""
        entry = self.ad.entries.get(key)
        if entry is None:
            return []
        node = entry.value
        items: Sequence[Expression] = node.items if type(node) is ListOf else (node,)
        found = []
        for item in items:
            value = item.value if type(item) is Literal else constant(item, self.ad, self.findings.budget)
            if isinstance(value, str):
                found.append((value, item))
        return found

    def node(self, key: str) -> Expression | None:
        """The expression as written."""
        entry = self.ad.entries.get(key)
        return entry.value if entry else None

    def error(
        self, code: str, message: str, key: str, at: Expression | None = None, fixes: Sequence[Fix] = ()
    ) -> None:
        """Refuse because of one attribute; `at` is the place if it is not the whole value."""
        self._tell("error", code, message, key, at, fixes)

    def warning(
        self, code: str, message: str, key: str, at: Expression | None = None, fixes: Sequence[Fix] = ()
    ) -> None:
        """A slip, or a wish that is not carried out."""
        self._tell("warning", code, message, key, at, fixes)

    def hint(
        self, code: str, message: str, key: str, at: Expression | None = None, fixes: Sequence[Fix] = ()
    ) -> None:
        """Worth a second look."""
        self._tell("hint", code, message, key, at, fixes)

    def _tell(
        self, severity: str, code: str, message: str, key: str, at: Expression | None, fixes: Sequence[Fix]
    ) -> None:
        if key in self.inherited:
            return
        entry = self.ad.entries.get(key)
        place = at or (entry.value if entry else None)
        start, end = (place.start, place.end) if place else (-1, -1)
        if self.inside:
            message = f"Node {self.inside}: {message}"
        name = entry.name if entry else key
        self.findings.add(severity, code, message, start, end, name, fixes)


def whole(entry: Entry) -> tuple[int, int]:
    """The place of a statement, from its name to its end."""
    return entry.start, entry.end
