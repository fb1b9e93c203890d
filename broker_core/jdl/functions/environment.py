"""Environments written as text, and what the broker knows of users."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from broker_core.jdl.evaluation.values import Value, bounded, first_missing
from broker_core.jdl.functions.function import Function, Late, eager, strict, table
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

_NEEDS_QUOTES = re.compile(r"[\s']+")
_WORD = re.compile(r"\s*((?:[^\s']|'(?:[^']|'')*')+)")


def _parts(text: str) -> dict[str, str] | None:
    """The variables of `a=b c='d e'`; None where it is no such text."""
    found: dict[str, str] = {}
    place, text = 0, text.rstrip()
    while place < len(text):
        word = _WORD.match(text, place)
        name, equals, value = _bare(word[1]).partition("=") if word else ("", "", "")
        if word is None or not name or not equals:
            return None
        found[name] = value
        place = word.end()
    return found


def _bare(word: str) -> str:
    return re.sub(r"'((?:[^']|'')*)'", lambda quoted: quoted[1].replace("''", "'"), word)


def _written(variables: dict[str, str]) -> Value:
    """By name, with quotes around just what needs them."""
    words = [f"{name}={value}" for name, value in sorted(variables.items())]
    return bounded(" ".join(_NEEDS_QUOTES.sub(_in_quotes, word) for word in words))


def _in_quotes(part: re.Match[str]) -> str:
    return "'" + part[0].replace("'", "''") + "'"


def _v1_to_v2(values: list[Value]) -> Value:
    if not isinstance(values[0], str):
        return ERROR
    pairs = [part.partition("=") for part in values[0].split(";") if part.strip()]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        return ERROR
    return _written({name.lstrip(): value for name, _, value in pairs})


def _merge(values: list[Value]) -> Value:
    merged: dict[str, str] = {}
    for value in values:
        if value is UNDEFINED:
            continue
        variables = _parts(value) if isinstance(value, str) else None
        if variables is None:
            return ERROR
        merged.update(variables)
    return _written(merged)


def _user_home(evaluation: Any, arguments: Sequence[Late]) -> Value:
    values = [argument() for argument in arguments]
    if not isinstance(values[0], str):
        return UNDEFINED if values[0] is UNDEFINED else ERROR
    home = evaluation.surroundings.homes.get(values[0])
    return home if home is not None else values[1] if len(values) > 1 else UNDEFINED


def _user_map(evaluation: Any, arguments: Sequence[Late]) -> Value:
    values = [argument() for argument in arguments]
    if (missing := first_missing(values[:2])) is not None:
        return missing
    if not isinstance(values[0], str) or not isinstance(values[1], str):
        return UNDEFINED
    names = evaluation.surroundings.maps.get(values[0], {}).get(values[1])
    if names is None:
        return values[3] if len(values) > 3 else UNDEFINED
    if len(values) == 2:
        return names
    words = [word.strip() for word in names.split(",")]
    wanted = values[2].lower() if isinstance(values[2], str) else None
    return next((word for word in words if word.lower() == wanted), words[0])


TABLE = table(
    strict("envV1ToV2(text)", "An environment a=b;c=d in the newer form.", 1, 1, _v1_to_v2),
    eager("mergeEnvironment(text, ...)", "All variables; the later text wins.", 0, 1000, _merge),
    Function("userHome", "userHome(user, otherwise)", "The user's home folder.", 1, 2, _user_home),
    Function(
        "userMap",
        "userMap(map, user, preferred, otherwise)",
        "What a map of the broker has for a user.",
        2,
        4,
        _user_map,
    ),
)
