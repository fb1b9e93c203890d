"""Functions of strings."""

from __future__ import annotations

import re

from broker_core.jdl.evaluation.operators import as_text
from broker_core.jdl.evaluation.values import ITEMS_MAX, Value, bounded
from broker_core.jdl.functions.function import careful, eager, strict, table, vague
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED


def _texts(values: list[Value]) -> list[str] | None:
    texts = [as_text(value) for value in values]
    return None if None in texts else [text for text in texts if text is not None]


def _strcat(values: list[Value]) -> Value:
    for value in values:
        if value is UNDEFINED or value is ERROR:
            return value
    texts = _texts(values)
    return ERROR if texts is None else bounded("".join(texts))


def _join(values: list[Value]) -> Value:
    if len(values) == 1:
        items = values[0]
        return _joined("", items) if isinstance(items, list) else items if items is ERROR else ""
    separator, *items = values
    if len(items) == 1 and isinstance(items[0], list):
        items = items[0] or [UNDEFINED]
    if items == [UNDEFINED] and UNDEFINED in (separator, values[1]) and separator is not ERROR:
        return UNDEFINED
    return _joined("" if separator is UNDEFINED else separator, items)


def _joined(separator: Value, items: list[Value]) -> Value:
    texts = _texts([item for item in items if item is not UNDEFINED])
    between = as_text(separator)
    if ERROR in items or separator is ERROR or texts is None or between is None:
        return ERROR
    return bounded(between.join(texts))


def _substr(values: list[Value]) -> Value:
    text, offset = values[0], values[1]
    length = values[2] if len(values) > 2 else None
    if not isinstance(text, str) or type(offset) is not int or type(length) not in (int, type(None)):
        return ERROR
    start = max(offset + len(text), 0) if offset < 0 else min(offset, len(text))
    if length is None:
        return text[start:]
    end = len(text) + length if length < 0 else start + length
    return text[start : max(end, start)]


def _order(one: str, other: str) -> int:
    return (one > other) - (one < other)


def _strcmp(values: list[Value]) -> Value:
    texts = _texts(values)
    return ERROR if texts is None else _order(*texts)


def _stricmp(values: list[Value]) -> Value:
    texts = _texts(values)
    return ERROR if texts is None else _order(*(text.lower() for text in texts))


def _cased(values: list[Value], upper: bool) -> Value:
    text = as_text(values[0])
    if text is None:
        return ERROR
    return bounded(text.upper() if upper else text.lower())


def split_words(text: str, delimiters: str = ", \t\r\n") -> list[str]:
    """The words of a string list; runs of delimiters count once."""
    return (
        [word for word in re.split(f"[{re.escape(delimiters)}]+", text) if word]
        if delimiters
        else [text] * bool(text)
    )


def _split(values: list[Value]) -> Value:
    if not all(isinstance(value, str) for value in values):
        return ERROR
    words = split_words(*values)
    return words if len(words) <= ITEMS_MAX else ERROR


def _split_at(values: list[Value], name_first: bool) -> Value:
    if not isinstance(values[0], str):
        return ERROR
    before, at, after = values[0].partition("@")
    if at:
        return [before, after]
    return [before, ""] if name_first else ["", before]


TABLE = table(
    eager("strcat(x, ...)", "The texts of all arguments in a row.", 0, 1000, _strcat),
    eager("join(separator, list)", "The items with the separator between them.", 1, 1000, _join),
    vague(
        "substr(text, offset, length)",
        "A part of a text; negative numbers count from its end.",
        2,
        3,
        _substr,
    ),
    vague("strcmp(a, b)", "-1, 0 or 1 as a comes before, with or after b; case matters.", 2, 2, _strcmp),
    vague(
        "stricmp(a, b)", "-1, 0 or 1 as a comes before, with or after b; whatever the case.", 2, 2, _stricmp
    ),
    strict("toUpper(text)", "The text in capitals.", 1, 1, lambda v: _cased(v, True)),
    strict("toLower(text)", "The text in small letters.", 1, 1, lambda v: _cased(v, False)),
    careful("split(text, delimiters)", "The words of a text as a list.", 1, 2, _split),
    careful("splitUserName(text)", "{user, domain} of user@domain.", 1, 1, lambda v: _split_at(v, True)),
    careful("splitSlotName(text)", "{slot, host} of slot@host.", 1, 1, lambda v: _split_at(v, False)),
)
