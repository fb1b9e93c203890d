"""Interactive jobs at other sites, as a user has them: submitted, talked to, left and taken up again."""

from __future__ import annotations

import sys
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session_events import SessionState
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach
from tests.interactive.consoles import SHELL
from tests.interactive.pair import Screen
from tests.running import RunningBroker
from tests.waiting import eventually

TEXT = f'Executable = "/bin/sh"; Interactive = true; {SHELL}'


def agent_file(path: Path) -> Path:
    """Stands in for the agent with an interpreter of its own: the same program with this machine's."""
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -I -m broker_core.worker.start "$@"\n')
    path.chmod(0o700)
    return path


def restart(broker: RunningBroker, **settings: object) -> None:
    """Start the broker anew with these settings."""
    broker.kill()
    lines = [f"{name} = {value!r}\n" for name, value in settings.items()]
    (broker.state_dir / "broker.toml").write_text("".join(lines).replace("'", '"'))
    broker.start()


async def add(client: BrokerClient, spec: SiteSpec) -> None:
    """Add a site and wait until jobs can be sent there."""
    await client.add_site(spec)
    await known(client, spec.name)


async def known(client: BrokerClient, site: str) -> None:
    """Wait until the broker knows what the site is like."""

    async def is_there() -> bool:
        return any(ce.startswith(f"{site}:") for ce in (await client.resources_page()).columns["ce"])

    await eventually(is_there, 60, f"{site} is known")


async def submitted(client: BrokerClient, site: str, text: str = TEXT) -> str:
    """A job that may only run there."""
    return (await client.submit_prepared(await prepare(text, Path("/")), site=site)).ids[0]


async def attached(client: BrokerClient, job: str, shows: bytes = b"ready") -> Screen:
    """A desk that has the input."""
    screen = Screen(await open_session(client, job))
    await screen.shows(shows, seconds=90)
    await eventually(lambda: screen.session.status.writer)
    return screen


async def talked_to(client: BrokerClient, job: str) -> None:
    """Echo, leaving and coming back with the past output first, and the exit status."""
    first = await attached(client, job)
    first.session.write(b"echo $((6*7))\n")
    await first.shows(b"\n42")
    await first.session.close()
    again = await attached(client, job, b"\n42")
    again.session.write(b"echo back; exit 5\n")
    await again.ended()
    assert b"back" in again.streams[1].rpartition(b"42")[2]
    assert (again.session.status.state, again.session.status.exit_code) == (SessionState.CLOSED, 5)
    await again.session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 5
