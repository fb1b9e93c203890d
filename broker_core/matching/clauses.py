"""Requirements, clause by clause, in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from broker_core.jdl.glue.attributes import GLUE
from broker_core.jdl.spelling import closest
from broker_core.jdl.syntax.tree import UNDEFINED, Binary, Call, Expression, Literal, Reference, walk
from broker_core.jdl.syntax.write import expression, value_text
from broker_core.jobs.immutable import immutable

_SHOWN = 4
"""Values named in one explanation, at most."""
_LONGEST = 60
"""Characters of a value that are shown."""
VALUES = ("false", "true", "undefined", "error")
"""The words for values of conditions, in the order of `arrays`."""
_ENDINGS = {"true": "", "false": "", "undefined": "so the clause is undefined", "error": "which is an error"}


@immutable
class Clause:
    """One condition at one resource; the fields of `wire.matches.Clause`."""

    text: str
    value: str
    """true, false, undefined or error."""
    origin: str = "requirements"
    explanation: str = ""
    now_only: bool = False
    """It does not hold now, but would at the same resource when idle."""

    @property
    def holds(self) -> bool:
        """It does not stand in the way."""
        return self.value == "true"


class Wording:
    """How one clause of Requirements is explained; made once for all resources."""

    __slots__ = ("_member", "_names", "_wanted", "text")

    def __init__(self, node: Expression) -> None:
        self.text = expression(node)
        names = dict.fromkeys(read_of_resource(node))
        self._names = [(name, name.lower()) for name in names]
        self._wanted = _wanted(node)
        self._member = ""
        if isinstance(node, Call) and node.function.lower() in ("member", "ismember") and len(names) == 1:
            self._member = expression(node.arguments[0]) if node.arguments else "?"

    @property
    def names(self) -> list[str]:
        """Lower-case names of the resource's attributes that it reads by name."""
        return [lower for _, lower in self._names]

    def explained(self, value_of: Callable[[str], Any], value: str) -> str:
        """Why the clause has this value where attributes, by lower-case name, have these."""
        if not self._names:
            return f"{self.text} is {value} whatever the resource"
        met = [(name, value_of(lower)) for name, lower in self._names]
        missing = [name for name, one in met if one is UNDEFINED]
        if missing:
            return _not_published(missing, value)
        if self._member:
            return f"{met[0][0]} {'has' if value == 'true' else 'does not have'} {self._member}"
        told = ", ".join(f"{name} is {_short(one)}" for name, one in met[:_SHOWN])
        return f"{told}; {self._wanted} is wanted" if self._wanted else f"{told}{_ending(value)}"


def _ending(value: str) -> str:
    return f", {_ENDINGS[value]}" if _ENDINGS[value] else ""


def _not_published(missing: list[str], value: str) -> str:
    others = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
    return f"{missing[0]}{others} not published here{_hint(missing[0].lower())}" + _ending(value)


@lru_cache(maxsize=1024)
def _hint(name: str) -> str:
    meant = None if name in GLUE else closest(name, tuple(GLUE))
    return f" (did you mean {GLUE[meant].name}?)" if meant else ""


def _wanted(node: Expression) -> str:
    """`>= 1024` for a comparison of one attribute of the resource with something else."""
    if not isinstance(node, Binary) or node.operator not in ("==", "!=", "<", "<=", ">", ">=", "=?=", "=!="):
        return ""
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    if _is_read(node.left) and not _is_read(node.right):
        return f"{node.operator} {expression(node.right)}"
    if _is_read(node.right) and isinstance(node.left, Literal):
        return f"{turned.get(node.operator, node.operator)} {expression(node.left)}"
    return ""


def _is_read(node: Expression) -> bool:
    return isinstance(node, Reference) and isinstance(node.scope, Reference) and _is_other(node.scope)


def _is_other(scope: Reference) -> bool:
    return scope.scope is None and scope.name.lower() in ("other", "target")


def read_of_resource(node: Expression) -> list[str]:
    """Names of the resource's attributes that an expression reads."""
    return [part.name for part in walk(node) if isinstance(part, Reference) and _is_read(part)]


def _short(value: Any) -> str:
    if type(value) is int:
        return str(value)
    if isinstance(value, list) and len(value) > _LONGEST:
        return f"{_short(value[:_LONGEST])[: _LONGEST - 3]}..."
    text = value_text(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
