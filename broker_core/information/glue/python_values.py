"""Facts that were not decoded here (plug-ins, TOML files) held to the same types and bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from broker_core.information.glue.join_glue1 import COUNTRY
from broker_core.information.glue.plausible import plausible
from broker_core.information.glue.refusals import Refusals
from broker_core.information.glue.types import LARGEST, LONGEST, MOST, BadGlueValue, value_of
from broker_core.jdl.glue.attributes import GLUE
from broker_core.resources.facts import Facts

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_DEGREES = ("GlueSiteLatitude", "GlueSiteLongitude")


def accepted(facts: Iterable[Facts], remarks: Refusals) -> list[Facts]:
    """The facts with the values that can be; what is refused is noted."""
    return plausible(
        (Facts(one.ce, one.site, attributes(one.ce, one.attributes, remarks), one.static) for one in facts),
        remarks,
    )


def attributes(place: str, given: Mapping[str, Any], remarks: Refusals) -> dict[str, Any]:
    """Attributes in their usual spelling with values of their types."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        try:
            usual, typed = _attribute(name, value)
            found[usual] = typed
        except BadGlueValue as why:
            remarks.add(place, f"{name} refused: {why}")
    return found


def _attribute(name: str, value: Any) -> tuple[str, Any]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadGlueValue("no attribute can have that name")
    known = GLUE.get(name.lower())
    if known is None:
        return (COUNTRY if name.lower() == COUNTRY.lower() else name), _any(value)
    if known.name in _DEGREES:
        return known.name, value_of(known.name, "number", str(value).encode())
    if known.type == "strings":
        return known.name, _list([value] if isinstance(value, str) else value)
    if known.type == "records":
        return known.name, _records(value)
    if known.type == "boolean":
        if not isinstance(value, bool):
            raise BadGlueValue(f"{str(value)[:40]!r} is neither true nor false")
        return known.name, value
    return known.name, _single(known.name, known.type, value)


def _single(name: str, kind: str, value: Any) -> Any:
    if isinstance(value, list | tuple) and kind == "string":
        return _list(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadGlueValue(f"{type(value).__name__} is not its type")
    return value_of(name, kind, str(value).encode("utf-8", "backslashreplace"))


def _any(value: Any) -> Any:
    """A value of an attribute that no table knows."""
    if isinstance(value, list | tuple):
        return _list(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str):
        return _text(value)
    raise BadGlueValue(f"a value of the type {type(value).__name__} cannot be matched")


def _list(value: Any) -> list[str]:
    if not isinstance(value, list | tuple | set | frozenset):
        raise BadGlueValue("not a list of texts")
    if len(value) > MOST:
        raise BadGlueValue(f"{len(value):,} values are more than {MOST:,}")
    if not all(isinstance(one, str) for one in value):
        raise BadGlueValue("not a list of texts")
    return [_text(one) for one in value]


def _records(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
        raise BadGlueValue("not a list of records")
    if len(value) > MOST:
        raise BadGlueValue(f"{len(value):,} records are more than {MOST:,}")
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for one in value for name in one):
        raise BadGlueValue("a record has a part that no attribute can be called")
    return [{name: _any(part) for name, part in one.items()} for one in value]


def _text(value: str) -> str:
    if len(value) > LONGEST:
        raise BadGlueValue(f"{len(value):,} characters are more than {LONGEST:,}")
    return value.encode("utf-8", "replace").decode()
