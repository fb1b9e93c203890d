"""What the desktop has told, kept over restarts: a file of one line for each notice, bounded."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.context import Notice, Tone

log = logging.getLogger(__name__)
MOST = 500
"""Notices kept; the oldest go."""


@dataclass(frozen=True, slots=True)
class LoggedNotice:
    """A notice with its moment."""

    time: float
    """Seconds since the epoch."""
    notice: Notice


class ActivityLog:
    """The notices of one state directory, also those of earlier windows. A count replaces the one before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        """Lines of the file; when they are twice as many as are kept, it is written anew."""
        self.all: list[LoggedNotice] = []
        """The oldest first."""
        for one in self._stored():
            self._take(one)

    def add(self, notice: Notice) -> None:
        """Keep a notice that is shown now."""
        entry = LoggedNotice(time.time(), notice)
        self._take(entry)
        self._lines += 1
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._lines > 2 * MOST:
                self._write_anew()
            else:
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(_line(entry))
        except OSError as error:
            log.info("What was told cannot be kept in %s: %s", self._path, error)

    def _take(self, entry: LoggedNotice) -> None:
        topic = entry.notice.topic
        if topic:
            self.all = [one for one in self.all if not (one.notice.counting and one.notice.topic == topic)]
        self.all.append(entry)
        del self.all[:-MOST]

    def _write_anew(self) -> None:
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".activity-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.writelines(map(_line, self.all))
        os.replace(name, self._path)
        self._lines = len(self.all)

    def _stored(self) -> Iterator[LoggedNotice]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except (FileNotFoundError, NotADirectoryError):  # the broker says what is wrong with its directory
            return
        except OSError as error:
            log.warning("What was told earlier cannot be read from %s: %s", self._path, error)
            return
        self._lines = len(lines)
        for line in lines:
            try:
                yield _entry(json.loads(line))
            except (ValueError, TypeError, KeyError):
                log.warning("A line of %s cannot be understood and is left aside", self._path)


def _line(entry: LoggedNotice) -> str:
    return json.dumps({"time": entry.time, **asdict(entry.notice)}) + "\n"


def _entry(found: dict[str, Any]) -> LoggedNotice:
    known = {name: found[name] for name in ("text", "action", "job", "other", "topic") if name in found}
    if not all(isinstance(value, str) for value in known.values()):
        raise TypeError("texts are expected")
    counting = found.get("counting") is True
    return LoggedNotice(float(found["time"]), Notice(**known, tone=Tone(found["tone"]), counting=counting))
