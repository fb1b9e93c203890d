"""What tests of launchers share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.scheduling.coallocation.messages import EndLauncher
from tests.launching.attempt import Job
from tests.waiting import eventually


@pytest.fixture
async def job(tmp_path: Path) -> AsyncIterator[Job]:
    made = Job(tmp_path)
    yield made
    for part in made.parts:
        if part.returncode is None:
            part.kill()
        await part.wait()
    made.launchers.end(EndLauncher("j", 1))
    await made.launchers.close()
    await eventually(lambda: made.folder.processes() == [], what="no process of the launcher is left")
