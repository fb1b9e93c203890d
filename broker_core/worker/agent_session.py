"""The program and those who look at it: output to every desk, input from one, and the end (CB-IA-01)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections import OrderedDict
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from broker_core.worker.agent_program import STDERR, STDOUT, UserProgram
from broker_core.worker.agent_settings import LINES, TERMINAL, AgentSettings
from broker_core.worker.agent_spool import OutputSpool
from broker_core.worker.agent_states import Event, Machine, State

log = logging.getLogger("crossdesk.agent")
DESKS = 64
"""Desks whose place in the input is remembered."""
BEHIND = 256 * 1024
"""Bytes that the desk which writes may be behind before the program waits: keys are echoed after them."""
LAST_WORDS = 2.0
"""Seconds that desks get to fetch the last output when the job is being ended."""


class Watcher(Protocol):
    """A desk that is connected."""

    desk: str

    def pump(self) -> None:
        """Send what is new."""
        ...

    def tell(self, what: str, **values: Any) -> None:
        """Send a message."""
        ...

    def lag(self) -> int:
        """Bytes that it has not been sent."""
        ...

    def complete(self) -> bool:
        """It has confirmed every byte."""
        ...

    def close(self) -> None:
        """Send it away."""
        ...


class OutputState(Enum):
    """Where the program's output stands."""

    GROWING = "growing"
    ENDED = "ended"
    """The program has ended, and all that it wrote is in the spools."""
    FETCHED = "fetched"
    """A desk has everything."""


class AgentSession:
    """One program with its streams, from its start to the last byte at a desk."""

    def __init__(self, settings: AgentSettings, program: UserProgram, directory: Path) -> None:
        self.settings = settings
        self.program = program
        streams = (STDOUT,) if settings.mode == TERMINAL else (STDOUT, STDERR)
        self.spools = {
            stream: OutputSpool(directory, f"stream{stream}", settings.memory) for stream in streams
        }
        self.watchers: list[Watcher] = []
        self.writer: Watcher | None = None
        self.machine = Machine(settings.max_retries if settings.mode == LINES else 0)
        self._output = OutputState.GROWING
        self.over = asyncio.Event()
        """There is nothing left to do."""
        self.inputs: OrderedDict[str, int] = OrderedDict()
        """Desk to the bytes of input that came from it."""
        self.confirmed = dict.fromkeys(self.spools, 0)
        """Stream to the bytes that a desk has."""
        self.display = ""
        """Name of the program's display, as in DISPLAY; empty: it has none."""
        self._windows = 0
        self._tee = dict.fromkeys(self.spools, settings.tee)
        self._disk_retry: asyncio.TimerHandle | None = None
        """The disk is full, and what memory should not hold waits there for room."""
        self._linger: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None

    @property
    def ended(self) -> bool:
        """The program has ended, and all that it wrote is in the spools."""
        return self._output is not OutputState.GROWING

    def run(self) -> None:
        """Begin to listen to the program, and to count attempts."""
        self._loop = asyncio.get_running_loop()
        self.program.hungry = self._hungry
        self.program.run(self._heard, self._ended)
        self._count_intervals()

    def attach(self, watcher: Watcher, *, write: bool) -> None:
        """A desk has come; an older connection of the same desk is dead."""
        for other in [one for one in self.watchers if one.desk == watcher.desk]:
            other.close()
            self._leave(other)
        self.watchers.append(watcher)
        self.machine.on(Event.CONNECTED)
        if self._linger is not None and self._output is not OutputState.FETCHED:
            self._linger.cancel()
            self._linger = None
        if write and self.writer is None:
            self.writer = watcher
        self.news()

    def detach(self, watcher: Watcher) -> None:
        """A desk has gone, or its connection broke."""
        if watcher in self.watchers:
            self._leave(watcher)
            if self._output is OutputState.FETCHED:
                self.finished()

    def _leave(self, watcher: Watcher) -> None:
        self.watchers.remove(watcher)
        if self.writer is watcher:
            self.writer = None
        self.relieve()
        if not self.watchers:
            self.machine.on(Event.SEND_FAILED)
            self._count_intervals()
            if self.ended:
                self.machine.on(Event.PROGRAM_ENDED)
                self._wait_for_desks()
        self.news()

    def take(self, watcher: Watcher) -> None:
        """Give the input to this desk."""
        self.writer = watcher
        self.relieve()
        self.news()

    def news(self) -> None:
        """Tell every desk who writes and who is there."""
        told = {"taken": self.writer is not None, "viewers": len(self.watchers), "windows": self._windows}
        for watcher in self.watchers:
            watcher.tell("news", writer=watcher is self.writer, **told)

    def windows_wait(self, count: int) -> None:
        """So many windows of the program wait for a desk that shows them."""
        self._windows = count
        self.news()

    def about(self) -> dict[str, Any]:
        """What a desk is told when it comes."""
        ends = {str(stream): [spool.start, spool.end] for stream, spool in self.spools.items()}
        seen = {str(stream): place for stream, place in self.confirmed.items()}
        return {"mode": self.settings.mode, "streams": ends, "seen": seen, "node": socket.gethostname()} | {
            "display": self.display
        }

    def take_input(self, watcher: Watcher, offset: int, data: bytes) -> int:
        """Input from the desk that writes, nothing of it twice; returns the bytes taken from a desk so far.

        What was under way when another desk took the input over is left out. Raises ValueError for a hole.
        """
        had = self.inputs.get(watcher.desk, 0)
        if watcher is not self.writer:
            return had
        if offset > had:
            raise ValueError("input is missing")
        if fresh := data[had - offset :]:
            self.inputs[watcher.desk] = had + len(fresh)
            self.inputs.move_to_end(watcher.desk)
            if len(self.inputs) > DESKS:
                self.inputs.popitem(last=False)
            if not self.program.write(fresh):
                watcher.tell("enough")
        return self.inputs.get(watcher.desk, 0)

    def confirm(self, stream: int, offset: int) -> None:
        """A desk has all bytes of a stream below `offset`."""
        spool = self.spools.get(stream)
        if spool is None or offset > spool.end:
            return
        self.confirmed[stream] = max(self.confirmed[stream], offset)
        self._forget(stream)
        self.relieve()
        if not self.ended and any(one.lag() == 0 for one in self.watchers):
            self.machine.on(Event.DRAINED)

    def relieve(self) -> None:
        """Let the program wait while the desk that writes cannot follow, or the disk holds too much."""
        behind = self.writer is not None and self.writer.lag() > BEHIND
        room = self.settings.memory if self._disk_retry is not None else self.settings.disk
        kept = any(
            spool.end - max(spool.start, self.confirmed[stream]) > room
            for stream, spool in self.spools.items()
        )
        self.program.listen(not behind and not (kept and self.settings.mode == LINES))

    def finished(self) -> None:
        """A desk has everything, the end included; others that look on get the rest too, for a while."""
        if not self.ended:
            return
        self.machine.on(Event.DRAINED)
        self.machine.on(Event.PROGRAM_ENDED)
        self._output = OutputState.FETCHED
        if all(watcher.complete() for watcher in self.watchers):
            self.over.set()
        elif self._linger is None:
            self._linger = self._loop.call_later(self.settings.linger, self._give_up_waiting)

    def end_soon(self, number: int) -> None:
        """The job is being ended: pass the signal on, and do not stay for long."""
        self.program.signal(number)
        self._loop.call_later(LAST_WORDS, self._give_up_waiting)

    def status(self) -> tuple[int | None, int | None]:
        """Exit code and signal of the program."""
        status = self.program.status
        if status is None:
            return None, None
        return (status, None) if status >= 0 else (None, -status)

    def remove(self) -> None:
        """Leave nothing behind."""
        for spool in self.spools.values():
            spool.remove()

    def _heard(self, stream: int, data: bytes) -> None:
        self.machine.on(Event.WRITE)
        spool = self.spools[stream]
        try:
            spool.append(data)
        except OSError as error:
            self._disk_full(error)
        if self._tee[stream]:
            self._copy(stream, data)
        for watcher in list(self.watchers):
            watcher.pump()
        self._forget(stream)
        self.relieve()

    def _copy(self, stream: int, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(stream, data) :]
        except OSError as error:
            log.warning("The output is no longer written to the job's file: %s", error)
            self._tee[stream] = False

    def _forget(self, stream: int) -> None:
        """Keep what is to be replayed, and for the Bypass agent all that no desk has."""
        spool = self.spools[stream]
        keep = spool.end - self.settings.replay
        if self.settings.mode == LINES:
            keep = min(keep, self.confirmed[stream])
        if keep > spool.start:
            spool.forget(keep)

    def _disk_full(self, error: OSError) -> None:
        """Nothing is lost: with more than memory holds the program waits for room, or for a desk."""
        log.warning("Output cannot be kept on the disk: %s", error)
        if self._disk_retry is None:
            self._disk_retry = self._loop.call_later(self.settings.retry_interval, self._room_again)

    def _room_again(self) -> None:
        self._disk_retry = None
        try:
            for spool in self.spools.values():
                spool.spill()
        except OSError as error:
            self._disk_full(error)
        self.relieve()

    def _hungry(self) -> None:
        if self.writer is not None:
            self.writer.tell("more")

    def _interval(self) -> None:
        """The retry interval is over: without a desk an attempt has failed."""
        if self.over.is_set():
            return
        if self.machine.state is State.BUFFERING:
            if self.machine.on(Event.CONNECT_FAILED) is State.DEAD:
                self.program.kill()
            if self.machine.over and self.ended:
                self.over.set()
        self._count_intervals()

    def _count_intervals(self) -> None:
        """The next interval begins now: an attempt has failed when it is over, and not before."""
        if self._retry is not None:
            self._retry.cancel()
        self._retry = self._loop.call_later(self.settings.retry_interval, self._interval)

    def _ended(self) -> None:
        self._output = OutputState.ENDED
        if self.machine.state is not State.CONNECTED:
            # Connected, the machine hears of it when a desk has everything: flush first.
            self.machine.on(Event.PROGRAM_ENDED)
        for watcher in list(self.watchers):
            watcher.pump()
        if self.machine.state is State.DEAD:
            self.over.set()
        elif not self.watchers:
            self._wait_for_desks()

    def _wait_for_desks(self) -> None:
        """Nobody is there at the end: the Bypass agent keeps trying, a terminal stays for a while.

        Where a desk has every byte, or there was none, only word of the end is missing, which the broker has
        too: no job goes on for that.
        """
        missing = any(spool.end > self.confirmed[stream] for stream, spool in self.spools.items())
        waits_long = self.settings.mode == LINES and self.settings.max_retries and missing
        if not waits_long and self._linger is None:
            pause = self.settings.linger if missing else min(self.settings.linger, LAST_WORDS)
            self._linger = self._loop.call_later(pause, self._give_up_waiting)

    def _give_up_waiting(self) -> None:
        if self.ended:
            self.over.set()
        else:
            with contextlib.suppress(RuntimeError):
                self._loop.call_later(LAST_WORDS, self._give_up_waiting)
