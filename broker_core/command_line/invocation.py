"""What the running command was told for all commands: state directory, form of output."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from broker_core.client import probe
from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.errors import BrokerStopped
from broker_core.system.paths import places

T = TypeVar("T")
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
"""Option of every command."""
Start = Annotated[bool, typer.Option("--start", help="Start the broker even if it was stopped.")]
"""Option before the noun, and of the commands that are typed most."""


@dataclass(slots=True)
class Invocation:
    """Options that every command has."""

    state_dir: Path | None = None
    json: bool = False
    start: bool = False
    """Start a broker although it was stopped on purpose."""


_session: ContextVar[Invocation] = ContextVar("session")


def begin(words: list[str]) -> Invocation:
    """Start a session for one command; `--json` and `--start` count wherever they stand."""
    session = Invocation(json="--json" in words, start="--start" in words)
    _session.set(session)
    return session


def session() -> Invocation:
    """The session of the running command."""
    return _session.get()


def _set_state_dir(given: Path | None) -> Path | None:
    if given is not None:
        session().state_dir = given
        # A broker started by this command, and whatever reads the default, must mean the same directory.
        os.environ["CROSSDESK_STATE_DIR"] = str(given.absolute())
    return given


StateDir = Annotated[
    Path | None,
    typer.Option(
        "--state-dir", callback=_set_state_dir, help="Directory of the broker's state.", file_okay=False
    ),
]
"""Option of every command."""


def _heed_stop() -> None:
    """Ask before a broker that was stopped on purpose is started again; raises BrokerStopped."""
    where = places(session().state_dir)
    if session().start or not where.stopped.exists() or probe.listens(where.socket):
        return
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(where.stopped.stat().st_mtime))
    message = f"The broker was stopped on {when}."
    if not session().json and sys.stdin.isatty() and sys.stderr.isatty():
        typer.confirm(f"{message} Start it?", default=True, abort=True, err=True)
        return
    raise BrokerStopped(
        message, remedy="`crossdesk broker start` starts it; so does --start behind `crossdesk`."
    )


def with_client(work: Callable[[BrokerClient], Awaitable[T]], *, start: bool = True) -> T:
    """Run `work` with a client of the session's broker, starting one if `start`.

    Raises BrokerStopped where it was stopped on purpose and nobody says that it shall start again.
    """
    if start:
        _heed_stop()

    async def main() -> T:
        async with await connect(session().state_dir, start=start) as client:
            return await work(client)

    return asyncio.run(main())
