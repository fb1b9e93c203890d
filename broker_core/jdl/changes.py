"""Changing descriptions for people: attributes set as they are named, a value of a sweep filled in. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from broker_core.errors import BadRequest
from broker_core.jdl.attributes.known import ATTRIBUTES
from broker_core.jdl.parametric import MARK, as_value, is_parametric
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tokens import quoted, tokenize, unquoted
from broker_core.jdl.syntax.tree import Ad, ListOf, Literal
from broker_core.jdl.syntax.write import value_text

_OF_SWEEPS = ("Parameters", "ParameterStart", "ParameterStep")
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
