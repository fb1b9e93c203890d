"""A broker that may be killed, with a folder for the side effects of its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.survivor import Survivor


@pytest.fixture
def survivor(state_dir: Path, isolated: Path) -> Iterator[Survivor]:
    """No broker runs yet."""
    made = Survivor(state_dir, isolated / "effects")
    yield made
    made.close()
