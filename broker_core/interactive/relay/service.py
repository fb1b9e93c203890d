"""The systemd service of a relay: under a user of its own where that one can read the program."""

from __future__ import annotations

import pwd
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - places of the system, nothing is written there
_PRIVILEGED = 1024
"""Ports below this one need a capability."""
_SERVICE = """[Unit]
Description=Relay for interactive jobs of CrossDesk
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={command}
WorkingDirectory={code}
Restart=always
{user}
CapabilityBoundingSet={capability}
AmbientCapabilities={capability}
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
LimitNOFILE=16384

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, slots=True)
class SystemdService:
    """A unit file, and what its reader should know."""

    text: str
    remark: str
    """Why it runs as an existing user, with the remedy; empty if it has a user of its own."""


def service(
    settings: Path, port: int, python: Path = Path(sys.executable), code: Path = _PACKAGE
) -> SystemdService:
    """The service that serves by this file of settings, with this interpreter and this package."""
    shut = _shut([python, python.resolve(), code, settings])
    words = (str(python), "-m", "broker_core.interactive.relay", "serve", "--settings", str(settings))
    text = _SERVICE.format(
        command=" ".join(map(_quoted, words)),
        code=_escaped(str(code.parent)),
        user=f"User={_owner(shut)}" if shut else "DynamicUser=yes",
        capability="CAP_NET_BIND_SERVICE" if 0 < port < _PRIVILEGED else "",
    )
    return SystemdService(text, _remark(shut) if shut else "")


def _shut(needed: Sequence[Path]) -> Path | None:
    """The first place on the way to these files that a user made by systemd cannot read, or sees empty."""
    for path in needed:
        for place in (*reversed(path.parents), path):
            bits = stat.S_IROTH if place == path and not place.is_dir() else stat.S_IXOTH
            if place in _TEMPORARY or not place.stat().st_mode & bits:
                return path if place in _TEMPORARY else place
    return None


def _owner(place: Path) -> str:
    number = place.stat().st_uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _remark(shut: Path) -> str:
    return (
        f"The service runs as {_owner(shut)}, without any privilege: {shut} is not there for other users.\n"
        "For a user of its own, install the program and write these files where all may read, for\n"
        "instance below /opt and /etc, and configure again.\n"
    )


def _escaped(text: str) -> str:
    """Without the specifiers of systemd."""
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    """A word of a command line, as systemd reads it."""
    plain = _escaped(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{plain}"' if plain != word or " " in word else plain
