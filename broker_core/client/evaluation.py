"""Evaluating single expressions as matching does, for people who try them out."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.jdl.diagnostics import Diagnostic
from broker_core.jdl.evaluate import evaluate
from broker_core.jdl.parse import Parsed, parse, parse_expression
from broker_core.jdl.surroundings import NOWHERE
from broker_core.jdl.times import Moment, Span
from broker_core.jdl.tree import ERROR, Ad, Missing
from broker_core.jdl.values import AdValue, Value
from broker_core.jdl.write import value_text
from broker_core.resources.values import COUNTS, facts

_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "real",
    str: "string",
    list: "list",
    AdValue: "ad",
    Moment: "time",
    Span: "span",
}


@dataclass(frozen=True, slots=True)
class Surrounded:
    """What expressions can read."""

    own: Ad = field(default_factory=Ad)
    other: Mapping[str, Value] | None = None
    now: float | None = None
    """Seconds since the epoch, for `time()`."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One expression with its value."""

    expression: str
    type: str
    """boolean, integer, real, string, list, ad, time, span, undefined or error."""
    value: Any
    """The value for JSON; None for undefined and error, text where JSON has no such thing."""
    text: str
    """The value as it would be written in a description."""
    wrong: Diagnostic | None = None
    """What keeps it from being read; its value is `error` then."""


def surrounded(own: Path | None, other: Path | None, now: float | None) -> Surrounded:
    """Read the files for bare names and for `other.`; raises BadRequest with the place of what is wrong."""
    return Surrounded(
        _ad(own) if own is not None else Ad(), _resource(other) if other is not None else None, now
    )


def evaluated(text: str, around: Surrounded) -> Evaluated:
    """The value of one expression; what cannot be read is `error`, with the reason."""
    tree, found = parse_expression(text)
    wrong = next((one for one in found if one.severity == "error"), None)
    value: Value = ERROR
    if tree is not None and wrong is None:
        value = evaluate(tree, around.own, around.other, now=around.now, surroundings=NOWHERE)
    kind = value.value if isinstance(value, Missing) else _TYPES[type(value)]
    return Evaluated(text, kind, _plain(value), value_text(value), wrong)


def _plain(value: Value) -> Any:
    if isinstance(value, Missing):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | float | str) else value_text(value)


def _ad(path: Path) -> Ad:
    parsed: Parsed = parse(_text(path))
    wrong = next((one for one in parsed.diagnostics if one.severity == "error"), None)
    if parsed.ad is None or wrong is not None:
        said = wrong.message if wrong else "There is nothing in it."
        place = f"{path}:{wrong.line}:{wrong.column}" if wrong else str(path)
        raise BadRequest(said, place=place, code=wrong.code if wrong else "empty")
    return parsed.ad


def _resource(path: Path) -> dict[str, Value]:
    """Values of a resource by lower-case name, with the other names of each."""
    if path.suffix.lower() == ".toml":
        return _answered(_toml(path))
    ad = _ad(path)
    return _answered({entry.name: evaluate(entry.value, ad) for entry in ad})


def _answered(attributes: Mapping[str, Any]) -> dict[str, Value]:
    """The values as matching has them: in both vocabularies, each count under all its names."""
    given = {name.lower(): value for name, value in attributes.items()}
    found = facts(attributes, str(given.get("glueceuniqueid", "")), "")
    for name in ("glueceuniqueid", "gluesitename"):
        if not found[name]:
            del found[name]
    for name, count in COUNTS.items():
        if name in given:
            found.update({alike: given[name] for alike, of in COUNTS.items() if of == count})
    return found


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        remedy = 'Write one GLUE name a line, such as GlueCEInfoLRMSType = "slurm".'
        raise BadRequest(f"{error}.", place=str(path), code="not_toml", remedy=remedy) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read: {error}", code="file_unreadable") from error
