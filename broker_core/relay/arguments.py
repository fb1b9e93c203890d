"""The words that `crossdesk-relay` understands, and its help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from broker_core.channel.rendezvous import PORTS

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
