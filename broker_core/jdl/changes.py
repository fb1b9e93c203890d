"""Changing attributes of a description as people name them: texts may come without their quotes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from broker_core.errors import BadRequest
from broker_core.jdl.attributes.known import ATTRIBUTES
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse_expression
from broker_core.jdl.syntax.tokens import quoted

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def with_changes(text: str, changes: Mapping[str, str]) -> str:
    """The description with attributes set to what `changes` has for them; an empty value takes one out.

    A value is an expression, as `3600` or `other.Site == "a"`; where a text is expected, the text itself
    will do. Raises BadRequest for what cannot be the name of an attribute; whether the result is in order,
    `check` tells.
    """
    for name, value in changes.items():
        if not _NAME.fullmatch(name):
            raise BadRequest(
                f"{name!r} cannot be the name of an attribute.",
                code="bad_attribute_name",
                remedy="Use letters, digits and underscores, as in WallTime=3600.",
            )
        text = set_attribute(text, name, _expression(name, value.strip()) if value.strip() else None)
    return text


def _expression(name: str, value: str) -> str:
    known = ATTRIBUTES.get(name.lower())
    types = known.types if known is not None else ()
    if "string" not in types or value.startswith('"'):
        return value
    return quoted(value) if types == ("string",) or parse_expression(value)[0] is None else value
