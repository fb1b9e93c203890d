"""The display of the job's own program: there from its start, whoever shows it later (CB-I2G-03).

As with X11 by SSH, it listens on the node's loopback interface, and only who has the cookie is heard.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from pathlib import Path

from broker_core.interactive.channel.x_setup import COOKIE, COOKIE_BYTES, Setup, entry

HOST = "127.0.0.1"
FIRST, LAST = 10, 1010
"""Numbers of displays that are tried, as sshd does."""
BASE_PORT = 6000


class Display:
    """A listening display with its cookie; `agent_windows` serves it."""

    def __init__(self, directory: Path) -> None:
        """The cookie is kept in `directory`. Raises OSError where no number is free."""
        self.door, self.number = _free()
        self._cookie = secrets.token_bytes(COOKIE_BYTES)
        self._file = directory / "Xauthority-of-the-program"
        self._file.touch(0o600)
        self._file.write_bytes(entry(self.number, self._cookie))

    @property
    def name(self) -> str:
        """As in DISPLAY."""
        return f"{HOST}:{self.number}.0"

    @property
    def variables(self) -> dict[str, str]:
        """What the program needs in its environment."""
        return {"DISPLAY": self.name, "XAUTHORITY": str(self._file)}

    def admits(self, setup: Setup) -> bool:
        """Whether a program has the cookie."""
        return setup.name == COOKIE and hmac.compare_digest(setup.proof, self._cookie)

    def close(self) -> None:
        """Listen no longer."""
        self.door.close()


def _free() -> tuple[socket.socket, int]:
    for number in range(FIRST, LAST):
        door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            door.bind((HOST, BASE_PORT + number))
            door.listen(16)
        except OSError:
            door.close()
            continue
        door.setblocking(False)
        return door, number
    raise OSError("no display number is free on the node")
