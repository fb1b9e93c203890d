"""Batch systems to test against: real ones, and simulated commands where the real one cannot be had."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from broker_core.sites.batch.system import BatchJob, BatchSystem, Listed
from tests.waiting import wait_until


@dataclass
class Bed:
    """One batch system that runs, and how its commands are run."""

    system: BatchSystem
    queue: str
    environment: Mapping[str, str]
    folder: Path
    """For scripts and what they write."""
    parallel: int = 2
    """Processors that one job may ask for."""
    made: list[str] = field(default_factory=list)

    def ask(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run shell text as a transport would."""
        environment = os.environ | self.environment
        return subprocess.run(["/bin/sh"], input=text, env=environment, capture_output=True, text=True)

    def run(self, text: str) -> str:
        """Like `ask`, for text that has to succeed."""
        done = self.ask(text)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    def submit(self, name: str, script: Path, **more: object) -> str:
        """Hand over; returns the id, which `end_all` will cancel."""
        values = {"cpus": 1, "queue": self.queue} | more
        job = BatchJob(name=name, script=str(script), **values)  # type: ignore[arg-type]
        id = self.system.submitted(self.run(self.system.submit(job)))
        self.made.append(id)
        return id

    def release(self, *ids: str) -> None:
        self.run(self.system.release(ids))

    def cancel(self, *ids: str) -> None:
        self.run(self.system.cancel(ids))

    def listed(self, mark: str) -> dict[str, Listed]:
        """What is there under a mark, by id; names of others are left out, as some list the whole account."""
        jobs = self.system.listed(self.run(self.system.status(mark)))
        return {job.id: job for job in jobs if job.name.startswith(mark)}

    def script(self, name: str, body: str) -> Path:
        """A script for a job."""
        path = self.folder / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        return path

    def end_all(self) -> None:
        """Leave no job behind."""
        if self.made:
            self.cancel(*self.made)
        self.made.clear()


def gone(bed: Bed, mark: str, id: str, seconds: float = 60.0) -> None:
    """Wait until the list has no live job of that id."""
    wait_until(lambda: not _live(bed.listed(mark), id), seconds, f"{id} is gone")


def _live(jobs: dict[str, Listed], id: str) -> bool:
    names = ("HELD", "QUEUED", "RUNNING")
    return any(
        job.seen.name in names for key, job in jobs.items() if key.partition("_")[0] == id or key == id
    )
