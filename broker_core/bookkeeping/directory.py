"""The state directory: who holds it, and on what kind of file system it lies (reliability case 4)."""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

from broker_core.bookkeeping.faults import storage_error
from broker_core.errors import CrossDeskError, StateDirectoryTaken

LOCK_FILE = "broker.lock"
RECORD_BYTES = 512
"""The record is written over in place, so that it can be changed on a full disk."""
OUTLIVED = 5.0
"""Seconds for which a lock may outlive its holder: a program that it was starting when it was killed still
has its files until it runs."""
_PAUSE = 0.02
MOUNTS = Path("/proc/self/mounts")
_NETWORK = ("nfs", "cifs", "smb", "fuse.", "lustre", "gpfs", "afs", "ceph", "9p", "beegfs", "pvfs", "ncpfs")


@dataclass(frozen=True, slots=True)
class Holder:
    """The broker that has a state directory."""

    host: str
    pid: int
    started: float
    """Seconds since the epoch, UTC."""

    def __str__(self) -> str:
        return f"{self.host} pid {self.pid}"


def prepare(directory: Path) -> None:
    """Make the directory (0700) if it is not there; raises CrossDeskError if it cannot be written."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(directory, 0o700)
    except OSError as error:
        raise unwritable(directory, error) from error


def unwritable(directory: Path, error: OSError) -> CrossDeskError:
    """What to tell a user whose state directory cannot be used."""
    return storage_error(error, directory) or CrossDeskError(
        f"The state directory cannot be used ({error.strerror}).",
        place=str(directory),
        remedy="Make it writable, or choose another with --state-dir.",
        code="state_directory_unusable",
    )


def network_kind(directory: Path, mounts: Path = MOUNTS) -> str:
    """The type of the network file system that holds a directory, e.g. `nfs4`; empty if it is local."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    path, best, kind = directory.resolve(), -1, ""
    for line in lines:
        _, point, found = line.split(" ")[:3]
        mounted = Path(point.encode("utf-8", "surrogateescape").decode("unicode_escape"))
        if path.is_relative_to(mounted) and len(mounted.parts) >= best:
            best, kind = len(mounted.parts), found
    return kind if kind.startswith(_NETWORK) else ""


class DirectoryLock:
    """The kernel's lock on a state directory, held as long as this object is open."""

    def __init__(self, directory: Path, holder: Holder, *, network: bool) -> None:
        """Take the lock; raises StateDirectoryTaken, whose place is "host pid N"."""
        self.path = directory / LOCK_FILE
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unwritable(directory, error) from error
        try:
            self._take(directory, holder, network)
        except BaseException:
            os.close(self._file)
            raise

    def _take(self, directory: Path, holder: Holder, network: bool) -> None:
        before = self._recorded()
        outlived = before is not None and before.host == holder.host and _is_gone(before.pid)
        try:
            self._lock(OUTLIVED if outlived else 0.0)
        except BlockingIOError:
            raise taken(self._recorded()) from None
        except OSError as error:
            raise unwritable(directory, error) from error
        if network and before is not None and before.host != holder.host:
            # Not every network file system carries locks between hosts, so the record decides.
            raise taken(before, elsewhere=True)
        self._record(directory, holder)

    def _lock(self, seconds: float) -> None:
        """Wait for the lock as long as nobody else takes it; raises BlockingIOError."""
        before, end = self._recorded(), time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= end or self._recorded() != before:
                    raise
            threading.Event().wait(_PAUSE)

    def _recorded(self) -> Holder | None:
        return _parsed(os.pread(self._file, 4096, 0))

    def _record(self, directory: Path, holder: Holder) -> None:
        try:
            os.pwrite(self._file, orjson.dumps(holder).ljust(RECORD_BYTES), 0)
        except OSError as error:
            raise unwritable(directory, error) from error

    def release(self) -> None:
        """Give the directory free; the record is emptied, so that another host may take it.

        A disk that takes nothing keeps the record, which then hinders other hosts only.
        """
        try:
            os.pwrite(self._file, b" " * RECORD_BYTES, 0)
        except OSError as error:
            logging.getLogger("crossdesk.store").warning("The record of the holder stays: %s", error)
        finally:
            os.close(self._file)


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def taken(holder: Holder | None, *, elsewhere: bool = False) -> StateDirectoryTaken:
    """The refusal that names who holds the directory."""
    who = str(holder) if holder else "an unnamed process"
    remedy = "Stop it first (crossdesk broker stop), or use another directory with --state-dir."
    if elsewhere and holder:
        remedy = (
            f"Stop the broker on {holder.host}. If that machine is gone for good, "
            f"run: crossdesk broker repair --release"
        )
    return StateDirectoryTaken("Another broker holds the state directory.", place=who, remedy=remedy)


def read_holder(directory: Path) -> Holder | None:
    """Who holds or last held a state directory, as recorded; None if nobody is."""
    try:
        return _parsed((directory / LOCK_FILE).read_bytes())
    except OSError:
        return None


def _parsed(text: bytes) -> Holder | None:
    try:
        return Holder(**orjson.loads(text)) if text.strip() else None
    except (ValueError, TypeError):
        return None


def present_holder(host: str, pid: int) -> Holder:
    """The holder that this process is, from now on."""
    return Holder(host, pid, time.time())
