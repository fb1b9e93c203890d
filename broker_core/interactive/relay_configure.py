"""`crossdesk-relay configure`: the settings file of a relay, and its service (CB-GCB-02)."""

from __future__ import annotations

import sys
from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.interactive.meeting import PORTS
from broker_core.interactive.relay_settings import RelaySettings, text_of

SETTINGS, SERVICE = "crossdesk-relay.toml", "crossdesk-relay.service"
_SERVICE = """[Unit]
Description=Relay for interactive jobs of CrossDesk
After=network-online.target

[Service]
ExecStart={python} -m broker_core.interactive.relay --settings {settings}
Restart=always
DynamicUser=yes
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
LimitNOFILE=16384

[Install]
WantedBy=multi-user.target
"""


def configure(directory: Path, address: str | None, port: int | None) -> str:
    """Write both files and return what is to be done next; raises BadRequest where one exists already."""
    directory = directory.absolute()
    settings = RelaySettings(address=address or "0.0.0.0", port=port or PORTS.start)  # noqa: S104 - it is for others
    _write(directory / SETTINGS, text_of(settings))
    service = _SERVICE.format(python=sys.executable, settings=directory / SETTINGS)
    _write(directory / SERVICE, service)
    return (
        f"Wrote {directory / SETTINGS} and {directory / SERVICE}.\n"
        f"Start it: systemctl enable --now {directory / SERVICE}\n"
        f"A broker uses it with this line in broker.toml; NAME is this machine for nodes and desks:\n"
        f'    relay = "NAME:{settings.port}"\n'
        "Nodes and desks only need to reach this port; no port has to be opened towards them.\n"
    )


def _write(path: Path, text: str) -> None:
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise BadRequest("The file exists already.", place=str(path), remedy="Move it away first.") from error
    except OSError as error:
        raise BadRequest(f"It cannot be written: {error.strerror}.", place=str(path)) from error
