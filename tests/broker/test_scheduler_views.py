"""The scheduler over HTTP: the queue with its reasons, why a job waits, decisions, policies."""

from __future__ import annotations

import json
import os
import pwd
from contextlib import aclosing
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BadRequest, NotAuthorized, NotFound
from broker_core.wire.queue import QUEUE_COLUMNS
from tests.broker.jobs import reach, submit
from tests.running import RunningBroker
from tests.waiting import eventually

TRUE = 'Executable = "/bin/true";'


async def test_the_queue_tells_of_each_waiting_job_why_it_waits(client: BrokerClient) -> None:
    (held,) = (await submit(client, TRUE, hold="wait for me")).ids
    (never,) = (await submit(client, f"{TRUE} Requirements = false;")).ids

    async def looked_at() -> bool:
        return (await client.queue()).columns["state"] == ["held", "parked"]

    await eventually(looked_at)
    queue = await client.queue()
    assert tuple(queue.columns) == QUEUE_COLUMNS
    assert queue.columns["id"] == [held, never]
    assert queue.total == 2
    assert "wait for me" in queue.columns["reason"][0]
    assert queue.columns["reason"][1]


async def test_why_a_job_waits_is_told_by_what_decides_it(client: BrokerClient) -> None:
    (job,) = (await submit(client, f"{TRUE} Requirements = false;")).ids
    await reach(client, job, "Waiting")
    why = await client.why(job)
    assert why.job == job
    assert why.headline
    with pytest.raises(NotFound):
        await client.why("nosuchjob")


async def test_a_policy_that_was_chosen_is_in_force_after_a_restart(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    chosen = await client.choose_policy(order="worst-fit")
    assert [one.name for one in chosen if one.chosen and one.kind == "order"] == ["worst-fit"]
    assert (await client.match(TRUE)).policy == "worst-fit"
    running_broker.kill()
    running_broker.start()
    again = await client.policies()
    assert [one.name for one in again if one.chosen] == ["worst-fit", "fcfs"]
    with pytest.raises(BadRequest):
        await client.choose_policy(order="no-such-policy")


async def test_followers_hear_that_another_policy_is_in_force(client: BrokerClient) -> None:
    before = -1
    async with aclosing(client.follow((await client.info()).position)) as updates:
        async for update in updates:
            if before < 0:
                before = update.scheduler
                await client.choose_policy(order="first-fit")
            elif update.scheduler > before:
                break
    assert [one.name for one in await client.policies() if one.chosen and one.kind == "order"] == [
        "first-fit"
    ]


async def test_on_a_shared_broker_only_administrators_choose_policies(state_dir: Path) -> None:
    owner = pwd.getpwuid(os.getuid()).pw_name
    state_dir.mkdir()
    for administrators, refused in (((), True), ((owner,), False)):
        (state_dir / "broker.toml").write_text(
            f'mode = "shared"\nadministrators = {json.dumps(administrators)}\n'
        )
        broker = RunningBroker(state_dir)
        broker.start()
        try:
            async with BrokerClient(BrokerTransport(state_dir)) as client:
                if refused:
                    with pytest.raises(NotAuthorized) as said:
                        await client.choose_policy(order="first-fit")
                    assert "administrators" in said.value.remedy
                else:
                    await client.choose_policy(order="first-fit")
        finally:
            broker.close()


async def test_where_free_cpus_alone_count_list_match_and_the_scheduler_say_the_same(state_dir: Path) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text('cpus = 1\nbatch_capacity = "free"\n')
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir)) as client:
            (first,) = (await submit(client, 'Executable = "/bin/sleep"; Arguments = "60";')).ids
            await reach(client, first, "Running")
            (second,) = (await submit(client, TRUE)).ids
            assert (await client.match(TRUE)).matching == 0

            async def looked_at() -> bool:
                queue = await client.queue()
                told = (queue.columns["id"], queue.columns["state"]) == ([second], ["queued"])
                return told and "needs 1 CPU, 0 are free" in queue.columns["reason"][0]

            await eventually(looked_at)
            await client.cancel([first])
            await reach(client, second, "Done")
    finally:
        broker.close()
