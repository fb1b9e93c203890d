"""What comes back from one script, whichever way it travels."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from broker_core.sites.transport.contract import MOST_ERR, MOST_OUT, LinkLost, Reply
from broker_core.sites.transport.shell_wrapper import OutputFilter

_SLOWEST = 1024.0
"""Bytes a second: a transfer that stays below it does not push its deadline forward."""
_SHOWN = 200
"""Characters of a login message that are shown."""


class Exchange:
    """Takes both streams of a script in, without their noise, within bounds."""

    def __init__(self, marker: bytes, write: Callable[[bytes], None] | None = None) -> None:
        """`write`: takes the output piece by piece; None: it is collected."""
        self._out, self._err = OutputFilter(marker), OutputFilter(marker)
        self._write = write
        self._kept, self._complaints = bytearray(), bytearray()
        self.moved = 0
        """Bytes carried so far, both ways."""

    @property
    def pid(self) -> int | None:
        """Of the script's shell at the site; None while it is not known to have started."""
        return self._out.pid

    def out(self, data: bytes) -> None:
        """Take a piece of stdout; raises LinkLost, and what `write` raises."""
        self.moved += len(data)
        try:
            data = self._out.feed(data)
        except ValueError as error:
            raise LinkLost(str(error), remedy="Remove output from the shell's start-up files.") from error
        if self._write is not None:
            if data:
                self._write(data)
            return
        self._kept += data
        if len(self._kept) > MOST_OUT:
            raise LinkLost(f"The answer of the command is larger than {MOST_OUT >> 20} MiB.")

    def out_unwanted(self, data: bytes) -> None:
        """Take a piece of stdout that nobody waits for any more, for the number of the shell alone."""
        with contextlib.suppress(ValueError):
            self._out.feed(data)

    def err(self, data: bytes) -> None:
        """Take a piece of stderr."""
        self.moved += len(data)
        try:
            data = self._err.feed(data)
        except ValueError:
            return
        self._complaints += data[: MOST_ERR - len(self._complaints)]

    def reply(self, status: int) -> Reply:
        """The whole answer; raises LinkLost where the account's login shell did not run the script."""
        if not self._out.begun:
            said = (bytes(self._out.noise) + bytes(self._err.noise)).decode(errors="replace").split("\n")
            words = next((line.strip() for line in said if line.strip()), f"exit status {status}")
            raise LinkLost(
                f"The account does not run commands: {words[:_SHOWN]}",
                remedy="Ask for an account with a shell, or remove a forced command from its key.",
            )
        return Reply(status, bytes(self._kept), bytes(self._complaints))


def standstill(began: float, now: float, moved: int, deadline: float) -> float:
    """When a transfer is given up: after `deadline` seconds of silence, or if it drips for as long."""
    return min(now + deadline, began + deadline + moved / _SLOWEST)
