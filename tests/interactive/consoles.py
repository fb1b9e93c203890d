"""Interactive jobs at this machine, and their consoles."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from tests.interactive.pair import Screen
from tests.waiting import eventually

SHELL = "Arguments = \"-c 'echo ready; while read line; do eval $line; done; exit 7'\";"


async def submitted(client: BrokerClient, more: str = SHELL) -> str:
    text = f'Executable = "/bin/sh"; JobType = "Interactive"; {more}'
    return (await client.submit_prepared(await prepare(text, Path("/")))).ids[0]


async def console(client: BrokerClient, job: str) -> Screen:
    screen = Screen(await open_session(client, job))
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    return screen
