"""The broker tells a running agent whom to let in: a desk was added, or forgotten."""

from __future__ import annotations

import logging
from collections.abc import Callable

import asyncssh

from broker_core.interactive.frames import BadFrame, FrameReader, read_word, word

log = logging.getLogger("crossdesk.agent")


class DeskList(asyncssh.SSHUNIXSession[bytes]):
    """One message with the keys of all desks; answered when it is in force."""

    def __init__(self, admit: Callable[[list[str]], None]) -> None:
        self._admit = admit
        self._reader = FrameReader()

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Wait for the message."""
        self._channel = channel

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Take the list over; one that is not understood changes nothing."""
        try:
            for _, content in self._reader.feed(data):
                keys = [str(key) for key in read_word(content)["keys"]]
                self._admit(keys)
                self._answer(word("desks", known=len(keys)))
        except (BadFrame, KeyError, TypeError, ValueError) as error:
            log.warning("The list of desks is not understood: %s", error)
            self._answer(word("desks", reason=str(error)))

    def eof_received(self) -> bool:
        """The answer may still come."""
        return True

    def _answer(self, said: bytes) -> None:
        self._channel.write(said)
        self._channel.write_eof()
