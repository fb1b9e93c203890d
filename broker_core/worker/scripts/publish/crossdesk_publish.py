"""Publish what a running job has, which desks show live, and let them change it. Python 3.7 and newer.

    import crossdesk_publish as publish

    publish.series(epoch, loss=0.31, accuracy=0.9)
    publish.array("field", field)
    publish.table("layers", ["name", "weights"], [["first", 128]])
    publish.progress(0.4, "epoch 4 of 10")

    rate = publish.parameter("learning rate", 0.1, minimum=0.001, maximum=1)
    while True:
        train(rate.value)

Outside of a job nothing happens, and parameters keep their values. A full disk, or a limit that is reached,
ends what is published, not the program: each call returns whether its record was written. It is one write at
the end of the file that CROSSDESK_DATA names, so that threads and processes of one node may publish at once.
"""

from __future__ import annotations

import json
import math
import os
import resource
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

MOST = 1 << 30
"""Bytes that a job may publish; later ones are left out."""
MOST_PARAMETERS = 64
"""Parameters of a job."""
_MOST_NAME, _MOST_TEXT, _MOST_INTEGER = 80, 200, 1 << 53
_PAUSE = 0.02
"""Seconds in which the value of a parameter is not read again."""
_READERS: Mapping[str, Any] = {
    "number": float, "integer": int, "choice": str, "text": str,
    "switch": {"true": True, "false": False}.__getitem__,
}
_TYPES = {bool: "switch", int: "integer", float: "number", str: "text"}
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


class ProgramParameter:
    """One parameter that desks may change. Reading `value` takes a change over, and says so."""

    def __init__(self, name: str, value: Any, about: Mapping[str, Any]) -> None:
        self.name = name
        self.change = 0
        """Number of the latest change that was read."""
        self._value, self._about = value, about
        self._check(value)

    @property
    def value(self) -> Any:
        """The value to use now."""
        _changes.read()
        return self._value

    def declare(self, value: Any, about: Mapping[str, Any]) -> None:
        """Tell desks of it, also of another range; the value of a desk stays if it is within."""
        former, self._about = self._value, about
        self._value = value
        if self.change:
            with suppress(ValueError):  # it is beyond the new range: the one that is declared holds
                self._check(former)
                self._value = former
        record({"parameter": self.name, "value": self._value, **about})

    def take(self, change: int, by: str, text: str) -> None:
        """Take a change over, if it is a value of this parameter."""
        self.change = change
        answer: dict[str, Any] = {"parameter": self.name, "change": change, "by": by}
        try:
            value = _READERS[self._about["type"]](text)
            self._check(value)
            self._value = answer["value"] = value
        except (ValueError, KeyError):
            answer["refused"] = "It is no value that the program takes."
        record(answer)

    def _check(self, value: Any) -> None:
        """Raise ValueError for what is no value of it."""
        kind, low, high = self._about["type"], self._about.get("minimum"), self._about.get("maximum")
        fits = isinstance(value, bool) == (kind == "switch")
        if kind == "choice":
            fits = value in self._about["choices"]
        elif kind == "text":
            fits = isinstance(value, str) and value.isprintable() and len(value.encode()) <= _MOST_TEXT
        elif kind in ("number", "integer") and fits:
            fits = isinstance(value, int if kind == "integer" else (int, float)) and math.isfinite(value)
            fits = fits and (low is None or low <= value) and (high is None or value <= high)
            fits = fits and (kind == "number" or abs(value) <= _MOST_INTEGER)
        if not fits:
            raise ValueError(f"{value!r} is no value of the parameter {self.name}")


class _Changes:
    """The file with the changes, read when it is another one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._path = os.environ.get("CROSSDESK_PARAMETERS", "")
        self._seen: Any = None
        self._next = 0.0
        self.parameters: dict[str, ProgramParameter] = {}

    def read(self, again: bool = False) -> None:
        """Have parameters take over what is new. `again`: also what was there before."""
        now = time.monotonic()
        if not self._path or (now < self._next and not again):
            return
        with self._lock:
            self._next = now + _PAUSE
            try:
                found = os.stat(self._path)
                seen = (found.st_ino, found.st_mtime_ns, found.st_size)
                if seen != self._seen or again:
                    with open(self._path, encoding="utf-8", errors="replace") as file:
                        lines = file.read(1 << 16).split("\n")
                    self._seen = seen
                    for line in lines:
                        self._take(line.split("\t"))
            except OSError:
                return

    def _take(self, parts: Sequence[str]) -> None:
        known = self.parameters.get(parts[2]) if len(parts) == 4 and parts[0].isdigit() else None
        if known is not None and int(parts[0]) > known.change:
            known.take(int(parts[0]), parts[1], parts[3])


_changes = _Changes()


def parameter(
    name: str,
    value: Any,
    minimum: float | None = None,
    maximum: float | None = None,
    unit: str = "",
    choices: Sequence[str] = (),
) -> ProgramParameter:
    """Let desks change a value: a number, whole number, switch (bool), one of `choices`, or a text.

    Returns an object whose `value` is to be used. Declared once more, a parameter has the new range. Raises
    ValueError for what cannot be.
    """
    value, limits = _plain(value), [_plain(one) for one in (minimum, maximum)]
    kind = next((kind for type_, kind in _TYPES.items() if isinstance(value, type_)), "")
    if kind == "integer" and any(isinstance(one, float) for one in limits):
        kind, value = "number", float(value)
    if not name.strip() or not name.isprintable() or "=" in name or len(name.encode()) > _MOST_NAME:
        raise ValueError(f"the name of a parameter is a line of at most {_MOST_NAME} bytes, without =")
    if not kind or not all(one is None or math.isfinite(one) for one in limits):
        raise ValueError("a parameter is a number, a bool or a text, and its range has an end")
    about: dict[str, Any] = {"type": "choice" if choices else kind}
    about.update(minimum=limits[0], maximum=limits[1], unit=unit or None, choices=list(choices) or None)
    about = {key: one for key, one in about.items() if one is not None}
    if None not in limits and not limits[0] < limits[1]:
        raise ValueError("the range of a parameter is empty")
    fresh = ProgramParameter(name, value, about)
    made = _changes.parameters.get(name, fresh)
    if name not in _changes.parameters and len(_changes.parameters) >= MOST_PARAMETERS:
        raise ValueError(f"a job has at most {MOST_PARAMETERS} parameters")
    made.declare(value, about)
    _changes.parameters[name] = made
    _changes.read(again=True)
    return made


def _plain(value: Any) -> Any:
    """Numbers of other libraries as Python's own."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else float(value)
