"""Programs of the broker's that sites keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CachedProgram:
    """A program of the broker's that a site keeps by its hash, so that it travels there once."""

    name: str
    """With the kind of machine in it where it does not run everywhere: `...x86_64-linux`."""
    path: Path
    """Where it is, on the broker's machine."""
    sha256: str

    @property
    def cached_name(self) -> str:
        """Its name at a site, which tells its content."""
        return f"{self.name}.{self.sha256[:16]}"
