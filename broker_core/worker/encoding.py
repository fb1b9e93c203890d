r"""How values travel to the Job Starter in variables (CB-JS-03): lists with commas, each item escaped.

Letters, digits and `_ . / : = + @ -` stand for themselves. Every other byte (of UTF-8) is written as
`\0` and three octal digits, which `printf %b` of every POSIX shell turns back. So no value holds a
blank, comma, quote or line break, and none is changed by `sbatch --export`, `ssh` or a job file.
In a list the items are joined with commas; an empty item is a lone backslash.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_PLAIN = re.compile(rb"[A-Za-z0-9_./:=+@-]*")
_SPECIAL = re.compile(rb"[^A-Za-z0-9_./:=+@-]")
EMPTY = "\\"


def encode(value: str) -> str:
    """One value, escaped; raises ValueError for a NUL, which no program can be given."""
    raw = value.encode("utf-8", "surrogateescape")
    if _PLAIN.fullmatch(raw):
        return value
    if b"\0" in raw:
        raise ValueError("A zero byte cannot be part of an argument, a variable or a file name.")
    return _SPECIAL.sub(lambda found: b"\\0%03o" % found.group()[0], raw).decode("ascii")


def encode_list(values: Iterable[str]) -> str:
    """Values as one list; empty for none."""
    return ",".join(encode(value) or EMPTY for value in values)


def decode(text: str) -> str:
    """The value of one escaped item."""
    if text == EMPTY:
        return ""
    raw = re.sub(rb"\\0([0-7]{3})", lambda found: bytes([int(found.group(1), 8)]), text.encode("ascii"))
    return os.fsdecode(raw)
