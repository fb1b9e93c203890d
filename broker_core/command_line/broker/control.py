"""`crossdesk broker start | stop | status | serve | logs`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from typing import Annotated

import typer
from rich.text import Text

from broker_core.client import probe
from broker_core.client.client import BrokerClient
from broker_core.client.start import start_broker
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit, TimedOut
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.errors import NotFound
from broker_core.system.paths import Paths, places
from broker_core.wire.views import BrokerInfo

_LOOK = 0.1


def _places() -> Paths:
    return places(session().state_dir)


async def _info(client: BrokerClient) -> BrokerInfo:
    return await client.info()


def start(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Start the broker, if none runs."""
    start_broker(session().state_dir)
    info = with_client(_info, start=False)
    if session().json:
        output.as_json(_value(info))
    else:
        output.say(f"The broker runs (process {info.pid}).", "green")
    return Exit.OK


def stop(
    timeout: Annotated[float, typer.Option("--timeout", help="Timeout in seconds.")] = 60,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Stop the broker; running jobs go on and are found again at its next start."""
    where = _places()
    running = probe.info(where.socket)
    if running is not None:
        with_client(lambda client: client.stop(), start=False)
        asyncio.run(_gone(where, timeout))
    if session().json:
        output.as_json({"running": False, "pid": None, "stopped": running["pid"] if running else None})
    else:
        output.say("The broker has stopped." if running else "No broker runs.")
    return Exit.OK


async def _gone(where: Paths, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while probe.listens(where.socket) or where.holder.exists():
        if time.monotonic() > deadline:
            raise TimedOut
        await asyncio.sleep(_LOOK / 4)


def status(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show whether the broker runs and how it does; exit code 1 if none runs."""
    where = _places()
    if probe.info(where.socket) is None:
        if session().json:
            output.as_json({"running": False, "pid": None, "state_dir": str(where.state)})
        else:
            output.say(f"No broker runs for {where.state}. `crossdesk broker start` starts one.")
        return Exit.ERROR
    info, outcomes = with_client(_info_and_outcomes, start=False)
    if session().json:
        output.as_json(_value(info) | {"outcomes": outcomes})
    else:
        _show(info, outcomes)
    return Exit.OK


async def _info_and_outcomes(client: BrokerClient) -> tuple[BrokerInfo, dict[str, int]]:
    return await client.info(), (await client.statistics()).outcomes


def _value(info: BrokerInfo) -> dict[str, object]:
    return {"running": True, **info.model_dump()}


def _show(info: BrokerInfo, outcomes: dict[str, int]) -> None:
    storage = info.storage + (f" ({info.storage_reason})" if info.storage_reason else "")
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
    tables.facts(
        [
            ("Broker", Text(f"{info.mode}, version {info.version}", style="bold")),
            ("Process", f"{info.pid} on {info.host}, started {words.ago(info.started)}"),
            ("User", info.user),
            ("State directory", info.state_dir),
            (
                "Storage",
                Text(output.printable(storage), style="green" if info.storage == "ok" else "bold red"),
            ),
            ("Accepts jobs", "yes" if info.accepting else "no, it is ending"),
            ("Jobs", counts or "none yet"),
            ("Epoch", str(info.epoch)),
            *(("Notice", Text(output.printable(line), style="yellow")) for line in info.notices),
        ]
    )


def serve(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Run the broker in the foreground, until it is interrupted."""
    words_ = [sys.executable, "-m", "broker_core.broker.daemon", "--state-dir", str(_places().state)]
    sys.stdout.flush()
    os.execv(sys.executable, words_)  # noqa: S606 - the broker takes the place of this process


def logs(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as it grows.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Number of lines, from the end.")] = 50,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show the broker's log."""
    path = _places().log
    try:
        stream = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise NotFound("There is no log yet.", place=str(path), remedy="Start the broker first.") from None
    with stream:
        last = [line.rstrip("\n") for line in deque(stream, maxlen=lines)]
        if session().json:
            output.as_json({"file": str(path), "lines": last})
            return Exit.OK
        for line in last:
            output.line(line)
        while follow:
            for line in stream:
                output.line(line.rstrip("\n"))
            sys.stdout.flush()
            asyncio.run(asyncio.sleep(_LOOK))
    return Exit.OK
