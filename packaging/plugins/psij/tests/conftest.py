"""The executor, with a broker that ends with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psij
import pytest

# PSI/J starts a thread of its own with the first child that ends, whichever executor is used.
psij.JobExecutor.get_instance("local")


@pytest.fixture
def executor(broker: Path) -> Iterator[psij.JobExecutor]:
    """The executor as PSI/J makes it."""
    made = psij.JobExecutor.get_instance("crossdesk")
    yield made
    made.close()


@pytest.fixture
def submitted(executor: psij.JobExecutor) -> Callable[..., psij.Job]:
    """Submits a job with these fields of its specification."""

    def submit(executable: str = "/bin/true", *arguments: str, **fields: Any) -> psij.Job:
        spec = psij.JobSpec(executable=executable, arguments=list(arguments), **fields)
        job = psij.Job(spec)
        executor.submit(job)
        return job

    return submit
