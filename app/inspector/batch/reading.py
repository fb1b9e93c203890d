"""Reading one number out of the output of each job of a batch, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.inspector.batch.numbers import NumberNotFound, NumberQuestion
from broker_core.client.client import BrokerClient
from broker_core.errors import CrossDeskError

MOST = 2000
"""Jobs whose output is read, at most."""
_AT_A_TIME = 8
_LENGTH = 1 << 20
"""Bytes that are read of a file, at most."""


@dataclass(slots=True)
class NumbersFound:
    """What reading brought."""

    numbers: dict[str, float] = field(default_factory=dict)
    """Job to its number."""
    missing: dict[str, str] = field(default_factory=dict)
    """Job to why it has none."""


async def read_numbers(
    client: BrokerClient, question: NumberQuestion, jobs: Sequence[str], progress: Callable[[int], None]
) -> NumbersFound:
    """Ask the question of the files of these jobs; `progress` gets the number of jobs answered."""
    found, waiting = NumbersFound(), iter(jobs)

    async def read_on() -> None:
        for job in waiting:
            try:
                part = await client.read_file(job, question.path, 0, _LENGTH)
                found.numbers[job] = await asyncio.to_thread(question.answer, part.content)
            except (NumberNotFound, CrossDeskError) as error:
                found.missing[job] = str(error)
            progress(len(found.numbers) + len(found.missing))

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_A_TIME):
            group.create_task(read_on())
    return found
