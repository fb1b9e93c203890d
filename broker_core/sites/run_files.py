"""Files of an attempt as others may read them: nothing outside the job's directory, whatever it links to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from broker_core.errors import NotFound
from broker_core.jobs.published.records import FILE as PUBLISHED
from broker_core.jobs.use import FILE as USE
from broker_core.sites.contract import RunFile
from broker_core.worker.agent_settings import CONTACT, PARAMETERS, SERVICES

_STEERING = tuple(f"{PARAMETERS}{end}" for end in ("", ".part", ".used", ".used.new"))
_NO_OUTPUT = (USE, PUBLISHED, CONTACT, SERVICES, *_STEERING)


def list_files(directory: str) -> list[RunFile]:
    """Regular files below `directory`, links left out; names that are no UTF-8 are shown with `\\x..`.

    The samples of what the job used, what an agent leaves there for the broker, what the program tells
    desks of its services, what it publishes, and changes of its parameters, are no files of its own.
    """
    found = (shown for shown, _ in _walk(directory) if shown.path not in _NO_OUTPUT)
    return sorted(found, key=lambda file: file.path)


def is_inside(path: str) -> bool:
    """True for a relative path that stays below the directory it is put into."""
    return "\0" not in path and not any(part in ("", ".", "..") for part in path.split("/"))


def find_file(directory: str, path: str) -> Path:
    """Where the file called `path` in `list_files` lies; raises NotFound, also for a path that escapes."""
    if is_inside(path):
        real = os.path.realpath(f"{directory}/{path}")
        if _is_below(real, os.path.realpath(directory)) and _is_regular(real):
            return Path(real)
        if "\\x" in path:
            for shown, place in _walk(directory):
                if shown.path == path:
                    return Path(place)
    raise NotFound("The job has no such file.", place=path[:200], remedy="List the job's files.")


def _walk(directory: str) -> Iterator[tuple[RunFile, str]]:
    for folder, _, names in os.walk(directory):
        for name in names:
            place = f"{folder}/{name}"
            try:
                found = os.lstat(place)
            except OSError:
                continue  # removed by the job meanwhile
            if stat.S_ISREG(found.st_mode):
                yield RunFile(_shown(place[len(directory) + 1 :]), found.st_size, found.st_mtime), place


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(directory + "/")


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
