"""The records that one plain attempt leaves of its end (CB-JS-06), as `job_starter.sh` writes them."""

from __future__ import annotations

import os
import resource
import shutil
import time
from contextlib import suppress

from broker_core.worker.scripts import lasting_starter as starter
from broker_core.worker.scripts.payloads.order_file import Order
from broker_core.worker.scripts.payloads.outputs import list_outputs

_OUR_FAILURE, _BEYOND = 227, 199
_EXITS = {"wall-limit": 224, "output-limit": 225, "out-of-memory": 230}
"""Kinds of failure to the exit status of a Job Starter."""
_LEFT = ("room", "kernel")


class EndOfProgram:
    """How it ended: exit status or `-`, kind of failure or `-`, and why, escaped."""

    def __init__(
        self, status: int | str, kind: str, reason: str, usage: resource.struct_rusage | None = None
    ) -> None:
        self.status, self.kind, self.reason, self.usage = status, kind, reason, usage
        self.terminated = False
        """The batch system asked to end while the program ran."""

    @property
    def exit_status(self) -> int:
        """As of `job_starter.sh`."""
        if self.kind != "-":
            return _EXITS.get(self.kind, _OUR_FAILURE)
        code = int(self.status)
        return _BEYOND if code > 192 or 125 < code < 129 else code


def record_end(order: Order, end: EndOfProgram) -> int:
    """Write how it ended, tell the broker, and return the exit status."""
    here = order["directory"]
    missing: list[str] = []
    for name in starter.OWN_FILES:
        with suppress(OSError):  # it is none, or the program made a folder of it
            os.unlink(name)
    with suppress(OSError):
        if end.status != "-":
            starter.limit_published()
            missing = [encoded for name, encoded in order["outputs"] if not starter.produced(name)]
            list_outputs(order)
    more = "terminated 1\n" if end.terminated else ""
    times = "0m0s 0m0s"
    if end.usage is not None:
        peak = _peak(end.usage)
        more += f"memory {peak}\n" if peak else ""
        times = f"0m{end.usage.ru_utime:.6f}s 0m{end.usage.ru_stime:.6f}s"
    for name in _LEFT:
        with suppress(OSError):
            os.unlink(f"{here}/{name}")
    with suppress(OSError):  # the disk is full: the broker finds out that nothing is told
        write(
            f"{here}/ended",
            f"exit {end.status}\nfailure {end.kind}\nuptime {starter.uptime()}\ntime {int(time.time())}\n"
            f"missing {','.join(missing)}\nreason {end.reason}\n{more}times\n0m0s 0m0s\n{times}\n.\n",
        )
        tell(order, "outputs", "o")
        tell(order, "ended", "e")
    return end.exit_status


def _peak(usage: resource.struct_rusage) -> int:
    """Most KiB in memory at one look; 0 if that is not known."""
    samples = [0]
    with suppress(OSError):
        samples = starter.sampled_memory()
    # A program has our own peak until it begins.
    begins = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max(usage.ru_maxrss if usage.ru_maxrss > begins else 0, *samples)


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


def write(path: str, text: str) -> None:
    """Make a file; raises OSError."""
    with open(path, "w") as file:
        file.write(text)
