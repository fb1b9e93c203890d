"""What jobs that are steered have published."""

from __future__ import annotations

import contextlib

from broker_core.client.client import BrokerClient
from broker_core.errors import NotFound
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE
from tests.broker.jobs import reach
from tests.waiting import eventually


async def published(client: BrokerClient, job: str) -> Recording:
    """What the job published so far."""
    made = Recording()
    with contextlib.suppress(NotFound):  # it has just begun
        made.feed((await client.read_file(job, FILE)).content)
    return made


async def declared(client: BrokerClient, job: str) -> None:
    """Wait until its parameters are there."""
    await reach(client, job, "Running")

    async def there() -> bool:
        return "stop" in (await published(client, job)).steering.parameters

    await eventually(there)
