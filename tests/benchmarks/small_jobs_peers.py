"""Rates of `true` jobs through HyperQueue and Parsl: a script for the environment that holds both.

`python -P small_jobs_peers.py LIBRARY JOBS WORKERS` ends with a line of JSON: jobs a second by the name of
each peer. All is as it is by default; what the peers write lands in the current folder. Each library has a
process of its own: HyperQueue's makes the logs of all others go to stderr, and Parsl logs each job.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import parsl
from hyperqueue import Job, LocalCluster
from hyperqueue.client import Client
from hyperqueue.cluster import WorkerConfig
from hyperqueue.job import SubmittedJob
from parsl.config import Config
from parsl.executors import HighThroughputExecutor

BETWEEN_LOOKS = 0.01
"""Seconds between two looks at a job of HyperQueue. A look takes about 0.15 ms."""


class Seen(Exception):
    """Ends a wait of HyperQueue after its first look."""


def main(library: str, jobs: int, workers: int) -> None:
    """Measure the peers of one library; each first runs a job for every worker."""
    print(json.dumps(LIBRARIES[library](jobs, workers)), flush=True)


def _rate(run: Callable[[int], None], jobs: int, workers: int) -> float:
    run(workers)
    begin = time.perf_counter()
    run(jobs)
    return jobs / (time.perf_counter() - begin)


def _hyperqueue(jobs: int, workers: int) -> dict[str, float]:
    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=workers))
        client = cluster.client()
        return {"HyperQueue": _rate(partial(_through_hyperqueue, client), jobs, workers)}


def _through_hyperqueue(client: Client, count: int) -> None:
    job = Job()
    for _ in range(count):
        job.program(["/bin/true"])
    submitted = client.submit(job)
    while not (seen := _look(client, submitted))["completed"]:
        time.sleep(BETWEEN_LOOKS)  # noqa: TID251 - the library has no event for the end
    if seen["finished"] != count:
        raise RuntimeError(f"{seen['finished']} jobs of {count} ended well")


def _look(client: Client, submitted: SubmittedJob) -> dict[str, Any]:
    """How a job stands now.

    `Client.wait_for_jobs` asks the server, calls back with the answer and, where the job is not over, sleeps
    for a second before it asks again: it returns up to a second late. An exception of the callback ends it
    at once.
    """
    answers: list[dict[int, dict[str, Any]]] = []

    def called_back(answer: dict[int, dict[str, Any]]) -> None:
        answers.append(answer)
        raise Seen

    try:
        client.connection.wait_for_jobs((submitted.id,), called_back)
    except Seen:
        pass
    return answers[0][submitted.id]


def _command() -> str:
    return "/bin/true"


def _call() -> None:
    import subprocess  # only the function is sent to the workers

    subprocess.run(["/bin/true"], check=True)


def _parsl(jobs: int, workers: int) -> dict[str, float]:
    apps = {"Parsl bash_app": parsl.bash_app(_command), "Parsl python_app": parsl.python_app(_call)}
    executor = HighThroughputExecutor(max_workers_per_node=workers)
    with parsl.load(Config(executors=[executor])):
        return {name: _rate(partial(_through_parsl, app), jobs, workers) for name, app in apps.items()}


def _through_parsl(app: Callable[[], Any], count: int) -> None:
    for future in [app() for _ in range(count)]:
        future.result()


LIBRARIES = {"hyperqueue": _hyperqueue, "parsl": _parsl}

if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
