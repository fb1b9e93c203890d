"""One bench for each test: a relay, and room for an agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.interactive.pair import Bench, bench


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as bench_made:
        yield bench_made
