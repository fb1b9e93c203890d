"""The records that one plain attempt leaves of its end (CB-JS-06), as `job_records.sh` writes them."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from broker_core.worker.scripts.payloads.outputs import list_outputs
from broker_core.worker.scripts.plain import records
from broker_core.worker.scripts.plain.records import EndOfProgram, Order

_OUR_FAILURE, _BEYOND = 227, 199
_EXITS = {"wall-limit": 224, "output-limit": 225, "out-of-memory": 230}
"""Kinds of failure to the exit status of a Job Starter."""


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
    with suppress(OSError):  # it is not there
        os.unlink(f"{here}/kernel")
    with suppress(OSError):  # the disk is full: the broker finds out that nothing is told
        _write_end(here, end.text(missing if ran else (), int(time.time())))
        tell(order, "outputs", "o")
        tell(order, "ended", "e")
    return exit_status(end)


def _write_end(here: str, text: str) -> None:
    """Write the record into the room that there is for it on the disk, which also saves making a file."""
    room = f"{here}/room"
    try:
        os.truncate(room, len(text))
        file = os.open(room, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        records.write(f"{here}/ended", text)  # there was no room
        return
    records.put(file, text)
    os.rename(room, f"{here}/ended")


def tell(order: Order, marker: str, letter: str) -> None:
    """Leave a marker where the broker looks for news."""
    path, news = f"{order['directory']}/{marker}", f"{order['news']}/{order['tag']}.{letter}"
    if not order["news"]:
        return
    try:
        os.link(path, news)
    except FileExistsError:
        pass  # it was left already
    except OSError:
        if not os.path.exists(path):
            return  # there is none
        part = f"{order['news']}/.{order['tag']}.{letter}"
        import shutil  # it takes longer to import than many jobs run

        shutil.copy2(path, part)
        os.rename(part, news)
