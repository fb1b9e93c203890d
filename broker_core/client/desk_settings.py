"""Settings of this desk, as opposed to those of the broker: whether it listens for agents of its jobs."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from platformdirs import user_config_dir

from broker_core.errors import BadRequest
from broker_core.interactive.meeting import Place

VARIABLE = "CROSSDESK_LISTEN"
"""Names the place for one command; goes before the file."""
_FORM = re.compile(r"(?:\[([^\]\s]+)\]|([^\s:]+)):(\d{1,5})")


def desk_file() -> Path:
    """The file of settings, which need not be there; `listen = "HOST:PORT"` is all that it knows."""
    return Path(user_config_dir("crossdesk")) / "desk.toml"


def listen_place() -> Place | None:
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
    return Place(found[1] or found[2], int(found[3]))


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
