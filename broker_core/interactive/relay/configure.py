"""`crossdesk-relay configure`: the settings file of a relay, and its service (CB-GCB-02)."""

from __future__ import annotations

from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.interactive.channel.rendezvous import PORTS
from broker_core.interactive.relay.service import service
from broker_core.interactive.relay.settings import RelaySettings, text_of

SETTINGS, SERVICE = "crossdesk-relay.toml", "crossdesk-relay.service"


def configure(directory: Path, address: str | None, port: int | None) -> str:
    """Write both files, and the folder if it is missing; return what is to be done next.

    Raises BadRequest where one of the files exists already, or cannot be written.
    """
    directory = directory.absolute()
    settings = RelaySettings(address=address or "0.0.0.0", port=port or PORTS.start)  # noqa: S104 - it is for others
    _make(directory)
    for name in (SETTINGS, SERVICE):
        _must_be_free(directory / name)
    _write(directory / SETTINGS, text_of(settings))
    made = service(directory / SETTINGS, settings.port)
    _write(directory / SERVICE, made.text)
    return (
        f"Wrote {directory / SETTINGS} and {directory / SERVICE}.\n"
        f"{made.remark}"
        f"Start it: systemctl enable --now {directory / SERVICE}\n"
        f"A broker uses it with this line in broker.toml; NAME is this machine for nodes and desks:\n"
        f'    relay = "NAME:{settings.port}"\n'
        "Nodes and desks only need to reach this port; no port has to be opened towards them.\n"
    )


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(directory, error) from error


def _must_be_free(path: Path) -> None:
    if path.exists():
        raise BadRequest("The file exists already.", place=str(path), remedy="Move it away first.")


def _write(path: Path, text: str) -> None:
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> BadRequest:
    return BadRequest(
        f"It cannot be written: {error.strerror}.",
        place=str(path),
        remedy="Name a folder that you may write with --directory.",
    )
