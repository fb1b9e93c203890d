"""`crossdesk job attach`: the program of an interactive job in this terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.desk_settings import ports_of
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.forward_forms import (
    DirectPorts,
    Dynamic,
    ForwardRequests,
    Local,
    Remote,
    wishes,
)
from broker_core.command_line.job.ids import Job, resolve
from broker_core.command_line.job.raw_keys import DETACH, RawKeys, raw_keys, readable
from broker_core.errors import BadRequest
from broker_core.interactive.shadow.session_events import ENDED

LINES = "lines"
_TURN = 64 * 1024
_PAUSE = 0.05
"""Seconds until a session that is full is asked again."""


def attach(
    job: Job,
    watch: Annotated[bool, typer.Option("--watch", help="Only look; another desk may write.")] = False,
    take: Annotated[bool, typer.Option("--take", help="Take the input over from another desk.")] = False,
    x11: Annotated[
        bool,
        typer.Option(
            "-X", "--x11", help="Show windows of the program here; its description has InteractiveX11 = true."
        ),
    ] = False,
    local: Local = None,
    remote: Remote = None,
    dynamic: Dynamic = None,
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Connect this terminal with an interactive job; ends with the program's exit code. Ctrl-] leaves it."""
    if session().json:
        raise BadRequest("A terminal has no form in JSON.", remedy="Use `crossdesk job log --json`.")

    display = os.environ.get("DISPLAY", "") if x11 else ""
    if x11 and not display:
        raise BadRequest(
            "There is no display here: DISPLAY is not set.", remedy="Leave out -X.", code="usage"
        )
    asked, ports = wishes(local, remote, dynamic), ports_of(direct_ports)

    async def work(client: BrokerClient) -> int:
        whole = (await resolve(client, [job]))[0]
        attached = Attached(client, whole, ports, watch=watch, take=take)
        return await attached.run(asked, display)

    return with_client(work)


class Attached:
    """This terminal as the desk of a job."""

    def __init__(
        self, client: BrokerClient, job: str, direct_ports: range | None, *, watch: bool, take: bool
    ) -> None:
        self._client = client
        self._direct_ports = direct_ports
        self._job = job
        self._watch = watch
        self._take = take
        """The input is to be taken over, and is not ours yet."""
        self._taking = False
        self._left = asyncio.Event()
        self._writing = asyncio.Event()
        """The program takes our input; what comes by a pipe before waits."""
        self._met = asyncio.Event()
        """It is known who types; keys before that wait, too."""
        self._told: Any = None
        self._attempt = 0
        self._by_lines: Callable[[], None] = _nothing
        """Changes the terminal, once, when it shows that the program reads lines."""
        self._remarks: set[str] = set()
        """What was told of forwards and windows: each once."""

    async def run(self, asked: ForwardRequests, display: str) -> int:
        """Show the program until it ends or the user leaves; returns the exit code."""
        from broker_core.client.interactive import SessionOptions, open_session

        columns, rows = shutil.get_terminal_size()
        options = SessionOptions(
            write=not self._watch,
            columns=columns,
            rows=rows,
            direct_ports=self._direct_ports,
            display=display,
        )
        self._session = await open_session(self._client, self._job, options)
        try:
            await asked.open(self._session)
            with self._terminal():
                shown = asyncio.ensure_future(self._show())
                left = asyncio.ensure_future(self._left.wait())
                await asyncio.wait([shown, left], return_when=asyncio.FIRST_COMPLETED)
                shown.cancel()
                left.cancel()
        finally:
            await self._session.close()
        return self._code(shown)

    def _code(self, shown: asyncio.Future[None]) -> int:
        if not shown.cancelled() and shown.done() and (error := shown.exception()) is not None:
            raise error
        status = self._session.status
        if status.state in ("dead", "refused"):
            output.say(status.reason, "red")
            return Exit.ERROR
        if self._left.is_set():
            output.say(f"Left. The program runs on: crossdesk job attach {self._job}", "yellow")
            return Exit.OK
        if status.reason:
            output.say(status.reason, "yellow")
        if status.signal is not None:
            return 128 + status.signal
        return status.exit_code if status.exit_code is not None else Exit.ERROR

    async def _show(self) -> None:
        from broker_core.client.interactive import Gap, OutputReceived

        async for event in self._session.events():
            if isinstance(event, OutputReceived):
                await asyncio.to_thread(_write, 2 if event.stream == 2 else 1, event.data)
            elif isinstance(event, Gap):
                self._remark(f"{event.end - event.start:,} bytes of past output are not kept")
            else:
                self._status(event)

    def _status(self, status: Any) -> None:
        """Tell a new state, once; take the input over if that was asked for."""
        self._count_in(status)
        if self._attempt and status.attempt != self._attempt:
            self._remark("the job was started anew")
        self._attempt = status.attempt
        if status.mode == LINES:
            self._by_lines()
            self._by_lines = _nothing
        if status.state != self._told and status.state in ("starting", "buffering"):
            self._remark(status.reason or status.state)
        self._told = status.state
        wants = [f"{one.kind} {one.listen}: {one.problem}" for one in status.forwards if one.problem]
        if status.notice:
            wants.append(status.notice)
        if status.silent:
            wants.append("the agent does not answer; what you type waits")
        if status.viewers and not (status.writer or self._watch or self._take):
            who = "another desk types" if status.taken else "nobody types"
            wants.append(f"{who}: Ctrl-] leaves; with --take you type")
        if status.windows:
            wants.append("the program opens a window, which waits for a desk with a display: attach with -X")
        for one in wants:
            if one not in self._remarks:
                self._remark(one)
        self._remarks = set(wants)

    def _count_in(self, status: Any) -> None:
        """Take the input over if that was asked for, and know who types."""
        if status.writer or self._watch:
            self._take = False
        elif self._take and status.mode and not self._taking:
            self._taking = True
            self._session.take()
        if status.writer:
            self._writing.set()
        if status.viewers and not self._take:
            self._met.set()

    def _remark(self, text: str) -> None:
        """A line between those of the program; its terminal may be a raw one."""
        end = "\r\n" if sys.stderr.isatty() else "\n"
        sys.stderr.write(f"[{output.printable(text)}]{end}")
        sys.stderr.flush()

    @contextlib.contextmanager
    def _terminal(self) -> Iterator[None]:
        """Keys go to the program, and its size follows ours."""
        loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
        with raw_keys(descriptor) as keys:
            self._by_lines = keys.by_lines
            reading = asyncio.ensure_future(self._keys(descriptor, keys))
            loop.add_signal_handler(signal.SIGWINCH, self._resize)
            if keys.are_there:
                # A terminal that edits lines for us makes signals of some keys: they are the program's.
                loop.add_signal_handler(signal.SIGINT, lambda: self._session.signal("INT"))
            try:
                yield
            finally:
                loop.remove_signal_handler(signal.SIGWINCH)
                loop.remove_signal_handler(signal.SIGINT)
                reading.cancel()

    async def _keys(self, descriptor: int, keys: RawKeys) -> None:
        """Read what is typed, so that DETACH is heard whatever else has to wait; a pipe waits itself."""
        typed: asyncio.Queue[bytes] = asyncio.Queue()
        passing = asyncio.ensure_future(self._pass_on(typed, keys))
        try:
            while True:
                await readable(descriptor)
                data = os.read(descriptor, _TURN)
                if keys.are_there and DETACH in data:
                    self._left.set()
                    return
                typed.put_nowait(data)
                if not (data and keys.are_there):
                    await typed.join()
                if not data:
                    return
        finally:
            passing.cancel()

    async def _pass_on(self, typed: asyncio.Queue[bytes], keys: RawKeys) -> None:
        """Give it to the program, in order, and the end of the input behind it."""
        while True:
            data = await typed.get()
            await (self._met if keys.are_there else self._writing).wait()
            if keys.are_there and self._session.status.mode == LINES:
                data = data.replace(b"\r", b"\n")  # typed before it was known that lines are wanted
            if data:
                await self._type(data, waits=not keys.are_there)
            else:
                self._session.end_input()
            typed.task_done()

    async def _type(self, data: bytes, *, waits: bool) -> None:
        """Have the session take it, as soon as there is room.

        `waits`: also while another desk has the input, where keys are in vain.
        """
        while not self._session.write(data):
            status = self._session.status
            if status.state in ENDED or not (waits or status.writer):
                return
            await asyncio.sleep(_PAUSE)

    def _resize(self) -> None:
        self._session.resize(*shutil.get_terminal_size())


def _nothing() -> None:
    """Nothing is to be done."""


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
