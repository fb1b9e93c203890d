"""Everything that a program wrote, kept in a file of this machine while its console is open."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path


class Transcript:
    """An unnamed temporary file: it is gone with the console."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="crossdesk-console-")  # noqa: SIM115 # closed by `close`
        self._size = 0

    def add(self, data: bytes) -> None:
        """Keep some more."""
        self._file.write(data)
        self._size += len(data)

    def copy_to(self, path: Path) -> int:
        """Write everything into a file; returns its size. Raises OSError."""
        self._file.flush()
        self._file.seek(0)
        with path.open("wb") as target:
            shutil.copyfileobj(self._file, target, 1 << 20)
        self._file.seek(0, 2)
        return self._size

    def close(self) -> None:
        """Give the file up."""
        self._file.close()
