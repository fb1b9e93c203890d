"""Changing descriptions for people: attributes set as they are named, a value of a sweep filled in. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import reduce

from broker_core.errors import BadRequest
from broker_core.jdl.attributes.known import ATTRIBUTES
from broker_core.jdl.parametric import MARK, as_value, is_parametric
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tokens import quoted, tokenize, unquoted
from broker_core.jdl.syntax.tree import Ad, Binary, Expression, ListOf, Literal, Reference
from broker_core.jdl.syntax.write import expression, value_text

_OF_SWEEPS = ("Parameters", "ParameterStart", "ParameterStep", "MaxRunningJobs")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
MEMORY = "Memory"
"""Stands among changes for what a job needs of it, e.g. `4G`; a plain number counts megabytes."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([MGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_MEGABYTES = {"": 1, "M": 1, "G": 1 << 10, "T": 1 << 20}
_MEMORY_OF_HOST, _MEMORY_OF_NODE, _SITE = "GlueHostMainMemoryRAMSize", "MemoryPerNode", "GlueSiteName"


def with_changes(text: str, changes: Mapping[str, str]) -> str:
    """The description with attributes set to what `changes` has for them; an empty value takes one out.

    A value is an expression, as `3600` or `other.Site == "a"`; where a text is expected, the text itself
    will do. `Memory` is written as descriptions ask for it. Raises BadRequest for what cannot be the name of
    an attribute, and for memory that is no size; whether the result is in order, `check` tells.
    """
    for name, value in changes.items():
        if name.lower() == MEMORY.lower():
            text = _with_memory(text, value.strip())
            continue
        if not _NAME.fullmatch(name):
            raise BadRequest(
                f"{name!r} cannot be the name of an attribute.",
                code="bad_attribute_name",
                remedy="Use letters, digits and underscores, as in WallTime=3600.",
            )
        text = set_attribute(text, name, _expression(name, value.strip()) if value.strip() else None)
    return text


def _with_memory(text: str, value: str) -> str:
    """The description for nodes with so much memory, asked for in no other way; without a value in none."""
    text = _without_clauses(text, lambda clause: _compares(clause, _MEMORY_OF_HOST, (">=", ">"), ("<=", "<")))
    text = set_attribute(text, "MemoryPerCPU", None)
    if not value:
        return set_attribute(text, _MEMORY_OF_NODE, None)
    found = _SIZE.fullmatch(value)
    wanted = math.ceil(float(found[1]) * _MEGABYTES[found[2].upper()]) if found else 0
    if not 0 < wanted < 1 << 40:
        raise BadRequest(
            f"{value!r} is no size of memory.", code="bad_memory", remedy="Write it as 2000M or 4G."
        )
    return set_attribute(text, _MEMORY_OF_NODE, str(wanted))


def for_any_site(text: str) -> str:
    """The description without the clauses of Requirements that name the one site where it may run."""
    return _without_clauses(text, lambda clause: _compares(clause, _SITE, ("==", "=?="), ("==", "=?=")))


def _without_clauses(text: str, goes: Callable[[Expression], bool]) -> str:
    """The description without those of the clauses that Requirements joins by `&&`."""
    ad = parse(text).ad
    clauses = _clauses(ad.get("requirements")) if ad is not None else []
    left = [clause for clause in clauses if not goes(clause)]
    if len(left) == len(clauses):
        return text
    joined = reduce(lambda one, other: Binary("&&", one, other), left) if left else None
    return set_attribute(text, "Requirements", expression(joined) if joined is not None else None)


def _clauses(node: Expression | None) -> list[Expression]:
    found, waiting = list[Expression](), [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, Binary) and one.operator == "&&":
            waiting += [one.right, one.left]
        else:
            found.append(one)
    return found


def _compares(node: Expression, name: str, operators: tuple[str, ...], mirrored: tuple[str, ...]) -> bool:
    """True if the node compares the resource's attribute with a value; `mirrored`: with the value first."""
    if not isinstance(node, Binary):
        return False
    if isinstance(node.left, Literal):
        return node.operator in mirrored and _is_of_resource(node.right, name)
    is_value = isinstance(node.right, Literal)
    return is_value and node.operator in operators and _is_of_resource(node.left, name)


def _is_of_resource(node: Expression, name: str) -> bool:
    return (
        isinstance(node, Reference)
        and node.name.lower() == name.lower()
        and isinstance(node.scope, Reference)
        and node.scope.name.lower() == "other"
    )


def _expression(name: str, value: str) -> str:
    known = ATTRIBUTES.get(name.lower())
    types = known.types if known is not None else ()
    if "string" not in types or value.startswith('"'):
        return value
    return quoted(value) if types == ("string",) or parse_expression(value)[0] is None else value


def text_of_value(text: str, value: str) -> str:
    """The text with `value` for `_PARAM_`, which is no sweep any more; all else stays as it is written."""
    parts, done = [], 0
    for token in tokenize(text):
        if token.kind in ("string", "curly") and MARK in token.text:
            written = quoted(unquoted(token.text).replace(MARK, value))
        elif token.kind == "name" and token.text == MARK:
            written = value_text(as_value(value))
        else:
            continue
        parts += [text[done : token.start], written]
        done = token.end
    return _alone("".join(parts) + text[done:], value)


def _alone(text: str, value: str) -> str:
    ad = parse(text).ad
    if ad is None or not is_parametric(ad):
        return text
    text = set_attribute(text, "JobType", _other_types(ad))
    for name in _OF_SWEEPS:
        text = set_attribute(text, name, None)
    return _with_environment(text, value)


def _other_types(ad: Ad) -> str | None:
    node = ad.get("jobtype")
    types = [one for one in (node.items if isinstance(node, ListOf) else [node]) if isinstance(one, Literal)]
    rest = [value_text(one.value) for one in types if str(one.value).lower() != "parametric"]
    if len(rest) > 1:
        return "{" + ", ".join(rest) + "}"
    return rest[0] if rest else None


def _with_environment(text: str, value: str) -> str:
    """A job of a sweep finds its value in ParameterValue; what else is set stays as it is written."""
    variable = quoted(f"ParameterValue={value}")
    ad = parse(text).ad
    node = ad.get("environment") if ad is not None else None
    if node is None:
        return set_attribute(text, "Environment", f"{{{variable}}}")
    entries = node.items if isinstance(node, ListOf) else [node]
    own = [text[one.start : one.end] for one in entries]
    return set_attribute(text, "Environment", "{" + ", ".join([*own, variable]) + "}")
