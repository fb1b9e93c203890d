"""What is to be reached over SSH, and where the user's SSH files are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SshAddress:
    """One account at one host; what is empty is as the SSH configuration says."""

    host: str
    """Name, address or alias."""
    port: int = 0
    user: str = ""
    jump: str = ""
    """Jump hosts as `user@host:port`, with commas between several; `none`: straight."""


@dataclass(frozen=True, slots=True)
class SshFiles:
    """The SSH configuration and what lies beside it."""

    config: Path
    """Keys without a name in the configuration are beside it."""
    known_hosts: Path | None = None
    """None: as the configuration says, else beside it."""

    @classmethod
    def of_user(cls) -> SshFiles:
        """Those that ssh uses."""
        return cls(Path("~/.ssh/config").expanduser())
