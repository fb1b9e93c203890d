"""The process that searches in logs: an expression may take for ever, so it must be possible to end it.

Runs alone with the standard library, its open files inherited. Reads one JSON line: what to look for, and the
files by their descriptors. Writes one JSON line for each file as soon as it is searched.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

FILE_MOST = 64 << 20
"""Bytes of one file that are searched, from its beginning."""
LINE_MOST = 8192
"""Bytes of one line that are searched."""
_SHOWN, _LEAD = 300, 80
"""Characters of a line that are sent, and of these before the hit."""
_PART = 1 << 20
_PEEK = 8192
Find = Callable[[str], tuple[int, int] | None]
"""A line to the first character of a hit and its length."""


def lines_of(handle: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their offsets, at most LINE_MOST bytes of each and FILE_MOST of the file."""
    start, size, rest, skipping = 0, 0, b"", False
    while size < FILE_MOST and (part := os.pread(handle, min(_PART, FILE_MOST - size), size)):
        size += len(part)
        pieces = (rest + part).split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            if not skipping:
                yield start, piece[:LINE_MOST]
            start += len(piece) + 1
            skipping = False
        if len(rest) > LINE_MOST:
            if not skipping:
                yield start, rest[:LINE_MOST]
            start, rest, skipping = start + len(rest), b"", True
    if rest and not skipping:
        yield start, rest[:LINE_MOST]


def finder(text: str, regex: bool) -> Find:
    """What finds the text in a line, whatever its case. Raises re.error."""
    pattern = re.compile(text if regex else re.escape(text), re.IGNORECASE)

    def find(line: str) -> tuple[int, int] | None:
        found = pattern.search(line)
        return (found.start(), found.end() - found.start()) if found else None

    return find


def search(handle: int, find: Find, context: int, most: int) -> dict[str, Any]:
    """Search one file."""
    if b"\0" in os.pread(handle, _PEEK, 0):
        return {"hits": [], "more": False, "remark": "It holds no text."}
    hits: list[dict[str, Any]] = []
    before: deque[str] = deque(maxlen=context)
    more = False
    for number, (offset, raw) in enumerate(lines_of(handle), start=1):
        line = raw.decode("utf-8", "replace").rstrip("\r")
        for hit in hits[-context - 1 :] if context else ():
            if number - hit["line"] <= context:
                hit["after"].append(line[:_SHOWN])
        more = more or (len(hits) == most and find(line) is not None)
        if more and number - hits[-1]["line"] >= context:
            break
        if len(hits) < most and (found := find(line)):
            first = max(0, found[0] - _LEAD)
            hits.append({
                "line": number, "offset": offset, "text": line[first : first + _SHOWN],
                "start": found[0] - first, "length": min(found[1], _SHOWN - found[0] + first),
                "before": list(before), "after": [],
            })  # fmt: skip
        before.append(line[:_SHOWN])
    size = os.fstat(handle).st_size
    cut = f"Only its first {FILE_MOST >> 20} MiB were searched." if size > FILE_MOST and not more else ""
    return {"hits": hits, "more": more, "remark": cut}


def main() -> None:
    """Answer the one request of this process."""
    request = json.loads(sys.stdin.readline())
    try:
        find = finder(request["text"], request["regex"])
    except (re.error, OverflowError, RecursionError) as error:
        answer: dict[str, Any] = {"problem": f"This is no regular expression: {error}."}
        sys.stdout.write(json.dumps(answer) + "\n")
        return
    for handle in request["files"]:
        try:
            found = search(handle, find, request["context"], request["most"])
        except OSError as error:
            found = {"hits": [], "more": False, "remark": f"It could not be read: {error.strerror}."}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
