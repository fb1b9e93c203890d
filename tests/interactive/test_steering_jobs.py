"""Parameters of jobs by broker, agent, relay and command line; the broker is killed in between."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.client.connect import connect
from broker_core.client.interactive import SessionOptions, open_session
from tests.broker.jobs import reach
from tests.command_line.calling import crossdesk
from tests.interactive.steered_jobs import declared, published
from tests.running import RunningBroker
from tests.waiting import eventually, within
from tests.worker.steered import program


@pytest.fixture
def steered(running_broker: RunningBroker, tmp_path: Path) -> str:
    """Id of a batch job whose program is steered."""
    (words,) = program("python", tmp_path)
    name = Path(words).name
    (tmp_path / "steered.jdl").write_text(f'Executable = "{name}"; InputSandbox = {{"{name}"}};')
    submitted = crossdesk("job", "submit", "--json", str(tmp_path / "steered.jdl"))
    assert submitted.code == 0, submitted.err
    return str(submitted.json["ids"][0])


async def test_a_batch_job_is_steered_at_a_prompt(steered: str, running_broker: RunningBroker) -> None:
    async with await connect(running_broker.state_dir, start=False) as client:
        await declared(client, steered)
        listed = await asyncio.to_thread(crossdesk, "job", "parameters", steered)
        assert listed.out.splitlines()[0].split() == ["NAME", "VALUE", "UNIT", "TAKES"]
        assert "rate    0.5    1/s   a number from 0 to 1" in listed.out
        wrong = await asyncio.to_thread(crossdesk, "job", "set", steered, "rate=2")
        assert (wrong.code, "rate is a number from 0 to 1." in wrong.err) == (1, True)
        unknown = await asyncio.to_thread(crossdesk, "job", "set", steered, "speed=2")
        assert (unknown.code, "It has rate, size, solver, title, stop." in unknown.err) == (1, True)
        changed = await asyncio.to_thread(
            crossdesk, "job", "set", "--wait", steered, "rate=0.25", "title=a=b", "solver=gmres"
        )
        assert changed.code == 0, changed.err
        values = await asyncio.to_thread(crossdesk, "job", "parameters", "--json", steered)
        assert [one["value"] for one in values.json] == [0.25, 3, "gmres", "a=b", False]
        history = await asyncio.to_thread(crossdesk, "job", "parameters", "--json", "--history", steered)
        assert [(one["name"], one["before"], one["after"]) for one in history.json] == [
            ("rate", 0.5, 0.25), ("title", "first", "a=b"), ("solver", "cg", "gmres")
        ]  # fmt: skip
        shown = await asyncio.to_thread(crossdesk, "job", "parameters", "--history", steered)
        assert len(shown.out.splitlines()) == 4
        assert (await asyncio.to_thread(crossdesk, "job", "set", steered, "stop=yes")).code == 0
        await reach(client, steered, "Done")
        shown = await asyncio.to_thread(crossdesk, "job", "parameters", "--history", steered)
        assert shown.out.splitlines()[-1].split()[-2:] == ["false", "true"]
        after = await asyncio.to_thread(crossdesk, "job", "parameters", "--json", steered)
        assert [one["value"] for one in after.json] == [0.25, 3, "gmres", "a=b", True]
        late = await asyncio.to_thread(crossdesk, "job", "set", steered, "rate=1")
        assert late.code == 1
        assert [file.path for file in await client.files(steered) if "parameters" in file.path] == []


async def test_a_broker_that_is_killed_loses_no_change_that_was_acknowledged(
    steered: str, running_broker: RunningBroker
) -> None:
    async with await connect(running_broker.state_dir, start=False) as client:
        await declared(client, steered)
        session = await open_session(client, steered, SessionOptions(attached=False))
        steering = session.forwards.steering
        numbers = [await within(steering.set("rate", "0.1"))]
        running_broker.kill()
        numbers += [await within(steering.set("rate", value)) for value in ("0.2", "0.3")]
        await session.close()
    running_broker.start()
    async with await connect(running_broker.state_dir, start=False) as again:

        async def taken() -> bool:
            return (await published(again, steered)).steering.taken.get("rate") == numbers[-1]

        await eventually(taken)
        changes = (await published(again, steered)).steering.changes
        assert changes[-1].after == 0.3
        assert {one.change for one in changes} <= set(numbers)
        await again.cancel([steered])
