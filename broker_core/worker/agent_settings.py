"""What an interactive agent is told at its start: one variable, taken away before the program starts."""

from __future__ import annotations

import json
import os
from collections.abc import MutableMapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from broker_core.worker.encoding import decode

VARIABLE = "CROSSDESK_SESSION"
"""Holds the settings as JSON: in the environment, because other users of the node can read arguments."""
BOX = "CROSSDESK_BOX"
"""Holds the words of `box.sh` as a list, up to the directory of the attempt."""
CONTACT = ".crossdesk-agent"
"""File in the job's directory in which the agent leaves its key for the broker; its last line holds."""
SERVICES = ".crossdesk-services"
"""File in the job's directory in which its program says what it serves; CROSSDESK_SERVICES names it."""
PARAMETERS = ".crossdesk-parameters"
"""File in the job's directory with the changes of its parameters; CROSSDESK_PARAMETERS names it."""
FAILURE = "agent-failure"
"""File beside the job's directory, for the Job Starter: why the agent gave up, then the kind of failure.

The second line may be missing: then the agent itself failed.
"""
NO_DESK = "no-desk"
"""The kind of failure where the Bypass agent killed the program because no desk came back (CB-BYP-05)."""
IDLE = "/bin/cat"
"""What an agent runs that is brought beside the program of a batch job: it waits, and ends with the agent."""
TERMINAL, LINES = "terminal", "lines"
"""The two kinds of agent: i2glogin (CB-I2G) and Bypass (CB-BYP)."""
MB = 1 << 20


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Times in seconds, sizes in bytes."""

    token: str
    """Under which agent and desk meet."""
    places: tuple[tuple[str, int], ...]
    """Hosts and ports at which to meet, all tried at the same time."""
    keys: tuple[str, ...]
    """Public keys of the desks that are let in, as in OpenSSH."""
    mode: str = TERMINAL
    retry_interval: float = 10.0
    """Between two attempts to reach a desk (CB-BYP-05)."""
    max_retries: int = 60
    """Failed attempts after which the Bypass agent kills the program; 0: never. The terminal never does."""
    replay: int = 8 * MB
    """Of past output of each stream that a desk which comes later is shown."""
    memory: int = MB
    """Of each stream in memory; older output is on the node's disk."""
    disk: int = 4096 * MB
    """Of each stream on the disk that no desk has yet; then the program has to wait."""
    keepalive: float = 15.0
    """Between two signs of life; after three without an answer a connection counts as broken."""
    linger: float = 60.0
    """How long a desk may take to fetch the last output of a terminal after the program has ended."""
    columns: int = 80
    rows: int = 24
    term: str = "xterm-256color"
    tee: bool = False
    """Write the output to the job's files too, because the description names them."""
    forwards: bool = True
    """Desks may open forwards, files, commands and networks beside the program."""
    introducer: str = ""
    """The broker's own public key: who has it may tell whom to let in, and nothing else."""
    x11: bool = False
    """Give the program a display whose windows desks show."""
    display_wait: float = 600.0
    """That a program waits for a desk which shows its windows."""
    screen: tuple[int, int] | None = None
    """Width and height of the program's own virtual screen, in pixels; None: it has none."""

    def text(self) -> str:
        """The value of the variable."""
        return json.dumps(asdict(self), separators=(",", ":"))


def take_settings(environment: MutableMapping[str, str]) -> AgentSettings:
    """Take the settings out of the environment; raises ValueError for what is missing or wrong."""
    text = environment.pop(VARIABLE, "")
    if not text:
        raise ValueError(f"{VARIABLE} is not set: this program is started by the Job Starter.")
    return settings_of(json.loads(text))


def take_box(environment: MutableMapping[str, str], attempt: Path) -> tuple[str, ...]:
    """Take from the environment what comes before the words of a command in the job's box.

    Empty: it has none. `attempt`: the directory of the attempt.
    """
    text = environment.pop(BOX, "")
    return ("/bin/sh", *map(decode, text.split(",")), str(attempt)) if text else ()


def settings_of(found: dict[str, Any]) -> AgentSettings:
    """Settings from plain values; names of a newer version are left out."""
    known = {field.name for field in fields(AgentSettings)}
    values = {name: value for name, value in found.items() if name in known}
    values["places"] = tuple((str(host), int(port)) for host, port in values["places"])
    values["keys"] = tuple(values["keys"])
    if values.get("screen"):
        width, height = values["screen"]
        values["screen"] = (int(width), int(height))
    if values.get("mode", TERMINAL) not in (TERMINAL, LINES):
        raise ValueError(f"There is no agent of the kind {values['mode']!r}.")
    return AgentSettings(**values)


def leave_contact(directory: Path, values: dict[str, Any]) -> None:
    """Write the contact file, whole or not at all; what is said later follows as a further line.

    A file that only grows can be read from afar by what is new of it. Raises OSError; what is there of a line
    then is no line, and the next one begins behind it.
    """
    line, place = json.dumps(values).encode() + b"\n", directory / CONTACT
    if place.is_symlink():
        place.unlink()  # by the program, which is to lead us nowhere
    if place.exists():
        with open(os.open(place, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "rb+") as file:
            file.seek(-1, os.SEEK_END)
            file.write(line if file.read() == b"\n" else b"\n" + line)
        return
    fresh = directory / f"{CONTACT}.part"
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(line)
    fresh.replace(place)
