"""What a box lets through."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys", "/cvmfs", "/nix",
)  # fmt: skip
"""What every program needs, readable and never written; those that are not there are left out."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box around one program."""

    directory: Path
    """Where it starts, and may write. Absolute, without links."""
    readable: tuple[Path, ...] = ()
    """Further files and directories that it may read and run, such as its software."""
    writable: tuple[Path, ...] = ()
    """Further ones that it may write too."""

    def read_only(self) -> list[Path]:
        """All that it may read and run besides what it may write, as far as it is there."""
        return [path for path in (*map(Path, SYSTEM), *self.readable) if path.exists()]
