"""Names that the product defines itself, each once in its scope."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.architecture.modules import Module

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Name:
    """A name where it is first defined in its scope.

    Attributes:
        text: the identifier.
        scope: dotted name of what it belongs to, without the module: `Class.method`, `Class`, or empty.
        where: `path:line`.
    """

    text: str
    scope: str
    where: str

    def parts(self) -> list[str]:
        """Its words in lower case: `["queue", "place"]` of `queue_place` and `QueuePlace`."""
        return [word.lower() for word in _WORD.findall(self.text)]

    @property
    def owner(self) -> str:
        """`Class.attribute`, as the exemptions are written."""
        return f"{self.scope}.{self.text}" if self.scope else self.text


@functools.cache
def _names_of(module: Module) -> tuple[Name, ...]:
    found: dict[tuple[str, str], Name] = {}
    if module.path.parts:
        own = module.name.rpartition(".")[2]
        found["", f"module {own}"] = Name(own, "", str(module.path))
    for scope, text, line in _defined(module.tree, ""):
        found.setdefault((scope, text), Name(text, scope, f"{module.path}:{line}"))
    return tuple(found.values())


def defined_names(modules: Sequence[Module]) -> Iterator[Name]:
    """Modules, classes, functions, parameters, attributes and variables; imported names are not ours."""
    for module in modules:
        yield from _names_of(module)


def _defined(node: ast.AST, scope: str) -> Iterator[tuple[str, str, int]]:
    for child in ast.iter_child_nodes(node):
        inner = scope
        match child:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield scope, name, child.lineno
                inner = f"{scope}.{name}" if scope else name
            case ast.arg(arg=name, lineno=line):
                yield scope, name, line
            case ast.Name(id=name, ctx=ast.Store(), lineno=line):
                yield scope, name, line
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store(), lineno=line):
                yield _class_of(scope), name, line
            case ast.ExceptHandler(name=str(name), lineno=line) | ast.MatchAs(name=str(name), lineno=line):
                yield scope, name, line
            case ast.alias(asname=str(name), lineno=line):
                yield scope, name, line
        yield from _defined(child, inner)


def _class_of(scope: str) -> str:
    """The class whose method `scope` is, as far as names tell: the innermost part with a capital."""
    parts = scope.split(".")
    while len(parts) > 1 and not parts[-1].lstrip("_")[:1].isupper():
        parts.pop()
    return ".".join(parts)
