"""Settings of this desk, as opposed to those of the broker: where agents of its jobs may call it."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from platformdirs import user_config_dir

from broker_core.errors import BadRequest
from broker_core.interactive.channel.rendezvous import Endpoint, read_ports

VARIABLE = "CROSSDESK_LISTEN"
"""Names the place for one command; goes before the file."""
PORTS_VARIABLE = "CROSSDESK_DIRECT_PORTS"
"""Names the ports at which agents may call this desk without the relay, or `none`."""
_FORM = re.compile(r"(?:\[([^\]\s]+)\]|([^\s:]+)):(\d{1,5})")


def desk_file() -> Path:
    """The file of settings, which need not be there; `listen = "HOST:PORT"` is all that it knows."""
    return Path(user_config_dir("crossdesk")) / "desk.toml"


def listen_place() -> Endpoint | None:
    """Where this desk waits for agents; None: it listens nowhere. Raises BadRequest for what is no place."""
    text, origin = os.environ.get(VARIABLE, ""), VARIABLE
    if not text:
        text, origin = _written()
    if not text:
        return None
    found = _FORM.fullmatch(text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise BadRequest(
            f"{text!r} is no place to listen.", place=origin, remedy='Write it as "HOST:PORT".', code="usage"
        )
    return Endpoint(found[1] or found[2], int(found[3]))


def own_ports() -> range | None:
    """What the environment says of these ports; None: as the broker's settings say. Raises BadRequest."""
    return ports_of(os.environ.get(PORTS_VARIABLE, ""))


def ports_of(text: str) -> range | None:
    """The ports of such a text, None where nothing is said; raises BadRequest."""
    if not text:
        return None
    try:
        return read_ports(text)
    except ValueError as error:
        raise BadRequest(str(error), place=text, remedy="E.g. 20000-25000.", code="usage") from error


def _written() -> tuple[str, str]:
    path = desk_file()
    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError) as error:
        raise BadRequest(f"The settings of this desk cannot be read: {error}.", place=str(path)) from error
    unknown = set(found) - {"listen"}
    if unknown or not isinstance(found.get("listen", ""), str):
        raise BadRequest(
            "Settings of a desk are: listen.", place=str(path), remedy='E.g. listen = "HOST:PORT".'
        )
    return found.get("listen", ""), str(path)
