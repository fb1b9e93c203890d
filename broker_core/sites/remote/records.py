"""What this machine keeps of attempts at a remote site: output that was brought, and how they ended."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.jobs.placement import Component
from broker_core.sites.attempt_directory import AttemptDirectory, attempts_in
from broker_core.sites.left_files import LeftAtSite, read_written, written

_LIBC = ctypes.CDLL(None, use_errno=True)
_BROUGHT = "brought"


class RemoteRecords:
    """One directory for each attempt. The end is written after the output, so that it vouches for it."""

    def __init__(self, directory: Path) -> None:
        self._root = directory / "attempts"
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._left = directory / "left"
        """A file for each attempt that left something at the site."""

    def output(self, attempt: Component) -> str:
        """Where the files of an attempt lie; may not be there."""
        return AttemptDirectory(self._root, attempt.tag).job

    def open_output(self, attempt: Component) -> Path:
        """The same, made if need be."""
        os.makedirs(self.output(attempt), mode=0o700, exist_ok=True)
        return Path(self.output(attempt))

    def keep(self, ended: AttemptEnded) -> None:
        """Write an end down; from now on the site is not needed for it."""
        directory = AttemptDirectory(self._root, ended.component.tag)
        try:
            directory.write_end(ended)
        except FileNotFoundError:
            self.open_output(ended.component)
            directory.write_end(ended)

    def note_brought(self, attempt: Component) -> None:
        """Write down that all output of an attempt is here; together with its end, which is kept after this,
        it tells also a broker that did not bring it that nothing is needed at the site."""
        path = Path(AttemptDirectory(self._root, attempt.tag).path, _BROUGHT)
        try:
            path.touch()
        except FileNotFoundError:
            self.open_output(attempt)
            path.touch()

    def is_brought(self, attempt: Component) -> bool:
        """True if an end is kept and all output is here."""
        path = Path(AttemptDirectory(self._root, attempt.tag).path)
        return (path / _BROUGHT).exists() and self.end(attempt) is not None

    def note_left(self, attempt: Component, left: LeftAtSite) -> None:
        """Write down what an attempt left at the site; its directory there stays as long as it names some."""
        self._left.mkdir(mode=0o700, exist_ok=True)
        part = self._left / f".{attempt.tag}.part"
        part.write_bytes(written(left))
        part.replace(self._left / attempt.tag)

    def left(self, attempt: Component) -> LeftAtSite | None:
        """What an attempt left there, if it ever left something."""
        try:
            return read_written((self._left / attempt.tag).read_bytes())
        except FileNotFoundError:
            return None

    def keeps_at_site(self, attempt: Component) -> bool:
        """True if something of an attempt is at the site alone; true too where its record is damaged."""
        left = self.left(attempt)
        return not left.is_empty if left is not None else (self._left / attempt.tag).exists()

    def all_left(self) -> dict[Component, LeftAtSite]:
        """All that lies at the site alone."""
        there = attempts_in(self._left, files=True) if self._left.is_dir() else []
        found = ((one, self.left(one)) for one in there)
        return {one: left for one, left in found if left is not None and not left.is_empty}

    def settle(self) -> None:
        """Have all that was kept on the disk, so that a power cut takes nothing of it; raises OSError."""
        place = os.open(self._root, os.O_RDONLY)
        try:
            # One call for hundreds of files.
            if _LIBC.syncfs(place):
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(self._root))
        finally:
            os.close(place)

    def end(self, attempt: Component) -> AttemptEnded | None:
        """The end that was kept."""
        return AttemptDirectory(self._root, attempt.tag).end()

    def attempts(self) -> list[Component]:
        """All of which something is kept."""
        return attempts_in(self._root)

    def remove(self, attempt: Component) -> None:
        """Remove everything of an attempt."""
        (self._left / attempt.tag).unlink(missing_ok=True)
        AttemptDirectory(self._root, attempt.tag).remove()
