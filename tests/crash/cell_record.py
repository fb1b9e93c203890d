"""What Grid Engine itself recorded of its jobs: the accounting file and the list of those that are there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.grid_engine import GridEngine
from tests.testbed.slurm import Completed

_NAME, _NUMBER, _START, _FAILED, _TASK = 4, 5, 9, 11, 35
"""Places in a line of the accounting file, from 0."""


@dataclass(frozen=True)
class CellRecord:
    """Asked like a cluster of Slurm (`site_checker.Bed`)."""

    cell: GridEngine

    def present(self) -> dict[str, str]:
        """Id of each job that is not over to its name; an array is one of them."""
        entries = self.cell.run("qstat", "-xml", "-u", "*").split("<job_list")[1:]
        return {_element(one, "JB_job_number"): _element(one, "JB_name") for one in entries}

    def completed(self) -> list[Completed]:
        """All jobs that are over, oldest first."""
        path = Path(self.cell.environment["SGE_ROOT"], "default", "common", "accounting")
        lines = path.read_text().splitlines() if path.exists() else []
        return [_completed(line.split(":")) for line in lines if not line.startswith("#")]


def _completed(fields: list[str]) -> Completed:
    task = "" if fields[_TASK] == "0" else f"_{fields[_TASK]}"
    started = fields[_START] not in ("0", "")
    return Completed(fields[_NUMBER] + task, fields[_NAME], f"failed {fields[_FAILED]}", started)


def _element(text: str, name: str) -> str:
    found = re.search(f"<{name}>(.*?)</{name}>", text)
    assert found is not None, text
    return found[1]
