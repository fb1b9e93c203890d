"""The relay: `crossdesk-relay`, or `python -m broker_core.interactive.relay` (CB-GCB-01, CB-GCB-02).

Two outgoing connections that name the same token are joined and bytes forwarded; the relay holds no key and
knows nothing of brokers, so it may be restarted, and survives theirs. `configure` writes its settings and a
service for systemd. A relay that cannot listen ends with 1 and says why.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.rendezvous import PORTS
from broker_core.interactive.relay.configure import configure
from broker_core.interactive.relay.pairs import Pairs
from broker_core.interactive.relay.settings import RelaySettings, load

log = logging.getLogger("crossdesk.relay")
BACKLOG = 256
_ABOUT = """The meeting point of interactive jobs. The agent of a job on its node and the desk of its owner
both call here; the relay joins the two connections and forwards bytes, which are encrypted from end to end.
It holds no key."""
_SERVE = """Listen until SIGTERM or Ctrl-C. Without --settings and --port it takes the first free port from
{first} to {last}, for this machine alone; what an option says goes before the settings. Needs no privileges
and logs to standard error."""
_CONFIGURE = """Write two files: crossdesk-relay.toml, the settings with their usual values (address, port,
limits), and crossdesk-relay.service, which runs the relay by them under systemd. Nothing is started, and no
file is replaced; the next steps are told, and the line for broker.toml that makes a broker use this
relay."""
_AFTER = """Without a command it serves. `crossdesk-relay COMMAND --help` explains a command."""


class CannotListen(CrossDeskError):
    """No port could be had."""

    code = "relay_cannot_listen"


def main(words: Sequence[str] | None = None) -> int:
    """Configure, or serve until stopped; returns the exit code."""
    given = read(sys.argv[1:] if words is None else words)
    try:
        if given.command == "configure":
            sys.stdout.write(configure(given.directory, given.address, given.port))
            return 0
        settings = load(given.settings) if given.settings else RelaySettings()
        chosen = {name: getattr(given, name) for name in ("address", "port", "idle_exit")}
        settings = replace(settings, **{name: value for name, value in chosen.items() if value is not None})
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        asyncio.run(serve(settings, given.announce))
    except CrossDeskError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def serve(settings: RelaySettings, announce: Path | None = None) -> None:
    """Listen until a signal asks to stop, or nobody has come for `idle_exit` seconds."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, done.set)
    pairs = Pairs(settings)
    listening = listen(settings)
    server = await loop.create_server(pairs.leg, sock=listening, backlog=BACKLOG)
    if announce is not None:
        _announce(announce, listening)
    log.info("Relay listens on %s", listening.getsockname())
    await _until_idle(pairs, done)
    server.close()
    for leg in list(pairs.legs):
        leg.transport.abort()
    log.info("Relay ended; %d bytes were carried", pairs.carried)


def listen(settings: RelaySettings) -> socket.socket:
    """A socket on the port, or on the first free one of the range; raises CannotListen."""
    ports = [settings.port] if settings.port else range(settings.first_port, settings.last_port + 1)
    for port in ports:
        # Only sockets that say TCP get TCP_NODELAY from asyncio, without which keystrokes wait 40 ms.
        family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((settings.address, port))
            found.listen(BACKLOG)
        except OSError as error:
            found.close()
            if error.errno == errno.EADDRINUSE:
                continue
            raise CannotListen(
                f"The relay cannot listen: {error.strerror or error}.", place=f"{settings.address}:{port}"
            ) from error
        found.setblocking(False)
        return found
    raise CannotListen(
        f"No port is free at {settings.address} from {ports[0]} to {ports[-1]}.",
        remedy="Name another port, or end what uses it.",
    )


async def _until_idle(pairs: Pairs, done: asyncio.Event) -> None:
    limit = pairs.settings.idle_exit or None
    while not done.is_set():
        carried = pairs.carried
        try:
            async with asyncio.timeout(limit):
                await done.wait()
        except TimeoutError:
            if not pairs.legs and pairs.carried == carried:
                return


def _announce(path: Path, listening: socket.socket) -> None:
    """Write where we listen, for who started us; whole or not at all."""
    host, port = listening.getsockname()[:2]
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"host": host, "port": port, "pid": os.getpid()}))
    fresh.replace(path)


def read(words: Sequence[str]) -> argparse.Namespace:
    """The command and its options; ends the process with help, or 2 for what is not understood."""
    given = list(words)
    if not given or given[0] not in ("serve", "configure", "-h", "--help"):
        given.insert(0, "serve")
    return _parser().parse_args(given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="crossdesk-relay", description=_ABOUT, epilog=_AFTER)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _serving(commands.add_parser("serve", help="join connections until stopped", description=_served()))
    _configuring(
        commands.add_parser(
            "configure", help="write a settings file and a service for systemd", description=_CONFIGURE
        )
    )
    return parser


def _served() -> str:
    return _SERVE.format(first=PORTS.start, last=PORTS.stop - 1)


def _serving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--settings", type=Path, metavar="FILE", help="TOML file, as `configure` writes it")
    parser.add_argument("--address", help="address to listen on; 0.0.0.0 or :: for all")
    parser.add_argument("--port", type=int, help="port to listen on; 0: the first free one of the range")
    parser.add_argument(
        "--idle-exit", type=float, metavar="SECONDS", help="end after so long without a connection"
    )
    parser.add_argument(
        "--announce", type=Path, metavar="FILE", help="write host, port and pid there as JSON"
    )


def _configuring(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--directory", type=Path, default=Path(), help="where to write; made if missing; usually this folder"
    )
    parser.add_argument("--address", help="address that the relay listens on; if not given: all of them")
    parser.add_argument("--port", type=int, help=f"port that it listens on; if not given: {PORTS.start}")
