"""Lines of an interactive job on this machine: its files are here."""

from __future__ import annotations

import os

from broker_core.errors import NotFound
from broker_core.sites.lines import LineAnswer, LineBytes, LineCall
from broker_core.sites.run_files import find_file
from broker_core.worker.line_files import CONTROL, FOLDER, HEARD, INPUT


def carry_lines(attempt: str, call: LineCall) -> LineAnswer:
    """See `Site.carry_lines`; `attempt`: its directory. Takes no time to speak of."""
    folder = f"{attempt}/{FOLDER}"
    try:
        typed = _put(f"{folder}/{INPUT}", call.typed)
        control = _put(f"{folder}/{CONTROL}", call.control)
        _write(f"{folder}/{HEARD}", LineBytes(0, f"{call.sign}\n".encode()))
    except FileNotFoundError as error:
        raise NotFound("The plain agent of the job is not there.", place=attempt) from error
    found = [
        _part(f"{attempt}/job", name, place, call.most)
        for name, place in zip(call.outputs, call.places, strict=True)
    ]
    return LineAnswer(typed, control, tuple(size for size, _ in found), tuple(data for _, data in found))


def _put(path: str, carried: LineBytes) -> int:
    """Write at a place that is there already or the next; returns how long the file is then."""
    if carried.data and carried.place <= os.stat(path).st_size:
        _write(path, carried)
    return os.stat(path).st_size


def _write(path: str, carried: LineBytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        os.pwrite(file, carried.data, carried.place)
    finally:
        os.close(file)


def _part(job: str, name: str, place: int, most: int) -> tuple[int, bytes]:
    """Size of an output and a part of it; the job may have removed it."""
    try:
        file = os.open(find_file(job, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (NotFound, OSError):
        return place, b""
    try:
        size = os.fstat(file).st_size
        return size, os.pread(file, most, place) if size > place else b""
    finally:
        os.close(file)
