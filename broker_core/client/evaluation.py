"""Evaluating single expressions as matching does, for people who try them out."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.jdl.diagnostics import Diagnostic
from broker_core.jdl.evaluation.environment import NOWHERE
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.evaluation.reasons import reason
from broker_core.jdl.evaluation.times import Moment, Span
from broker_core.jdl.evaluation.values import AdValue, Value
from broker_core.jdl.syntax.parse import Parsed, parse, parse_expression
from broker_core.jdl.syntax.tree import ERROR, Ad, Expression, Missing
from broker_core.jdl.syntax.write import value_text
from broker_core.resources.values import COUNTS, facts
from broker_core.system.file_errors import unusable

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

_SHOWN = 5
"""Resources that are named where one of them is to be chosen."""


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
    why: str = ""
    """Why its value is `error` although it can be read, where that is known."""


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
    why = ""
    if tree is not None and wrong is None:
        value = _valued(tree, around)
        why = reason(tree, around.own, lambda part: _valued(part, around)) if value is ERROR else ""
    kind = value.value if isinstance(value, Missing) else _TYPES[type(value)]
    return Evaluated(text, kind, _plain(value), value_text(value), wrong, why)


def _valued(tree: Expression, around: Surrounded) -> Value:
    return evaluate(tree, around.own, around.other, now=around.now, surroundings=NOWHERE)


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


def _resource(named: Path) -> dict[str, Value]:
    """Values of a resource by lower-case name, with the other names of each.

    `named` is a file, of which `#CE` behind its name chooses one resource.
    """
    text, _, ce = (str(named), "", "") if named.exists() else str(named).partition("#")
    path = Path(text)
    if path.suffix.lower() == ".toml":
        document = _toml(path)
        tables = document.get("resources")
        return _answered(_one_of(tables, document, ce, path) if isinstance(tables, list) else document)
    ad = _ad(path)
    return _answered({entry.name: evaluate(entry.value, ad) for entry in ad})


def _one_of(tables: list[Any], document: Mapping[str, Any], ce: str, path: Path) -> dict[str, Any]:
    """The attributes of one of `[[resources]]`; raises BadRequest unless it is the only one, or is chosen."""
    found = [table for table in tables if isinstance(table, dict) and ce in ("", _ce(table))]
    if len(found) != 1:
        names = [_ce(table) for table in tables if isinstance(table, dict)]
        shown = ", ".join(names[:_SHOWN]) + (", ..." if names[_SHOWN:] else "")
        said = f"There is no resource {ce!r} in it." if ce else f"It has {len(names):,} resources, not one."
        remedy = f"Choose one by --other '{path}#CE'; there are: {shown}." if names else "Describe one in it."
        raise BadRequest(said, place=str(path), code="one_resource_needed", remedy=remedy)
    defaults, own = document.get("defaults"), dict(found[0])
    names_of_it = {"GlueCEUniqueID": _ce(own), "GlueSiteName": own.get("site", "")}
    rest = {name: value for name, value in own.items() if name not in ("ce", "site")}
    return names_of_it | (defaults if isinstance(defaults, dict) else {}) | rest


def _ce(table: Mapping[str, Any]) -> str:
    return str(table.get("ce") or table.get("GlueCEUniqueID", ""))


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
        raise unusable("The file cannot be read", path, error) from error
