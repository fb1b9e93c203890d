"""One desk's connection to the streams of the program."""

from __future__ import annotations

import logging
import signal
from enum import Enum
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import (
    HEARD,
    INPUT,
    OUTPUT,
    PART,
    STDIN,
    WORD,
    BadFrame,
    FrameReader,
    heard,
    output,
    read_place,
    read_word,
    word,
)
from broker_core.worker.agent_session import AgentSession

log = logging.getLogger("crossdesk.agent")
AHEAD = 256 * 1024
"""Bytes that are given to the connection before it has to send some."""
_SIGNALS = {"INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2", "STOP", "CONT", "TSTP", "WINCH"}


class ViewerState(Enum):
    """How far a desk is with the streams."""

    UNKNOWN = "unknown"
    """It has not said who it is."""
    STREAMING = "streaming"
    FINISHED = "finished"
    """It was sent everything, and the end."""


class Viewer(asyncssh.SSHUNIXSession[bytes]):
    """Sends output from where the desk stands, takes input and wishes."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._reader = FrameReader()
        self._places: dict[int, int] = {}
        self._confirmed: dict[int, int] = {}
        self._paused = False
        self._state = ViewerState.UNKNOWN
        self.desk = ""

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Wait for the desk's first word."""
        self._channel = channel
        self.connection = channel.get_connection()
        """Over which it came."""
        channel.set_write_buffer_limits(high=AHEAD)

    def connection_lost(self, error: Exception | None) -> None:
        """The desk is gone, or the connection broke."""
        self._session.detach(self)

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Frames from the desk; the connection is closed after one that is none."""
        try:
            for kind, content in self._reader.feed(data):
                self._take(kind, content)
        except (BadFrame, ValueError, TypeError, KeyError) as error:
            log.warning("A desk is sent away: %s", error)
            self.close()

    def eof_received(self) -> bool:
        """The desk leaves."""
        return False

    def pause_writing(self) -> None:
        """The connection takes nothing more for now."""
        self._paused = True

    def resume_writing(self) -> None:
        """It takes something again."""
        self._paused = False
        self.pump()
        self._session.relieve()

    def pump(self) -> None:
        """Send output until the desk has all, or the connection is full."""
        if self._state is ViewerState.UNKNOWN or self._channel.is_closing():
            return
        for stream, spool in self._session.spools.items():
            while not self._paused and self._places[stream] < spool.end:
                self._skip(stream, spool.start)
                data = spool.read(self._places[stream], PART)
                if not data:
                    break
                self._channel.write(output(stream, self._places[stream], data))
                self._places[stream] += len(data)
        if self._session.ended and self._state is ViewerState.STREAMING and self.lag() == 0:
            self._state = ViewerState.FINISHED
            code, number = self._session.status()
            self.tell("end", code=code, signal=number, dead=self._session.machine.state == "dead")

    def tell(self, what: str, **values: Any) -> None:
        """Send a message."""
        if not self._channel.is_closing():
            self._channel.write(word(what, **values))

    def lag(self) -> int:
        """Bytes that it has not been sent."""
        spools = self._session.spools
        return sum(spools[stream].end - place for stream, place in self._places.items())

    def complete(self) -> bool:
        """Every byte was confirmed."""
        spools = self._session.spools
        return all(spools[stream].end == place for stream, place in self._confirmed.items())

    def close(self) -> None:
        """Send the desk away, with all that it has open: what is dead would hold its ports."""
        self.connection.abort()

    def _skip(self, stream: int, start: int) -> None:
        """Tell of output that is not kept any more."""
        place = self._places[stream]
        if place < start:
            self.tell("gap", stream=stream, start=place, end=start)
            self._places[stream] = start
            self._confirmed[stream] = max(self._confirmed[stream], start)

    def _take(self, kind: bytes, content: bytes) -> None:
        if kind == WORD:
            self._obey(read_word(content))
            return
        if self._state is ViewerState.UNKNOWN or kind == OUTPUT:
            raise BadFrame("the desk did not say who it is")
        stream, offset, data = read_place(content)
        if kind == INPUT:
            self._channel.write(heard(STDIN, self._session.take_input(self, offset, data)))
        elif kind == HEARD:
            self._confirmed[stream] = max(self._confirmed.get(stream, 0), offset)
            self._session.confirm(stream, offset)

    def _obey(self, said: dict[str, Any]) -> None:
        what = said["what"]
        if what == "hello":
            self._hello(said)
        elif self._state is ViewerState.UNKNOWN:
            raise BadFrame("the desk did not say who it is")
        elif what == "done":
            if self._session.ended and self.complete():
                self.tell("fetched")
                self._session.finished()
        elif what == "take":
            self._session.take(self)
        elif self._session.writer is self:
            self._steer(what, said)

    def _steer(self, what: str, said: dict[str, Any]) -> None:
        """Wishes that only the desk that writes may have."""
        program = self._session.program
        if what == "resize":
            columns, rows = int(said["columns"]), int(said["rows"])
            if 0 < columns < 10_000 and 0 < rows < 10_000:
                program.resize(columns, rows)
        elif what == "signal":
            if said["name"] not in _SIGNALS:
                raise BadFrame("there is no such signal")
            program.signal(getattr(signal, f"SIG{said['name']}"))
        elif what == "eof":
            program.end_input()

    def _hello(self, said: dict[str, Any]) -> None:
        """Begin where the desk stopped, or with what is left of past output."""
        if self._state is not ViewerState.UNKNOWN:
            raise BadFrame("the desk said hello before")
        desk, resume = said["desk"], said.get("resume") or {}
        if not isinstance(desk, str) or not 0 < len(desk) <= 64:
            raise BadFrame("the desk has no name")
        for stream, spool in self._session.spools.items():
            place = int(resume.get(str(stream), spool.start))
            if not 0 <= place <= spool.end:
                raise BadFrame("the desk asks for output that was never written")
            self._places[stream] = self._confirmed[stream] = place
        had = self._session.inputs.get(desk, 0)
        self.desk, self._state = desk, ViewerState.STREAMING
        self.tell("welcome", input=had, **self._session.about())
        self._session.attach(self, write=bool(said.get("write", True)))
        self.pump()
