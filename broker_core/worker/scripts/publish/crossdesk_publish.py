"""Publish numbers, arrays, tables and progress of a running job, which desks show live. Python 3.7 and newer.

    import crossdesk_publish as publish

    publish.series(epoch, loss=0.31, accuracy=0.9)
    publish.array("field", field)
    publish.table("layers", ["name", "weights"], [["first", 128]])
    publish.progress(0.4, "epoch 4 of 10")

Outside of a job nothing happens. A full disk, or a limit that is reached, ends what is published, not the
program: each call returns whether its record was written. It is one write at the end of the file that
CROSSDESK_DATA names, so that threads and processes of one node may publish at once.
"""

from __future__ import annotations

import json
import os
import resource
import threading
from collections.abc import Mapping, Sequence
from typing import Any

MOST = 1 << 30
"""Bytes that a job may publish; later ones are left out."""
_KINDS = {**dict.fromkeys("efd", "f"), **dict.fromkeys("?BHILQ", "u"), **dict.fromkeys("bhilq", "i")}
"""Letters of the formats of buffers, and kinds of numbers."""


class _Sink:
    """The file, opened with the first record of each process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._path = os.environ.get("CROSSDESK_DATA", "")
        self._handle, self._process = -1, 0

    def write(self, *parts: bytes | memoryview) -> bool:
        """Append one record; False once nothing more can be published."""
        with self._lock:
            if self._path and not self._append(parts):
                self._path = ""
            return bool(self._path)

    def _append(self, parts: Sequence[bytes | memoryview]) -> bool:
        size = sum(map(len, parts))
        try:
            if self._process != os.getpid():
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._handle, self._process = os.open(self._path, flags, 0o600), os.getpid()
            if os.fstat(self._handle).st_size + size > _limit():
                return False
            return os.writev(self._handle, parts) == size
        except OSError:
            return False


def _limit() -> int:
    """Bytes that the file may have: one that grew to the limit of files would end the program."""
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft)


_sink = _Sink()


def record(message: Mapping[str, Any], payload: bytes | memoryview = b"") -> bool:
    """Publish one record as a dictionary, with the bytes that follow it."""
    return _sink.write(json.dumps(message, separators=(",", ":")).encode() + b"\n", payload)


def series(x: Any = None, **values: Any) -> bool:
    """Add a point to each named curve; without `x` they are counted. For other names: `points`."""
    return points(values, x)


def points(values: Mapping[str, Any], x: Any = None) -> bool:
    """Add points to curves: name to a number, or to a list as long as that of `x`."""
    message: dict[str, Any] = {"series": {name: _plain(value) for name, value in values.items()}}
    if x is not None:
        message["x"] = _plain(x)
    return record(message)


def array(name: str, values: Any, shape: Sequence[int] = ()) -> bool:
    """Publish an array of up to three dimensions, or a picture (bytes, height x width x 3 or 4).

    `values`: of NumPy, any buffer (with its `shape`), or nested lists. Raises TypeError where they are no
    numbers.
    """
    if isinstance(values, (list, tuple)):
        return record({"array": name, "values": _plain(values)})
    view = memoryview(values)
    kind = _KINDS.get(view.format.lstrip("@=<>!"))
    if kind is None:
        raise TypeError(f"arrays of numbers can be published, not of {view.format}")
    order = ">" if view.format[0] in ">!" else "<"
    about = {"shape": list(shape or view.shape or ()), "type": f"{order}{kind}{view.itemsize}"}
    payload = view.cast("B") if view.c_contiguous else view.tobytes()
    return record({"array": name, **about, "bytes": view.nbytes}, payload)


def table(name: str, columns: Sequence[object], rows: Sequence[Sequence[Any]]) -> bool:
    """Publish a table; one of the same name is replaced."""
    return record({"table": name, "columns": list(map(str, columns)), "rows": [_plain(row) for row in rows]})


def progress(share: float, text: str = "") -> bool:
    """Tell how far the program is, 0 to 1, and what it does."""
    return record({"progress": float(share), "text": text})


def _plain(value: Any) -> Any:
    """Numbers of other libraries as Python's own."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else float(value)
