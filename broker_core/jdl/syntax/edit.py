"""Changing one attribute of a text, with comments, order and everything else as they were."""

from __future__ import annotations

import re

from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Ad, Entry
from broker_core.jdl.syntax.write import name as written

_COMMENT = re.compile(r"[ \t]*(?:(?://|#)[^\r\n]*|/\*[^\n]*?\*/[ \t]*(?=\r?\n|$))")


def set_attribute(text: str, name: str, value: str | None) -> str:
    """Return `text` with attribute `name` set to the expression `value`, or without it for None.

    An attribute that is there keeps its place; a new one goes behind the last one. A text that cannot be
    read at all is returned as it is.
    """
    ad = parse(text).ad
    if ad is None:
        return text
    entry = ad.entries.get(name.lower())
    if entry is not None:
        return _without(text, entry) if value is None else _replaced(text, entry, value)
    return text if value is None else _added(text, ad, f"{written(name)} = {value};")


def _replaced(text: str, entry: Entry, value: str) -> str:
    return text[: entry.value_start] + value + text[entry.value_end :]


def _without(text: str, entry: Entry) -> str:
    before, after = text[: entry.start], text[entry.end :]
    line = before.rpartition("\n")[2]
    if not line.strip() and (not after or after.startswith(("\n", "\r\n"))):
        return before[: len(before) - len(line)] + after.removeprefix("\r").removeprefix("\n")
    return before + after.removeprefix(" ")


def _added(text: str, ad: Ad, statement: str) -> str:
    entries = list(ad)
    if not entries:
        inside = ad.start + 1 if text[ad.start : ad.start + 1] == "[" else len(text)
        before = text[:inside]
        gap = "" if not before or before.endswith("\n") else "\n"
        return f"{before}{gap}{statement}\n{text[inside:]}"
    last = entries[-1]
    line = text.rfind("\n", 0, last.start) + 1
    head = text[line : last.start]
    indent = head if not head.strip() else ""
    closing = "" if text[last.end - 1 : last.end] == ";" else ";"
    end = last.end + _comment_behind(text, last.end)
    gap = "\r\n" if "\r\n" in text else "\n"
    return f"{text[: last.end]}{closing}{text[last.end : end]}{gap}{indent}{statement}{text[end:]}"


def _comment_behind(text: str, place: int) -> int:
    """Length of the comment that belongs to the statement before `place`, up to the end of its line."""
    found = _COMMENT.match(text, place)
    return found.end() - place if found else 0
