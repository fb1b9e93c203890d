"""The records that one plain attempt leaves of its end (CB-JS-06), as `job_records.sh` writes them."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress

from broker_core.worker.scripts.payloads.outputs import list_outputs
from broker_core.worker.scripts.plain import records
from broker_core.worker.scripts.plain.records import EndOfProgram, Order

_OUR_FAILURE, _BEYOND = 227, 199
_EXITS = {"wall-limit": 224, "output-limit": 225, "out-of-memory": 230}
"""Kinds of failure to the exit status of a Job Starter."""
_LEFT = ("room", "kernel")


def exit_status(end: EndOfProgram) -> int:
    """As of `job_records.sh`."""
    if end.kind != "-":
        return _EXITS.get(end.kind, _OUR_FAILURE)
    code = int(end.status)
    return _BEYOND if code > 192 or 125 < code < 129 else code


def record_end(order: Order, end: EndOfProgram) -> int:
    """Write how it ended, tell the broker, and return the exit status."""
    here, ran = order["directory"], end.status != "-"
    missing = records.clear_up(order)
    if ran:
        with suppress(OSError):  # the disk is full: what is not listed does not come home
            list_outputs(order)
    for name in _LEFT:
        with suppress(OSError):  # it is not there
            os.unlink(f"{here}/{name}")
    with suppress(OSError):  # the disk is full: the broker finds out that nothing is told
        records.write(f"{here}/ended", end.text(missing if ran else (), int(time.time())))
        tell(order, "outputs", "o")
        tell(order, "ended", "e")
    return exit_status(end)


def tell(order: Order, marker: str, letter: str) -> None:
    """Leave a marker where the broker looks for news."""
    path, news = f"{order['directory']}/{marker}", f"{order['news']}/{order['tag']}.{letter}"
    if not order["news"] or not os.path.exists(path):
        return
    try:
        os.link(path, news)
    except FileExistsError:
        pass  # it was left already
    except OSError:
        part = f"{order['news']}/.{order['tag']}.{letter}"
        shutil.copy2(path, part)
        os.rename(part, news)
