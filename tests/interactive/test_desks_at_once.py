"""Desks that are registered and forgotten at the same time: no change is lost by another."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncssh

from broker_core.interactive.sessions.desks import Desks, fingerprint
from broker_core.wire.interactive import NewDesk
from tests.bookkeeping.made import open_store


def new_desk(name: str) -> NewDesk:
    key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    return NewDesk(key=key, name=name)


async def test_all_desks_that_come_at_once_are_known(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    desks = Desks(store)
    await asyncio.gather(*(desks.add("ann", new_desk(str(number))) for number in range(5)))
    assert {desk.name for desk in await desks.of("ann")} == {"0", "1", "2", "3", "4"}
    store.close()


async def test_a_desk_that_is_forgotten_stays_so_while_another_comes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    desks, lost = Desks(store), new_desk("stolen")
    await desks.add("ann", lost)
    await asyncio.gather(desks.remove("ann", fingerprint(lost.key)), desks.add("ann", new_desk("next")))
    assert [desk.name for desk in await desks.of("ann")] == ["next"]
    store.close()
