"""What the running command was told for all commands: state directory, form of output."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect

T = TypeVar("T")


@dataclass(slots=True)
class Invocation:
    """Options that every command has."""

    state_dir: Path | None = None
    json: bool = False


_session: ContextVar[Invocation] = ContextVar("session")


def begin(words: list[str]) -> Invocation:
    """Start a session for one command; `--json` counts wherever it stands."""
    session = Invocation(json="--json" in words)
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


def _set_json(given: bool) -> bool:
    if given:
        session().json = True
    return given


StateDir = Annotated[
    Path | None,
    typer.Option(
        "--state-dir", callback=_set_state_dir, help="Directory of the broker's state.", file_okay=False
    ),
]
"""Option of every command."""

Json = Annotated[bool, typer.Option("--json", callback=_set_json, help="Print the result as JSON.")]
"""Option of every command."""


def with_client(work: Callable[[BrokerClient], Awaitable[T]], *, start: bool = True) -> T:
    """Run `work` with a client of the session's broker, starting one if `start`."""

    async def main() -> T:
        async with await connect(session().state_dir, start=start) as client:
            return await work(client)

    return asyncio.run(main())
