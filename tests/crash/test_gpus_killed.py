"""kill -9 of a broker while jobs have GPUs of this machine: each keeps its own, and no other gets it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from tests.broker.jobs import reach, submit
from tests.running import RunningBroker, ended
from tests.testbed.simulated.nvidia_smi import nvidia_smi
from tests.waiting import wait_until

_GPUS = ("GPU-1, Tesla T4", "GPU-2, Tesla T4")
_JOBS = 6


async def test_a_gpu_is_given_to_one_job_at_a_time_over_killed_brokers(
    state_dir: Path, tmp_path: Path
) -> None:
    folder = nvidia_smi(tmp_path / "nvidia", *_GPUS, figures="40, 1000")
    ran, held = tmp_path / "ran", tmp_path / "held"
    ran.mkdir()
    held.mkdir()
    # Each fails where it ran before, and where another one has its GPU.
    run = f"mkdir {ran}/$0 {held}/$CUDA_VISIBLE_DEVICES || exit 9; echo $$ >{ran}/$0/pid; "
    run += f"until [ -e {tmp_path}/go$0 ]; do sleep 0.05; done; rmdir {held}/$CUDA_VISIBLE_DEVICES"
    sweep = f'JobType = "Parametric"; Parameters = {_JOBS}; GPUNumber = 1;'
    broker = RunningBroker(state_dir)
    with_gpus = {"PATH": f"{folder}:{os.environ['PATH']}"}
    broker.start(**with_gpus)
    try:
        async with BrokerClient(BrokerTransport(state_dir)) as client:
            text = f"Executable = \"/bin/sh\"; {sweep} Arguments = \"-c '{run}' _PARAM_\";"
            jobs = (await submit(client, text)).ids
            for over in range(0, _JOBS, 2):
                wait_until(partial(_have_begun, ran, over + 2), what=f"two run after {over}")
                assert {one.name for one in held.iterdir()} == {"GPU-1", "GPU-2"}
                broker.kill()
                pids = _running(ran)
                if over % 4:  # they end while no broker is there
                    _let_go(tmp_path, ran, pids)
                broker.start(**with_gpus)
                _let_go(tmp_path, ran, pids)
            for job in jobs:
                assert (await reach(client, job, "Done", "Aborted"))["exit_code"] == 0
    finally:
        broker.close()
    assert _have_begun(ran, _JOBS)


def _have_begun(ran: Path, number: int) -> bool:
    return len(list(ran.glob("*/pid"))) == number


def _running(ran: Path) -> dict[str, int]:
    """Pids of the jobs that run, by their value."""
    pids = {one.parent.name: int(one.read_text()) for one in ran.glob("*/pid")}
    return {value: pid for value, pid in pids.items() if not ended(pid)}


def _let_go(folder: Path, ran: Path, pids: dict[str, int]) -> None:
    for value in pids:
        (folder / f"go{value}").touch()
    wait_until(lambda: not pids.keys() & _running(ran).keys(), what="they end")
