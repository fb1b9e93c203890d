"""The agent's calls go on, whatever is wrong with a place."""

from __future__ import annotations

import asyncio

from broker_core.interactive.channel.rendezvous import Endpoint
from broker_core.worker.agent_dial import AgentDialer, Reach
from tests.waiting import eventually


async def test_a_place_whose_name_is_none_is_told_of_and_called_again() -> None:
    failed: list[str] = []

    class Told(Reach):
        def failed(self, place: Endpoint, reason: str) -> None:
            failed.append(reason)

    async def serve(connection: object) -> None:
        raise AssertionError("nobody is there")

    place = Endpoint(f"{'x' * 70}.example.org", 20000)
    calls = asyncio.ensure_future(AgentDialer(place, "t" * 43, 0.01, serve, Told(1, failed.append)).run())
    await eventually(lambda: len(failed) > 1 or calls.done())
    assert len(failed) > 1, calls
    calls.cancel()
    await asyncio.wait([calls])
