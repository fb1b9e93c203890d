"""The text of a description for one job of a sweep, as somebody would have written it for that job alone."""

from __future__ import annotations

from broker_core.jdl.parametric import MARK, as_value, is_parametric
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tokens import quoted, tokenize, unquoted
from broker_core.jdl.syntax.tree import Ad, ListOf, Literal
from broker_core.jdl.syntax.write import value_text

_OF_SWEEPS = ("Parameters", "ParameterStart", "ParameterStep")


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
