"""A script's process on this machine: its streams and its end come to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from functools import partial
from typing import IO

from broker_core.sites.transport.script_io import PIECE, ScriptIO

_REAPED = 5.0
"""Seconds that a killed process may take to be gone; one that hangs in the kernel is left."""


class LocalProcess:
    """A shell in a process group of its own.

    The event loop does not start it: uvloop has the page tables of the broker copied, and then each page that
    it writes to, which takes a large broker longer than the script does. Python's own way shares the memory.
    """

    def __init__(self, command: str, traffic: ScriptIO) -> None:
        """Start it. Raises OSError."""
        self._traffic, self._loop = traffic, asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._child = subprocess.Popen(
            ("/bin/sh", "-c", command),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        self.input = _Input(self._child.stdin, traffic, self._loop)
        self._outputs = {self._child.stdout: False, self._child.stderr: True}
        """Those that have not come to their ends, and whether they are for errors."""
        self._closed = False
        try:
            self._watched = os.pidfd_open(self._child.pid)
        except OSError:
            self._kill()
            self._child.wait()
            self.close()
            raise
        self._listen()

    def _listen(self) -> None:
        self._loop.add_reader(self._watched, self._take_exit)
        for output, is_error in self._outputs.items():
            os.set_blocking(output.fileno(), False)
            self._loop.add_reader(output.fileno(), partial(self._take, output, is_error))

    def _take(self, output: IO[bytes], is_error: bool) -> None:
        try:
            data = os.read(output.fileno(), PIECE)
        except BlockingIOError:
            return
        if data:
            self._traffic.received(data, is_error=is_error)
            return
        self._close_output(output)
        self._notice_end()

    def _take_exit(self) -> None:
        code = self._child.wait()  # it has ended
        self._loop.remove_reader(self._watched)
        os.close(self._watched)
        self._exited.set_result(None)
        if not self._closed:
            self._traffic.exited(code if code >= 0 else 128 - code)
            self._notice_end()

    def _notice_end(self) -> None:
        if self._exited.done() and not self._outputs:
            self._traffic.finished()

    async def end(self) -> None:
        """Kill it with its children, and wait until it is gone."""
        self._kill()
        await asyncio.wait((self._exited,), timeout=_REAPED)

    def _kill(self) -> None:
        # The shell is the leader of a session of its own, so its group has its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give up its streams; the end of one that was killed is awaited all the same, by the event loop."""
        self._closed = True
        self.input.close()
        for output in [*self._outputs]:
            self._close_output(output)

    def _close_output(self, output: IO[bytes]) -> None:
        del self._outputs[output]
        self._loop.remove_reader(output.fileno())
        output.close()


class _Input:
    """See `Pipe`: what is written is kept until the script reads it."""

    def __init__(self, file: IO[bytes], traffic: ScriptIO, loop: asyncio.AbstractEventLoop) -> None:
        self._file, self._traffic, self._loop = file, traffic, loop
        self._left, self._ended = bytearray(), False
        os.set_blocking(file.fileno(), False)

    def is_closing(self) -> bool:
        """See `Pipe.is_closing`."""
        return self._file.closed

    def write(self, data: bytes) -> None:
        """See `Pipe.write`."""
        self._left += data
        self._flush()

    def write_eof(self) -> None:
        """See `Pipe.write_eof`."""
        self._ended = True
        self._flush()

    def _flush(self) -> None:
        if self._file.closed:
            return
        try:
            while self._left:
                del self._left[: os.write(self._file.fileno(), self._left)]
        except BlockingIOError:
            self._traffic.pause_writing()
            self._loop.add_writer(self._file.fileno(), self._flush)
            return
        except OSError:  # nobody reads any more
            self.close()
            return
        self._loop.remove_writer(self._file.fileno())
        self._traffic.resume_writing()
        if self._ended:
            self.close()

    def close(self) -> None:
        """Nothing more is written."""
        if not self._file.closed:
            self._loop.remove_writer(self._file.fileno())
            self._file.close()
            self._left.clear()
            self._traffic.resume_writing()
