"""The desk's X server, as programs of the job reach it (CB-I2G-03)."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncssh
from asyncssh.x11 import lookup_xauth

from broker_core.interactive.x_setup import Setup, read_setup, server_of


class DeskDisplay:
    """A display of this desk. Its own cookie goes to its X server and nowhere else."""

    def __init__(self, name: str) -> None:
        """`name` as in DISPLAY; raises ValueError for what names no display."""
        self.name = name
        self._server = server_of(name)

    async def open(self, far: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the X server, begun with what a program said on `far`.

        Raises BadSetup and OSError.
        """
        try:
            asked = await read_setup(far.readexactly)
        except (asyncio.IncompleteReadError, asyncssh.Error) as error:
            raise OSError(f"the program said nothing: {error}") from error
        if isinstance(self._server, str):
            reader, writer = await asyncio.open_unix_connection(self._server)
        else:
            reader, writer = await asyncio.open_connection(*self._server)
        host, _, number = self.name.rpartition(":")
        proof = await lookup_xauth(
            asyncio.get_running_loop(), None, host.strip("[]"), number.partition(".")[0]
        )
        writer.write(Setup(asked.order, asked.major, asked.minor, *proof).words())
        return reader, writer
