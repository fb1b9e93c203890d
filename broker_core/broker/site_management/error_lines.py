"""What a failed attempt said last: one line of its standard error, for lists and notices."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
from pathlib import Path

from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.errors import CrossDeskError
from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.launching.orders import STDERR
from broker_core.sites.contract import Site

log = logging.getLogger("crossdesk.sites")
MOST_CHARACTERS = 200
_TAIL = 1 << 16
"""Bytes of the end of a file that are looked through."""
_DEADLINE = 5.0
"""Seconds after which an end is told without the line: a file system may hang."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
"""Colors, movements of the cursor and titles, as terminals take them."""


def failed_by_itself(ended: AttemptEnded) -> bool:
    """True where the program may have said why it failed; not where its owner had it canceled."""
    return bool(ended.exit_code) or ended.signal is not None or ended.failure not in ("", "killed")


async def error_line(site: Site, orders: LaunchOrders, record: JobRecord, of: Component) -> str:
    """The last line that a component, which is over and at home, wrote to its standard error; empty: none."""
    try:
        async with asyncio.timeout(_DEADLINE):
            name = (await orders.description(record)).stderr or STDERR
            path = await site.open_path(of, name)
            return last_line(await asyncio.to_thread(_tail, path))
    except (CrossDeskError, OSError, ValueError) as error:  # a deadline is an OSError too
        log.debug("The last words of %s are not known: %s", of.tag, error)
        return ""


def last_line(text: str) -> str:
    """The last line with a letter or digit in it, without what only a terminal understands."""
    for line in reversed(_SEQUENCE.sub("", text).splitlines()):
        shown = " ".join("".join(one if one.isprintable() else " " for one in line).split())
        if any(map(str.isalnum, shown)):
            return shown if len(shown) <= MOST_CHARACTERS else shown[: MOST_CHARACTERS - 1] + "…"
    return ""


def _tail(path: Path) -> str:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return ""
        return os.pread(file, _TAIL, max(0, found.st_size - _TAIL)).decode("utf-8", "replace")
    finally:
        os.close(file)
