"""A sweep with `MaxRunningJobs`: so many at a time, and all in the end."""

from __future__ import annotations

from pathlib import Path

from broker_core.client.client import BrokerClient
from tests.broker.jobs import reach, submit
from tests.running import RunningBroker
from tests.waiting import eventually, wait_until


async def test_the_jobs_of_a_sweep_run_so_many_at_a_time(client: BrokerClient, isolated: Path) -> None:
    # Each leaves a mark while it runs, and fails where another one is there.
    run = f"mkdir {isolated}/mark && sleep 0.2 && rmdir {isolated}/mark"
    sweep = f"JobType = \"Parametric\"; Parameters = 4; MaxRunningJobs = 1; Arguments = \"-c '{run}'\";"
    jobs = (await submit(client, f'Executable = "/bin/sh"; {sweep}', hold="first look")).ids
    assert len(jobs) == 4
    await client.release(jobs)
    states = (await client.queue()).columns["state"]
    assert states.count("limited") >= 2
    for job in jobs:
        assert (await reach(client, job, "Done", "Aborted"))["exit_code"] == 0

    async def empty() -> bool:
        return not (await client.queue()).columns["id"]

    await eventually(empty)


async def test_a_broker_killed_again_and_again_lets_no_more_of_them_run(
    running_broker: RunningBroker, client: BrokerClient, isolated: Path
) -> None:
    ran, marks = isolated / "ran", isolated / "marks"
    ran.mkdir()
    marks.mkdir()
    # Each fails where another one is there, and where it ran before.
    alone = f"test $(ls {marks} | wc -l) = 1 || exit 9"
    run = f"mkdir {ran}/$0 {marks}/$0; until [ -e {isolated}/go$0 ]; do {alone}; sleep 0.05; done; "
    run += f"rmdir {marks}/$0"
    sweep = "JobType = \"Parametric\"; Parameters = 5; MaxRunningJobs = 1;"
    text = f"Executable = \"/bin/sh\"; {sweep} Arguments = \"-c '{run}' _PARAM_\";"
    jobs = (await submit(client, text)).ids
    for over in range(5):
        (mark,) = wait_until(lambda: list(marks.iterdir()), what=f"one runs after {over}")
        running_broker.kill()
        if over % 2:  # it ends while no broker is there
            (isolated / f"go{mark.name}").touch()
            _ended(mark)
        running_broker.start()
        if not over % 2:
            await _limited(client, 4 - over)
            (isolated / f"go{mark.name}").touch()
            _ended(mark)
    for job in jobs:
        assert (await reach(client, job, "Done", "Aborted"))["exit_code"] == 0
    assert len(list(ran.iterdir())) == 5


async def _limited(client: BrokerClient, count: int) -> None:
    async def wait() -> bool:
        return bool((await client.queue()).columns["state"].count("limited") == count)

    await eventually(wait, what=f"{count} wait for those that run")


def _ended(mark: Path) -> None:
    wait_until(lambda: not mark.exists(), what=f"{mark.name} ends")
