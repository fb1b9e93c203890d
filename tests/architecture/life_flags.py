"""Lives of objects described by several booleans, which can contradict each other; a state has a name.

Counted are booleans that change after the constructor, in classes with two or more of them: one alone is a
state with two values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.architecture.measure import Measure
from tests.architecture.modules import Module

_NO_LIFE = {
    "SiteView.leaving": "an answer on the wire: what the broker says of a site",
    "SiteView.removable": "an answer on the wire: what the broker says of a site",
    "TerminalView._lit": "the phase of a blinking cursor",
    "TerminalView._placing": "a guard while a method runs",
    "WorldMap._moved": "whether a drag has begun, forgotten with the button",
    "ReferencedAttributes.worldly": "a property of an expression, found while it is walked",
    "ReferencedAttributes.everything": "a property of an expression, found while it is walked",
    "ReferencedAttributes.by_chance": "a property of an expression, found while it is walked",
    "ReferencedAttributes.whole": "a property of an expression, found while it is walked",
}
"""`Class.flag` that is no state of a life, with the reason."""


def life_flags(modules: Sequence[Module]) -> list[str]:
    changed = {
        node.attr
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }
    found = []
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                inside = _changed_inside(node)
                changing = [
                    name
                    for name in _booleans(node)
                    if (name in inside or name in changed) and f"{node.name}.{name}" not in _NO_LIFE
                ]
                if len(changing) > 1:
                    found += [f"{module.at(node)} {node.name}.{name}" for name in changing]
    return found


def _booleans(node: ast.ClassDef) -> list[str]:
    """Booleans that a class declares in its body or its `__init__`; in a frozen one none can change."""
    if any("frozen=True" in ast.unparse(one) for one in node.decorator_list):
        return []
    found: dict[str, None] = {}
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if ast.unparse(statement.annotation) == "bool":
                found[statement.target.id] = None
        elif isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            found.update(dict.fromkeys(_set_in(statement)))
    return list(found)


def _set_in(init: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(init):
        match node:
            case ast.Assign(targets=targets, value=ast.Constant(value=bool())):
                yield from (one.attr for one in targets if isinstance(one, ast.Attribute))
            case ast.AnnAssign(target=ast.Attribute(attr=name), annotation=ast.Name(id="bool")):
                yield name


def _changed_inside(node: ast.ClassDef) -> set[str]:
    """Attributes that the class sets behind its constructor."""
    return {
        inner.attr
        for statement in node.body
        if not (isinstance(statement, ast.FunctionDef) and statement.name == "__init__")
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
    }


LIFE_FLAGS = Measure(
    "life_flags", "changing booleans of classes that have two or more of them", 0, life_flags
)
