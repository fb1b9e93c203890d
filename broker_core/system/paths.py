"""Where the broker keeps and finds things. Importable everywhere: needs nothing but the path names."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_config_dir, user_data_dir

STATE_VARIABLE = "CROSSDESK_STATE_DIR"
"""Environment variable that names the state directory."""

SOCKET_LIMIT = 100
"""Bytes that the name of a UNIX socket may have (the kernel takes 107)."""


@dataclass(frozen=True, slots=True)
class Paths:
    """All paths of one state directory. Making the object touches nothing on the disk."""

    state: Path
    """The state directory itself, absolute."""

    @property
    def store(self) -> Path:
        """Directory of the job store."""
        return self.state / "store"

    @property
    def files(self) -> Path:
        """Directory of uploaded sandbox files."""
        return self.state / "files"

    @property
    def launchers(self) -> Path:
        """Directory with a folder for each attempt over several sites."""
        return self.state / "launchers"

    @property
    def sites(self) -> Path:
        """Directory with one folder for each site."""
        return self.state / "sites"

    @property
    def policies(self) -> Path:
        """File that keeps which policies were chosen."""
        return self.state / "policies.json"

    @property
    def replicas(self) -> Path:
        """Document of the embedded replica catalogue."""
        return self.state / "replicas.json"

    @property
    def log(self) -> Path:
        """The broker's log file; older ones have a number appended."""
        return self.state / "logs" / "broker.log"

    @property
    def holder(self) -> Path:
        """JSON file in which a running broker names its pid, host, socket and version."""
        return self.state / "broker.json"

    @property
    def stopped(self) -> Path:
        """File that is there after the broker was told to stop, until one starts again."""
        return self.state / "stopped"

    @property
    def settings(self) -> tuple[Path, Path, Path]:
        """Settings files, the weaker first: the user's, the state directory's, and what was chosen since."""
        own = Path(user_config_dir("crossdesk")) / "broker.toml"
        return own, self.state / "broker.toml", self.retention

    @property
    def retention(self) -> Path:
        """Settings file of what was chosen while a broker ran: how long and how much is kept."""
        return self.state / "retention.toml"

    @property
    def socket(self) -> Path:
        """Where a client finds the broker: as the running broker says, else as a new one would choose."""
        said = self.read_holder().get("socket")
        return Path(said) if isinstance(said, str) and said else self.new_socket

    @property
    def new_socket(self) -> Path:
        """Where a broker that starts now makes its socket."""
        name = hashlib.sha256(os.fsencode(self.state)).hexdigest()[:16] + ".sock"
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        if runtime and _is_mine(Path(runtime)):
            choice = Path(runtime) / "crossdesk" / name
            if _fits(choice):
                return choice
        choice = self.state / "run" / "broker.sock"
        if _fits(choice):
            return choice
        return Path(tempfile.gettempdir()) / f"crossdesk-{_uid()}" / name

    def read_holder(self) -> dict[str, Any]:
        """What the holder file says; empty if there is none or it cannot be read as such."""
        try:
            said = json.loads(self.holder.read_bytes())
        except (OSError, ValueError):
            return {}
        return said if isinstance(said, dict) else {}


def places(state_dir: Path | str | None = None) -> Paths:
    """Places of a state directory: the given one, else `CROSSDESK_STATE_DIR`, else the user's data folder."""
    chosen = state_dir or os.environ.get(STATE_VARIABLE) or user_data_dir("crossdesk")
    return Paths(Path(chosen).expanduser().resolve())


def _uid() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= SOCKET_LIMIT


def _is_mine(directory: Path) -> bool:
    try:
        return directory.is_dir() and directory.stat().st_uid == _uid()
    except OSError:
        return False
