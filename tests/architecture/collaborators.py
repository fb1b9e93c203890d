"""Constructors that are given more than four objects with behavior.

A collaborator is a parameter of `__init__`, or a field of a dataclass, whose type is a callable, a class of
ours that does something, or a class that holds such: a bag of collaborators is as heavy as they are. Plain
data (enums, models, frozen dataclasses that only compute from their values) is not counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.architecture.measure import Measure
from tests.architecture.modules import Module

MOST = 4
_VALUES = {
    "NamedTuple", "TypedDict", "Enum", "StrEnum", "IntEnum", "Flag", "IntFlag", "BaseModel", "Exception",
}  # fmt: skip
_NO_BEHAVIOR = {"property", "cached_property", "classmethod", "staticmethod"}


@dataclass
class _Type:
    """A class or an alias of a type.

    Attributes:
        where: `path:line`.
        name: without the module.
        bases: names that it is made of, as in `_Types.all`.
        acts: True if it has a method of its own that does something.
        given: what its constructor takes, and the names in each annotation.
    """

    where: str
    name: str
    bases: set[str] = field(default_factory=set)
    acts: bool = False
    given: list[tuple[str, set[str]]] = field(default_factory=list)


def crowded_constructors(modules: Sequence[Module]) -> list[str]:
    types: dict[str, _Type] = {}
    for module in modules:
        types.update(_types_of(module))
    behaving = _behaving(types)
    found = []
    for one in types.values():
        given = [text for text, names in one.given if names & behaving]
        if len(given) > MOST:
            found.append(f"{one.where} {one.name}: {len(given)}: {', '.join(given)}")
    return found


def _types_of(module: Module) -> Iterator[tuple[str, _Type]]:
    """Classes, and aliases at the top of the module, by `module:name`."""
    known = dict(_imported(module))
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = f"{module.name}:{node.targets[0].id}"
    known |= {
        node.name: f"{module.name}:{node.name}" for node in module.nodes if isinstance(node, ast.ClassDef)
    }
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[:1].isupper():
                yield known[name], _Type(module.at(node), name, _names(node.value, known))
    for node in module.nodes:
        if isinstance(node, ast.ClassDef):
            yield known[node.name], _read(module, node, known)


def _imported(module: Module) -> Iterator[tuple[str, str]]:
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}:{alias.name}"


def _read(module: Module, node: ast.ClassDef, known: dict[str, str]) -> _Type:
    made = next((ast.unparse(one) for one in node.decorator_list if "dataclass" in ast.unparse(one)), "")
    bases = set[str]().union(*(_names(base, known) for base in node.bases))
    acts = "frozen=True" not in made and any(map(_does, node.body))
    one = _Type(module.at(node), node.name, bases, acts)
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name="__init__", args=args):
                every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
                one.given = [(arg.arg, _names(arg.annotation, known)) for arg in every if arg.annotation]
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value) if made:
                if not _made_inside(value) and "ClassVar" not in ast.unparse(annotation):
                    one.given.append((name, _names(annotation, known)))
    return one


def _made_inside(value: ast.expr | None) -> bool:
    """True for `field(init=False)`: the constructor does not take it."""
    return isinstance(value, ast.Call) and any(
        word.arg == "init" and isinstance(word.value, ast.Constant) and not word.value.value
        for word in value.keywords
    )


def _does(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
        and (not statement.name.startswith("__") or statement.name == "__call__")
        and not any(_last(one) in _NO_BEHAVIOR for one in statement.decorator_list)
    )


def _behaving(types: dict[str, _Type]) -> set[str]:
    """Those that act, inherit it, or hold what acts; values and what inherits from them never do."""
    values: set[str] = set()
    behaving = {"Callable"}
    size = -1
    while size != len(behaving) + len(values):
        size = len(behaving) + len(values)
        for key, one in types.items():
            if any(base in values or base.rpartition(":")[2] in _VALUES for base in one.bases):
                values.add(key)
                behaving.discard(key)
            elif one.acts or behaving & one.bases or any(names & behaving for _, names in one.given):
                behaving.add(key)
    return behaving


def _names(annotation: ast.expr, known: dict[str, str]) -> set[str]:
    """Every type in an annotation, as `module:name` if it is ours; also in one written as a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:  # no type but a plain text
            return set()
    found = set()
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name | ast.Attribute):
            name = known.get(_last(node), _last(node))
            found.add("Callable" if name.endswith(":Callable") else name)
    return found


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _last(inner)
        case _:
            return ""


COLLABORATORS = Measure(
    "crowded_constructors", f"constructors given more than {MOST} collaborators", 0, crowded_constructors
)
