"""The interactive agent: `start PROGRAM ARGUMENTS`, run by the Job Starter (CB-IA-03).

It is in the job's directory, starts the program, calls out to where desks can be met, and ends with the
program: with its exit status, or by the signal that ended it. Nothing listens on the node or stays there.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes.util
import gc
import logging
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from broker_core.worker.agent_display import Display
from broker_core.worker.agent_program import UserProgram
from broker_core.worker.agent_settings import (
    CONTACT,
    FAILURE,
    NO_DESK,
    TERMINAL,
    AgentSettings,
    leave_contact,
    take_box,
    take_settings,
)
from broker_core.worker.sub_channels.screen.virtual_screen import NoScreen, VirtualScreen

log = logging.getLogger("crossdesk.agent")
NOT_FOUND, NOT_RUN = 127, 126
"""Exit codes of a program that is missing or cannot be run, as shells have them."""


@dataclass(frozen=True, slots=True)
class AgentEnvironment:
    """What the agent made for the program before it started it."""

    environment: dict[str, str]
    private: Path
    """Directory of the agent alone, removed at its end."""
    display: Display | None
    screen: VirtualScreen | None = None
    no_screen: str = ""
    """Why it has no screen though it should."""
    box: tuple[str, ...] = ()
    """What comes before the words of a command that is to be in the job's box."""


def main(words: Sequence[str]) -> int:
    """Run a program; returns its exit code, or does not return where a signal ended it."""
    try:
        settings = take_settings(os.environ)
    except (ValueError, KeyError, TypeError) as error:
        return _failed(f"The interactive agent was started wrongly: {error}")
    box = take_box(os.environ, Path.cwd().parent)
    environment = dict(os.environ)
    if settings.mode == TERMINAL:
        environment["TERM"] = settings.term
    try:
        private = Path(tempfile.mkdtemp(prefix=".crossdesk-spool-", dir=Path.cwd().parent))
    except OSError as error:
        return _failed(f"The interactive agent cannot make its directory: {error.strerror}.")
    try:
        return _run(words, settings, AgentEnvironment(environment, private, None, box=box))
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _run(words: Sequence[str], settings: AgentSettings, around: AgentEnvironment) -> int:
    if settings.x11:
        try:
            display = Display(around.private)
        except OSError as error:
            return _failed(f"The program cannot have a display: {error}.")
        around = replace(around, display=display, environment=around.environment | display.variables)
    around = _with_screen(settings, around)
    try:
        status = _run_program(words, settings, around)
    finally:
        if around.screen is not None:
            around.screen.close()
    if status < 0:
        shutil.rmtree(around.private, ignore_errors=True)
        _die_of(-status)
    return status


def _with_screen(settings: AgentSettings, around: AgentEnvironment) -> AgentEnvironment:
    """With a virtual screen, where the description asks for one; without it the program runs all the same."""
    if settings.screen is None:
        return around
    try:
        screen = VirtualScreen(settings.screen, around.private, around.environment.get("PATH", ""))
    except NoScreen as error:
        sys.stderr.write(f"{error}\n")
        return replace(around, no_screen=str(error))
    return replace(around, screen=screen, environment=around.environment | screen.variables)


def _run_program(words: Sequence[str], settings: AgentSettings, around: AgentEnvironment) -> int:
    """Run the program to its end; returns its status, as subprocess has it."""
    try:
        program = UserProgram(
            words,
            around.environment,
            terminal=settings.mode == TERMINAL,
            size=(settings.columns, settings.rows),
            boxed=bool(around.box),
        )
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN
    return asyncio.run(_session(settings, program, around))


def load() -> None:
    """Load what takes long."""
    with _without_searches():
        import asyncssh  # noqa: F401 - loaded by the modules below too
    from broker_core.worker import agent_dial, agent_server, agent_session  # noqa: F401
    from broker_core.worker.sub_channels.screen import stream  # noqa: F401


async def _session(settings: AgentSettings, program: UserProgram, around: AgentEnvironment) -> int:
    """Serve desks until the program has ended and its output is fetched; returns its status."""
    load()  # the program runs already, beside it
    from broker_core.interactive.channel.rendezvous import Endpoint
    from broker_core.worker.agent_dial import AgentDialer, Reach
    from broker_core.worker.agent_server import DeskServer
    from broker_core.worker.agent_session import AgentSession
    from broker_core.worker.sub_channels.screen.stream import ScreenStream

    gc.freeze()
    gc.enable()
    loop = asyncio.get_running_loop()
    session = AgentSession(settings, program, around.private)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, session.end_soon, number)
    session.run()
    screen = ScreenStream(around.screen, around.no_screen, lambda: program.status is not None)
    server = DeskServer(session, Path.cwd(), around.private, around.environment, screen, around.box)
    if around.display is not None:
        await server.show(around.display)
    contact = _contact(server.key.export_public_key().decode(), server.key.get_fingerprint())
    said = StatusReport(Path.cwd(), contact, settings.retry_interval)
    said.say()
    reach = Reach(len(settings.places), said.say)
    dialers = [
        AgentDialer(Endpoint(host, port), settings.token, settings.retry_interval, server.serve, reach)
        for host, port in settings.places
    ]
    calls = [asyncio.ensure_future(dialer.run()) for dialer in dialers]
    await session.over.wait()
    for call in calls:
        call.cancel()
    server.close()
    await asyncio.wait([asyncio.ensure_future(server.closed())], timeout=2.0)
    session.remove()
    Path(CONTACT).unlink(missing_ok=True)
    if session.machine.state == "dead":
        why = f"No desk came back after {settings.max_retries} attempts, so the program was ended."
        _failed(why, NO_DESK)
    return program.status if program.status is not None else -signal.SIGKILL


class StatusReport:
    """What the agent says of itself to the broker; on a full disk again and again, until it takes it."""

    def __init__(self, directory: Path, contact: dict[str, object], interval: float) -> None:
        """`interval`: seconds between two attempts."""
        self._directory, self._contact, self._interval = directory, contact, interval
        self._again: asyncio.TimerHandle | None = None

    def say(self, trouble: str | None = None) -> None:
        """Say it now; `trouble`: why no place to meet is reached, empty: one is again, None: not known."""
        if self._again is not None:
            self._again.cancel()
        try:
            leave_contact(self._directory, self._contact | ({} if trouble is None else {"trouble": trouble}))
        except OSError as error:
            log.warning("The broker cannot be told of the agent now: %s", error)
            self._again = asyncio.get_running_loop().call_later(self._interval, self.say, trouble)


@contextlib.contextmanager
def _without_searches() -> Iterator[None]:
    """Libraries that we do not need are not looked for: that starts a compiler and takes 50 ms."""
    search, ctypes.util.find_library = ctypes.util.find_library, lambda name: None
    try:
        yield
    finally:
        ctypes.util.find_library = search


def _contact(key: str, fingerprint: str) -> dict[str, object]:
    return {
        "key": key.strip(),
        "fingerprint": fingerprint,
        "node": socket.gethostname(),
        "pid": os.getpid(),
        "time": time.time(),
    }


def _failed(reason: str, kind: str = "") -> int:
    """Leave the reason and the kind of failure for the Job Starter, if the disk takes it."""
    with contextlib.suppress(OSError):
        Path("..", FAILURE).write_text(f"{reason}\n{kind}\n" if kind else f"{reason}\n")
    sys.stderr.write(reason + "\n")
    return NOT_RUN


def _die_of(number: int) -> None:
    """End by the program's signal, without a core file of ours."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
    os.kill(os.getpid(), number)
