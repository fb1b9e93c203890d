"""A client for the broker of a state directory."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.start import ensure_broker
from broker_core.client.transport import PATIENCE, BrokerTransport


async def connect(
    state_dir: Path | str | None = None, *, start: bool = True, patience: float = PATIENCE
) -> BrokerClient:
    """Return a client of a broker that answers.

    With `start` a broker is started where none runs, now and whenever it is away later; without it, or when
    the broker cannot start, the requests raise. `patience` is how long a request is repeated, in seconds.
    """
    if not start:
        return BrokerClient(BrokerTransport(state_dir, patience=patience))

    async def revive() -> None:
        await ensure_broker(state_dir)

    await revive()
    return BrokerClient(BrokerTransport(state_dir, patience=patience, revive=revive))
