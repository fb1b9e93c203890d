"""Computing elements handled as text: joined with commas, or taken apart at their colon."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module

_ELEMENT = re.compile(r"(?:^|_)(?:ces?|ce_ids?|ce_text|elements?|fence|resources|place|site|sites)$")
"""Names that hold ids of computing elements, or several of them in one text."""
_EXEMPT = {
    "broker_core/jobs/placement.py": "the one module that reads an id",
}
_TAKING_APART = {"partition", "rpartition", "split", "rsplit"}


def ids_as_text(modules: Sequence[Module]) -> list[str]:
    return [
        f"{module.at(node)} {ast.unparse(node)}"
        for module in modules
        if module.path.as_posix() not in _EXEMPT
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _handles(node.func, node)
    ]


def _handles(method: ast.Attribute, call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    if method.attr == "join" and _text(method.value) == ", " and first is not None:
        return bool(_ELEMENT.search(_last_name(first)))
    if method.attr == "startswith":
        return _text(first) == "localhost:"
    return (
        method.attr in _TAKING_APART
        and _text(first) in (":", ", ")
        and bool(_ELEMENT.search(_last_name(method.value)))
    )


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _last_name(node: ast.AST) -> str:
    """`ces` of `self.job.ces`, `sorted(ces)[:3]` and `name(one) for one in ces`, or empty."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(value=inner) | ast.Starred(value=inner):
            return _last_name(inner)
        case ast.Call(args=[inner, *_]):
            return _last_name(inner)
        case ast.GeneratorExp(generators=[one, *_]) | ast.ListComp(generators=[one, *_]):
            return _last_name(one.iter)
        case _:
            return ""


ELEMENT_IDS = Measure(
    "element_ids_as_text", "ids of computing elements joined or taken apart as text", 0, ids_as_text
)
