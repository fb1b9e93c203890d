"""What a box is made of, and what it lets through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys", "/cvmfs", "/nix",
)  # fmt: skip
"""What every program needs, readable and never written; those that are not there are left out."""


class BoxKind(StrEnum):
    """How a program is boxed; the value is what people read."""

    BUBBLEWRAP = "bubblewrap"
    """Namespaces of its own: it sees no other files and no other processes."""
    LANDLOCK = "landlock"
    """Rules of the kernel: it opens no other files and signals no other processes, but sees that they exist.
    It can still change the modes of files whose names it knows, and connect to sockets that have a path."""
    NONE = "not boxed"
    """Neither works here: nothing keeps it from the neighbor's files and processes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box around one program."""

    directory: Path
    """The only one that it may write to; it starts there. Absolute, without links."""
    readable: tuple[Path, ...] = ()
    """Further files and directories that it may read and run, such as its software."""

    def read_only(self) -> list[Path]:
        """All that it may read and run besides its directory, as far as it is there."""
        return [path for path in (*map(Path, SYSTEM), *self.readable) if path.exists()]
