"""Several who look at the same growing file of a job at once do not disturb each other."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from broker_core.sites.link import Link
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.transfers import ShellTransfers
from broker_core.sites.shell.workspace import SiteWorkspace
from broker_core.sites.transport.local import LocalTransport

TAG, NAME = "job.1", "std.out"


async def test_what_several_bring_at_once_is_there_once(tmp_path: Path) -> None:
    transport = LocalTransport(Link(lambda _: None), {}, 8)
    home = SiteWorkspace(transport, str(tmp_path / "site"), "mark")
    transfers = ShellTransfers("there", ShellExchanges("there", transport, home))
    there = Path((await home.get()).path, "attempts", TAG, "job", NAME)
    there.parent.mkdir(parents=True)
    here = tmp_path / "here"
    for _ in range(4):
        with there.open("ab") as file:
            file.write(os.urandom(2_000_000))
        await asyncio.gather(*(transfers.fetch(TAG, [NAME], here) for _ in range(4)))
        assert (here / NAME).read_bytes() == there.read_bytes()
    await transfers.close()
