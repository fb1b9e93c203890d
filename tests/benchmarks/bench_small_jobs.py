"""Thousands of `true` jobs on the local site, against HyperQueue and Parsl in the same run.

The broker has each job on the disk before it answers, and each of its states. The peers run as they do by
default: HyperQueue without a journal, Parsl without checkpoints. All write in memory if they can.
"""

# Needs: small_jobs
from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.command_line.job.following import until_ended
from broker_core.information.this_machine import usable_cpus
from tests.benchmarks.broker import running, submission
from tests.benchmarks.figure import Figure

JOBS = 2000
PROGRAMS = Path(sys.prefix) / "small_jobs" / "bin"
"""Of the environment that packaging/bench.sh makes for the peers."""
SCRIPT = Path(__file__).with_name("small_jobs_peers.py")
LONGEST = 300.0
"""Seconds that a library has for all of its jobs."""
LIBRARIES = "hyperqueue", "parsl"
PEERS = "HyperQueue", "Parsl bash_app", "Parsl python_app"
# Making a directory takes ext4 without a journal ten times as long for minutes after many were removed: it
# passes over inodes that were freed lately (`recently_deleted`).
_IN_MEMORY = Path("/dev/shm")
_TEXT = 'Executable = "/bin/true"; Arguments = "_PARAM_";'


def measure() -> list[Figure]:
    """Jobs a second of the broker and of each peer, with a worker for each processor, and ratios."""
    workers = usable_cpus()
    where = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="cd-small-jobs-", dir=where) as base:
        before = _peers(workers, base)
        os.environ["CROSSDESK_STATE_DIR"] = f"{base}/state"
        ours = asyncio.run(_ours(workers))
        after = _peers(workers, base)
    peers = {name: statistics.mean((before[name], after[name])) for name in PEERS}
    programs = max(peers["HyperQueue"], peers["Parsl bash_app"])
    return [
        *(Figure(f"{JOBS} jobs of true, {name}", round(rate, 1), "1/s") for name, rate in peers.items()),
        Figure(f"{JOBS} jobs of true, whole lives at the broker", round(ours, 1), "1/s"),
        _ratio("ratio to the faster of HyperQueue and Parsl's bash_app", ours / programs),
        _ratio("ratio to Parsl's python_app", ours / peers["Parsl python_app"]),
    ]


def _ratio(what: str, value: float) -> Figure:
    return Figure(what, round(value, 3), "", at_least=1.0)


def _peers(workers: int, base: str) -> dict[str, float]:
    """Jobs a second of each peer; `base`: the folder below which all of them write."""
    return {name: rate for library in LIBRARIES for name, rate in _measured(library, workers, base).items()}


def _measured(library: str, workers: int, base: str) -> dict[str, float]:
    """Jobs a second by the name of the peer, which a child finds in the environment of the peers."""
    words = [str(PROGRAMS / "python"), "-P", str(SCRIPT), library, str(JOBS), str(workers)]
    with tempfile.TemporaryDirectory(prefix="cd-peers-", dir=base) as folder:
        # Parsl looks for its own programs in the path; HyperQueue leaves temporary folders.
        path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        variables = os.environ | {"PATH": path, "TMPDIR": folder}
        written = subprocess.run(
            words, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True, check=True, timeout=LONGEST
        ).stdout
    rates: dict[str, float] = json.loads(written.splitlines()[-1])
    return rates


async def _ours(workers: int) -> float:
    """Jobs a second from the submission until the client knows of the end of all."""
    async with running() as (_, client):
        await _through(client, workers)
        begin = time.perf_counter()
        await _through(client, JOBS)
        return JOBS / (time.perf_counter() - begin)


async def _through(client: BrokerClient, count: int) -> None:
    values = [str(number) for number in range(count)]
    receipt = await client.submit(submission(_TEXT, hold="", values=values))
    rows = await until_ended(client, receipt.ids)
    if len(rows) != count or any(row["exit_code"] != 0 for row in rows):
        raise RuntimeError("a job did not end well")
