"""Whole lives of `true` jobs on the local site, against PSI/J's local executor in the same run."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import threading
import time
from pathlib import Path

import psij

from broker_core.client.client import BrokerClient
from broker_core.client.prepare import prepare
from broker_core.command_line.job.following import until_ended
from broker_core.wire.submission import Submission
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure

JOBS = 600
PSIJ_JOBS = 300
PROBES = 60
STAGED = """
Executable = "work.sh";
StdOutput = "out.txt";
StdError = "err.txt";
InputSandbox = {"work.sh", "input.dat"};
OutputSandbox = {"out.txt", "err.txt", "result.dat"};
"""


def measure() -> list[Figure]:
    """Rates of whole life cycles, their ratio to PSI/J's, and the time from submission to Running."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    before = _psij(PSIJ_JOBS)
    async with running() as (_, client):
        empty = await _lives(client, _sweep('Executable = "/bin/true"; Arguments = "_PARAM_";'))
        staged = await _staged(client)
        latency = await _latency(client)
    reference = statistics.mean((before, _psij(PSIJ_JOBS)))
    return [
        Figure("whole lives of true, PSI/J local executor", round(reference, 1), "1/s"),
        Figure("whole lives of true, empty sandbox", round(empty, 1), "1/s"),
        Figure("whole lives of true, full staging", round(staged, 1), "1/s"),
        Figure("ratio to PSI/J, empty sandbox", round(empty / reference, 3), "", at_least=1.0),
        Figure("ratio to PSI/J, full staging", round(staged / reference, 3), "", at_least=0.5),
        Figure("submission to Running on an idle site, median", round(1000 * latency, 2), "ms", at_most=20),
    ]


def _psij(count: int) -> float:
    executor = psij.JobExecutor.get_instance("local")
    jobs = [psij.Job(psij.JobSpec(executable="/bin/true")) for _ in range(count)]
    begin = time.perf_counter()
    for job in jobs:
        executor.submit(job)
    for job in jobs:
        job.wait()
    return count / (time.perf_counter() - begin)


def _sweep(description: str) -> Submission:
    values = [str(number) for number in range(JOBS)]
    return Submission.model_validate(
        {"key": f"lives-{threading.get_ident()}", "items": [{"description": description, "values": values}]}
    )


async def _lives(client: BrokerClient, call: Submission) -> float:
    begin = time.perf_counter()
    receipt = await client.submit(call)
    rows = await until_ended(client, receipt.ids)
    spent = time.perf_counter() - begin
    if any(row["exit_code"] != 0 for row in rows):
        raise RuntimeError("a job did not end well")
    return len(rows) / spent


async def _staged(client: BrokerClient) -> float:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "work.sh").write_text("#!/bin/sh\ncp input.dat result.dat\n")
        Path(folder, "input.dat").write_bytes(b"x" * 10_000)
        prepared = await prepare(STAGED, folder)
        begin = time.perf_counter()
        receipt = await client.submit_prepared(prepared, values=[str(number) for number in range(JOBS)])
        await until_ended(client, receipt.ids)
        return JOBS / (time.perf_counter() - begin)


async def _latency(client: BrokerClient) -> float:
    times = []
    for number in range(PROBES):
        call = Submission.model_validate(
            {"key": f"probe-{number:06d}", "items": [{"description": 'Executable = "/bin/true";'}]}
        )
        receipt = await client.submit(call)
        row = (await until_ended(client, receipt.ids))[0]
        times.append(row["started"] - row["submitted"])
    return statistics.median(times)
