"""A tree back to text."""

from __future__ import annotations

import re
from typing import Any

from broker_core.jdl.evaluation.operators import real_text
from broker_core.jdl.evaluation.times import Moment, Span, moment_text, span_text
from broker_core.jdl.evaluation.values import AdValue
from broker_core.jdl.syntax.expressions import PRECEDENCE
from broker_core.jdl.syntax.statements import BARE
from broker_core.jdl.syntax.tokens import KEYWORDS, quoted
from broker_core.jdl.syntax.tree import (
    Ad,
    Binary,
    Call,
    Conditional,
    Entry,
    Expression,
    ListOf,
    Literal,
    Missing,
    Reference,
    Subscript,
    Unary,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LOWEST, _SIGN, _HIGHEST = 0, 20, 30
_Part = str | tuple[Expression, int]


def write(ad: Ad) -> str:
    """A description with the same meaning, one attribute a line, without the outer brackets.

    Comments are not in the tree: use `edit.set_attribute` to change a text that people wrote.
    """
    return "".join(f"{name(entry.name)} = {_value(entry)};\n" for entry in ad)


def _value(entry: Entry) -> str:
    """Where a value may stand without quotes, what is no text must not be taken for it."""
    text = expression(entry.value)
    return f"({text})" if entry.name.lower() in BARE and text[0].isalnum() else text


def name(text: str) -> str:
    """An attribute's name, in single quotes where it needs them."""
    if _NAME.fullmatch(text) and text.lower() not in KEYWORDS:
        return text
    escaped = quoted(text)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{escaped}'"


def expression(node: Expression) -> str:
    """The text of an expression, with the fewest parentheses; without recursion, however deep the tree."""
    out: list[str] = []
    waiting: list[_Part] = [(node, _LOWEST)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            out.append(part)
        else:
            waiting.extend(reversed(_parts(*part)))
    return "".join(out)


def value_text(value: Any) -> str:
    """A value (not an expression) as it would be written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Missing):
        return value.value
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return repr(value) if abs(value) < 1e300 else real_text(value)
    if isinstance(value, list | tuple):
        return "{" + ", ".join(value_text(item) for item in value) + "}"
    if isinstance(value, Moment):
        return f'absTime("{moment_text(value)}")'
    if isinstance(value, Span):
        return f'relTime("{span_text(value)}")'
    return expression(value.ad) if isinstance(value, AdValue) else str(value)


def _parts(node: Expression, binding: int) -> list[_Part]:
    match node:
        case Literal():
            return [value_text(node.value)]
        case Reference():
            return _reference(node)
        case Unary():
            return _closed(_SIGN, binding, [node.operator, (node.operand, _SIGN)])
        case Binary():
            return _binary(node, binding)
        case Conditional():
            return _conditional(node, binding)
        case Call():
            return [f"{node.function}(", *_separated(node.arguments), ")"]
        case Subscript():
            return [(node.base, _HIGHEST), "[", (node.index, _LOWEST), "]"]
        case ListOf():
            return ["{", *_separated(node.items), "}"]
        case Ad():
            return _ad(node)


def _closed(own: int, binding: int, parts: list[_Part]) -> list[_Part]:
    return ["(", *parts, ")"] if own < binding else parts


def _reference(node: Reference) -> list[_Part]:
    own = name(node.name)
    if node.scope is not None:
        return [(node.scope, _HIGHEST), ".", own]
    return [f".{own}" if node.absolute else own]


def _binary(node: Binary, binding: int) -> list[_Part]:
    own = PRECEDENCE[node.operator]
    return _closed(own, binding, [(node.left, own), f" {node.operator} ", (node.right, own + 1)])


def _conditional(node: Conditional, binding: int) -> list[_Part]:
    test: list[_Part] = [(node.test, _LOWEST + 1)]
    if node.yes is None:
        return _closed(_LOWEST, binding, [*test, " ?: ", (node.no, _LOWEST)])
    return _closed(_LOWEST, binding, [*test, " ? ", (node.yes, _LOWEST), " : ", (node.no, _LOWEST)])


def _separated(items: list[Expression]) -> list[_Part]:
    parts: list[_Part] = []
    for item in items:
        parts += [", ", (item, _LOWEST)] if parts else [(item, _LOWEST)]
    return parts


def _ad(node: Ad) -> list[_Part]:
    parts: list[_Part] = ["["]
    for entry in node:
        parts += [f" {name(entry.name)} = ", (entry.value, _LOWEST), ";"]
    return [*parts, " ]"]
