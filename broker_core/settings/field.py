"""One setting: its default, its meaning, and the check of a value given for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, field
from typing import Any

from broker_core.errors import BadRequest

_KINDS = {
    bool: "true or false",
    int: "a whole number that is not negative",
    float: "a number that is not negative",
    str: "a text",
    tuple: "a list of texts",
    dict: "a table of names and texts",
}


def setting(
    default: Any,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    pattern: bool = False,
    parse: Callable[[Any, str], Any] | None = None,
) -> Any:
    """A field of a settings class.

    `choices` are the only values; `pattern`: it is a regular expression; `parse` reads and checks a table of
    settings, given with the file that it is in.
    """
    about = {"doc": doc, "choices": choices, "pattern": pattern, "parse": parse, "default": default}
    if isinstance(default, dict):
        return field(default_factory=lambda: default, metadata=about)
    return field(default=default, metadata=about)


def checked(known: Field[Any], value: Any, origin: str) -> Any:
    """The value as the settings hold it; raises BadRequest that names the setting and `origin`."""
    if known.metadata["parse"] is not None:
        return known.metadata["parse"](value, origin)
    default = known.metadata["default"]
    fitting = _of_kind(value, type(default))
    if fitting is None:
        raise BadRequest(f"The setting {known.name} must be {_KINDS[type(default)]}.", place=origin)
    choices = known.metadata["choices"]
    if choices and fitting not in choices:
        raise BadRequest(
            f"The {known.name.replace('_', ' ')} {value!r} is unknown.",
            place=origin,
            remedy="Use " + ", ".join(choices) + ".",
        )
    if known.metadata["pattern"]:
        _compiled(known.name, fitting, origin)
    return fitting


def _of_kind(value: Any, kind: type[Any]) -> Any:
    """The value as `kind`, or None if it is nothing of the kind."""
    if kind is float and type(value) is int:
        value = float(value)
    if kind is tuple and isinstance(value, list):
        return tuple(value) if all(isinstance(one, str) for one in value) else None
    if kind is dict and isinstance(value, Mapping):
        return dict(value) if all(isinstance(one, str) for one in value.values()) else None
    if type(value) is not kind:
        return None
    return value if isinstance(value, str | bool) or 0 <= value < float("inf") else None


def _compiled(name: str, value: str, origin: str) -> None:
    try:
        re.compile(value)
    except re.error as error:
        raise BadRequest(
            f"The setting {name} is no regular expression: {error}.", place=origin, remedy="Correct it."
        ) from error
