"""Requirements, clause by clause, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from broker_core.jdl.evaluate import evaluate
from broker_core.jdl.glue import GLUE
from broker_core.jdl.operators import truth
from broker_core.jdl.spelling import closest
from broker_core.jdl.tree import UNDEFINED, Ad, Binary, Call, Expression, Literal, Reference, walk
from broker_core.jdl.write import expression, value_text

_SHOWN = 4
"""Values named in one explanation, at most."""
_ENDINGS = {"true": "", "false": "", "undefined": "so the clause is undefined", "error": "which is an error"}


@dataclass(frozen=True, slots=True)
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


def split(node: Expression | None) -> list[Expression]:
    """The clauses of Requirements: what stands between the `&&` at the top."""
    waiting = [node] if node is not None else []
    found: list[Expression] = []
    while waiting:
        current = waiting.pop()
        if isinstance(current, Binary) and current.operator == "&&":
            waiting += [current.right, current.left]
        else:
            found.append(current)
    return found


def explained(
    node: Expression, ad: Ad, values: Mapping[str, Any], quiet: Mapping[str, Any], now: float | None
) -> Clause:
    """One clause at one resource; `quiet` are the values that the resource would have when idle."""
    value = word(evaluate(node, ad, values, now=now))
    later = value != "true" and evaluate(node, ad, quiet, now=now) is True
    return Clause(expression(node), value, "requirements", _in_words(node, values, value), later)


def word(value: Any) -> str:
    """The value of a condition as a word."""
    held = truth(value)
    return {True: "true", False: "false"}.get(held, "undefined" if held is UNDEFINED else "error")


def _in_words(node: Expression, values: Mapping[str, Any], value: str) -> str:
    names = list(dict.fromkeys(read_of_resource(node)))
    if not names:
        return f"{expression(node)} is {value} whatever the resource"
    missing = [name for name in names if name.lower() not in values]
    if missing:
        return _not_published(missing, value)
    if isinstance(node, Call) and node.function.lower() in ("member", "ismember") and len(names) == 1:
        return _membership(node, names[0], value)
    met = ", ".join(f"{name} is {_short(values[name.lower()])}" for name in names[:_SHOWN])
    wanted = _wanted(node)
    return f"{met}; {wanted} is wanted" if wanted else f"{met}" + _ending(value)


def _ending(value: str) -> str:
    return f", {_ENDINGS[value]}" if _ENDINGS[value] else ""


def _membership(node: Call, name: str, value: str) -> str:
    wanted = expression(node.arguments[0]) if node.arguments else "?"
    return f"{name} {'has' if value == 'true' else 'does not have'} {wanted}"


def _not_published(missing: list[str], value: str) -> str:
    name = missing[0]
    meant = closest(name.lower(), tuple(GLUE))
    hint = f" (did you mean {GLUE[meant].name}?)" if meant and meant != name.lower() else ""
    others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"{name}{others} is not published here{hint}" + _ending(value)


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
    text = value_text(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
