"""What stayed of a job at its site, in one sentence. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable

from broker_core.client.printable import printable
from broker_core.jobs.site_names import site_name
from broker_core.wire.views import LeftView

_LOCAL = "local"
_NAMED = 3
_LONGEST = 60
"""Files that are named, and characters of each name."""


def summary(left: LeftView, size: Callable[[float], str]) -> str:
    """E.g. `2 files stayed at labhost: a.csv (347 B), b (2 kB)`; empty if nothing did. `size`: of bytes."""
    count = len(left.files) + left.more
    if not count:
        return ""
    named = [f"{_short(one.path)} ({size(one.size)})" for one in left.files[:_NAMED]]
    rest = count - len(named)
    if rest:
        bytes_ = left.more_bytes + sum(one.size for one in left.files[_NAMED:])
        named.append(f"{rest:,} more ({size(bytes_)})")
    files = "1 file" if count == 1 else f"{count:,} files"
    where = "on this machine" if left.site == _LOCAL else f"at {site_name(left.site)}"
    return f"{files} stayed {where}: {', '.join(named)}"


def until(left: LeftView) -> str:
    """When it goes, e.g. `They are removed there on 23 December.`; empty if nothing stayed, or for good."""
    count = len(left.files) + left.more
    if left.goes is None or not count:
        return ""
    day = time.localtime(left.goes)
    who = "It is" if count == 1 else "They are"
    return f"{who} removed there on {day.tm_mday} {time.strftime('%B', day)}."


def _short(path: str) -> str:
    """The end of a long path tells more than its beginning."""
    shown = printable(path)
    return shown if len(shown) <= _LONGEST else f"…{shown[1 - _LONGEST :]}"
