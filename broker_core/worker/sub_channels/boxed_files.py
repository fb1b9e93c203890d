"""Files of a job in a box, for its desks (CB-SEC)."""

from __future__ import annotations

import os
from pathlib import Path

import asyncssh


class FilesInBox(asyncssh.SFTPServer):
    """Those of the job's directory, and none elsewhere to which a link leads."""

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes], directory: Path) -> None:
        self._own = os.path.realpath(directory)
        super().__init__(channel, chroot=os.fsencode(directory))

    def map_path(self, path: bytes) -> bytes:
        """See `asyncssh.SFTPServer`; raises SFTPPermissionDenied for what a link has elsewhere."""
        found = super().map_path(path)
        if not Path(os.path.realpath(os.fsdecode(found))).is_relative_to(self._own):
            raise asyncssh.SFTPPermissionDenied("It is not in the job's directory.")
        return found

    def exit(self) -> None:
        """A client of the user's own has what it wanted, and wants to hear that its server ended well."""
        if self.channel.get_subsystem() == "sftp":
            self.channel.exit(0)
