"""Published text to values: the types of the GLUE tables, with what cannot be such a value refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from broker_core.information.remarks import Remarks
from broker_core.jdl.glue import GLUE

LONGEST = 4096
"""Bytes of one value."""
MOST = 10_000
"""Values of one attribute."""
LARGEST = 2**63 - 1
_INTEGER = re.compile(rb"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TRUTH = {b"true": True, b"false": False}
_DEGREES = {"GlueSiteLatitude": 90.0, "GlueSiteLongitude": 180.0}
_SIGNED = re.compile(r"Priority$|Latitude$|Longitude$")
_KEYS = ("GlueForeignKey", "GlueChunkKey")
"""Links between entries, of which one entry may have several."""


class Refused(ValueError):
    """The text cannot be a value of the attribute; says why."""


class Typing:
    """Names and values of one answer, each distinct text converted once."""

    def __init__(self, remarks: Remarks) -> None:
        self._remarks = remarks
        self._names: dict[bytes, tuple[str, str] | None] = {}
        self._values: dict[tuple[str, bytes], Any] = {}

    def attribute(self, place: str, name: bytes, raw: Sequence[bytes]) -> tuple[str, Any] | None:
        """Name in its usual spelling and the typed value; None if unknown, empty or refused."""
        if name in self._names:
            known = self._names[name]
        else:
            known = self._names[name] = _known(name)
        if known is None or not raw:
            return None
        try:
            return known[0], self._value(known[0], known[1], raw)
        except Refused as why:
            self._remarks.add(place, f"{known[0]} refused: {why}")
            return None

    def _value(self, name: str, kind: str, raw: Sequence[bytes]) -> Any:
        if kind == "strings":
            if len(raw) > MOST:
                raise Refused(f"{len(raw):,} values are more than {MOST:,}")
            return [self._one(name, "string", text) for text in raw]
        return self._one(name, kind, raw[0])

    def _one(self, name: str, kind: str, text: bytes) -> Any:
        key = (name if kind != "string" else "", text)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = value_of(name, kind, text)
        return found


def _known(name: bytes) -> tuple[str, str] | None:
    text = name.decode("ascii", "replace").partition(";")[0]
    attribute = GLUE.get(text.lower())
    if attribute is None:
        return _extra_name(text)
    kind = "strings" if attribute.name in _KEYS else attribute.type
    return attribute.name, "number" if attribute.name in _DEGREES else kind


def _extra_name(text: str) -> tuple[str, str] | None:
    """Links of GLUE 2.0 between entries; they are no attributes of resources."""
    return (text, "strings") if text.startswith("GLUE2") and text.endswith("ForeignKey") else None


def value_of(name: str, kind: str, text: bytes) -> Any:
    """One value of a kind out of the tables (and `number`); raises Refused."""
    if len(text) > LONGEST:
        raise Refused(f"{len(text):,} bytes are more than {LONGEST:,}")
    if kind == "integer":
        return integer(name, text)
    if kind == "number":
        return _degrees(name, text)
    if kind == "boolean":
        if (truth := _TRUTH.get(text.strip().lower())) is None:
            raise Refused(f"{_shown(text)} is neither TRUE nor FALSE")
        return truth
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{_shown(text)} is not UTF-8") from None


def integer(name: str, text: bytes) -> int | float:
    """A whole number, or a fraction where a site publishes one (loads); raises Refused."""
    text = text.strip()
    if _INTEGER.fullmatch(text):
        value: int | float = int(text)
    elif len(text) <= 40 and _NUMBER.fullmatch(text):
        value = float(text)
        value = int(value) if value.is_integer() else value
    else:
        raise Refused(f"{_shown(text)} is not a number")
    if abs(value) > LARGEST:
        raise Refused(f"{_shown(text)} is too large")
    if value < 0 and not _SIGNED.search(name):
        raise Refused(f"{value} is negative")
    return value


def _degrees(name: str, text: bytes) -> float:
    value = float(integer(name, text))
    if abs(value) > _DEGREES[name]:
        raise Refused(f"{value:g} is no place on the earth")
    return value


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "backslashreplace"))
