"""A virtual screen for the job's program: an X server of its own, without root and without TCP.

Only who has the cookie is let in. The server draws into a file in memory, which the agent reads; its name is
removed at once. It ends with the agent's connection, also where the agent is killed.
"""

from __future__ import annotations

import mmap
import os
import secrets
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from broker_core.interactive.channel.pictures import PIXEL
from broker_core.interactive.channel.x_setup import COOKIE_BYTES, entry
from broker_core.worker.sub_channels.screen.x_input import NoInput, XInput

SERVER = "Xvfb"
START_TIME = 30.0
"""Seconds that the server has for its start."""
END_TIME = 5.0
_PATH = "/usr/local/bin:/usr/bin:/usr/X11R6/bin"
_MEMORY = "/dev/shm"  # noqa: S108 - memory that has a name
_FIELDS = struct.Struct(">25I")
_COLOR = 12
"""Bytes of an entry of the color table, which stands before the pixels."""
_LONGEST = 200


class NoScreen(Exception):
    """The program has no screen; says why, with the remedy."""


class VirtualScreen:
    """A running X server with its pixels, and a connection for input."""

    def __init__(self, size: tuple[int, int], directory: Path, path: str) -> None:
        """`directory`: of the agent alone; `path`: where programs are looked for. Raises NoScreen."""
        self.width, self.height = size
        program = shutil.which(SERVER, path=f"{path}:{_PATH}")
        if program is None:
            raise NoScreen(
                f"This node has no {SERVER}, so the program has no display."
                " Ask those who look after it to install it, or choose another site."
            )
        self._file = directory / "Xauthority-of-the-program"
        in_memory = os.access(_MEMORY, os.W_OK | os.X_OK)
        pixels = Path(tempfile.mkdtemp(prefix=".crossdesk-screen-", dir=_MEMORY if in_memory else directory))
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self.number = self._start(program, pixels, directory)
            self._map_pixels(pixels / "Xvfb_screen0")
            self.input = XInput(self.number, self._cookie)
        except (OSError, ValueError, NoInput, struct.error) as error:
            self.close()
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            raise NoScreen(
                f"The program has no display: {SERVER} does not start on this node ({reason})."
            ) from error
        finally:
            shutil.rmtree(pixels, ignore_errors=True)

    @property
    def variables(self) -> dict[str, str]:
        """What the program needs in its environment."""
        return {"DISPLAY": f":{self.number}", "XAUTHORITY": str(self._file)}

    def pixels(self) -> bytes:
        """What the screen shows now, row by row."""
        return self._map[self._first : self._first + self.stride * self.height]

    def close(self) -> None:
        """End the server."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(END_TIME)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self, program: str, pixels: Path, directory: Path) -> int:
        """Start the server; returns the number of its display when programs can use it."""
        self._cookie = secrets.token_bytes(COOKIE_BYTES)
        own = directory / "Xauthority-of-the-screen"
        _write_secret(own, entry(0, self._cookie))
        messages = directory / "messages-of-the-screen"
        reader, writer = os.pipe()
        words = [program, "-displayfd", str(writer), "-screen", "0", f"{self.width}x{self.height}x24"]
        words += ["-nolisten", "tcp", "-auth", str(own), "-fbdir", str(pixels)]
        # Keys are repeated by desks: one that is cut off must not leave a key that repeats for ever.
        words += ["-r", "-terminate"]
        try:
            with messages.open("wb") as log:
                self._process = subprocess.Popen(
                    words,
                    pass_fds=(writer,),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        finally:
            os.close(writer)
        with os.fdopen(reader, "rb", buffering=0) as stream:
            number = _read_line(stream.fileno(), time.monotonic() + START_TIME)
        if not number.isdigit():
            raise ValueError(_reason(messages) or "it says nothing")
        entries = [entry(int(number), self._cookie, host) for host in (socket.gethostname(), "")]
        _write_secret(self._file, b"".join(entries))
        return int(number)

    def _map_pixels(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._map = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        fields = _FIELDS.unpack_from(self._map)
        self._first = fields[0] + _COLOR * fields[19]
        self.stride = fields[12]
        same = fields[4:6] == (self.width, self.height) and fields[11] == 8 * PIXEL and fields[7] == 0
        if not same or self._first + self.stride * self.height > len(self._map):
            raise ValueError("its pixels are of an unknown kind")


def _read_line(descriptor: int, deadline: float) -> bytes:
    """A line without its end, as much as came before the other side closed or the time was over."""
    line = b""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    while not line.endswith(b"\n"):
        if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
            break
        part = os.read(descriptor, 64)
        if not part:
            break
        line += part
    return line.strip()


def _reason(messages: Path) -> str:
    """Why the server did not start, out of what it wrote."""
    try:
        text = messages.read_text(errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.replace("(EE)", "").splitlines() if line.strip()]
    first = next((at for at, line in enumerate(lines) if line.startswith("Fatal server error")), -1)
    return " ".join(lines[first : first + 2] if first >= 0 else lines[-1:])[:_LONGEST]


def _write_secret(file: Path, content: bytes) -> None:
    file.touch(0o600)
    file.write_bytes(content)
