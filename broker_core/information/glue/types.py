"""Published text to values: the types of the GLUE tables, with what cannot be such a value refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from broker_core.information.glue.refusals import Refusals
from broker_core.jdl.glue.attributes import GLUE

LONGEST = 4096
"""Bytes of one value."""
MOST = 10_000
"""Values of one attribute."""
LARGEST_LIST = 500_000
"""Bytes of all values of one attribute."""
LARGEST = 2**63 - 1
_INTEGER = re.compile(rb"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TRUTH = {b"true": True, b"false": False}
_DEGREES = {"GlueSiteLatitude": 90.0, "GlueSiteLongitude": 180.0}
_SIGNED = re.compile(r"Priority$|Latitude$|Longitude$")
_KEYS = ("GlueForeignKey", "GlueChunkKey")
"""Links between entries, of which one entry may have several."""


class BadGlueValue(ValueError):
    """The text cannot be a value of the attribute; says why."""


class _Attribute:
    """One attribute of the answer: its usual name, its kind, and the values met so far."""

    __slots__ = ("kind", "met", "name")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.met: dict[bytes, Any] = {}

    def value(self, text: bytes) -> Any:
        """One value, converted when it is met first; raises Refused."""
        found = self.met.get(text)
        if found is None:
            kind = "string" if self.kind == "strings" else self.kind
            found = self.met[text] = value_of(self.name, kind, text)
        return found


class Typing:
    """Names and values of one answer, each distinct text converted once."""

    def __init__(self, remarks: Refusals) -> None:
        self._remarks = remarks
        self._known: dict[bytes, _Attribute | None] = {}

    def typed(self, place: str, values: Mapping[bytes, Sequence[bytes]]) -> dict[str, Any]:
        """The attributes of an entry by usual name; unknown, empty and refused ones are left out."""
        found: dict[str, Any] = {}
        for name, raw in values.items():
            try:
                attribute = self._known[name]
            except KeyError:
                attribute = self._known[name] = _attribute(name)
            if attribute is None or not raw:
                continue
            try:
                found[attribute.name] = (
                    attribute.value(raw[0]) if attribute.kind != "strings" else _list(attribute, raw)
                )
            except BadGlueValue as why:
                self._remarks.add(place, f"{attribute.name} refused: {why}")
        return found


def _list(attribute: _Attribute, raw: Sequence[bytes]) -> list[Any]:
    if len(raw) > MOST:
        raise BadGlueValue(f"{len(raw):,} values are more than {MOST:,}")
    if (size := sum(map(len, raw))) > LARGEST_LIST:
        raise BadGlueValue(f"{size:,} bytes are more than {LARGEST_LIST:,}")
    return [attribute.value(text) for text in raw]


def _attribute(name: bytes) -> _Attribute | None:
    """The attribute of the tables behind a published name, or a link between entries."""
    text = name.decode("ascii", "replace").partition(";")[0]
    known = GLUE.get(text.lower())
    if known is None:
        is_link = text.startswith("GLUE2") and text.endswith("ForeignKey")
        return _Attribute(text, "strings") if is_link else None
    if known.name in _DEGREES:
        return _Attribute(known.name, "number")
    return _Attribute(known.name, "strings" if known.name in _KEYS else known.type)


def value_of(name: str, kind: str, text: bytes) -> Any:
    """One value of a kind out of the tables (and `number`); raises Refused."""
    if len(text) > LONGEST:
        raise BadGlueValue(f"{len(text):,} bytes are more than {LONGEST:,}")
    if kind == "integer":
        return integer(name, text)
    if kind == "number":
        return _degrees(name, text)
    if kind == "boolean":
        if (truth := _TRUTH.get(text.strip().lower())) is None:
            raise BadGlueValue(f"{_shown(text)} is neither TRUE nor FALSE")
        return truth
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise BadGlueValue(f"{_shown(text)} is not UTF-8") from None


def integer(name: str, text: bytes) -> int | float:
    """A whole number, or a fraction where a site publishes one (loads); raises Refused."""
    text = text.strip()
    if _INTEGER.fullmatch(text):
        value: int | float = int(text)
    elif len(text) <= 40 and _NUMBER.fullmatch(text):
        value = float(text)
        value = int(value) if value.is_integer() else value
    else:
        raise BadGlueValue(f"{_shown(text)} is not a number")
    if abs(value) > LARGEST:
        raise BadGlueValue(f"{_shown(text)} is too large")
    if value < 0 and not _SIGNED.search(name):
        raise BadGlueValue(f"{value} is negative")
    return value


def _degrees(name: str, text: bytes) -> float:
    value = float(integer(name, text))
    if abs(value) > _DEGREES[name]:
        raise BadGlueValue(f"{value:g} is no place on the earth")
    return value


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "backslashreplace"))
