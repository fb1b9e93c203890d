"""A local site for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.sites.running_site import RunningSite


@pytest.fixture(params=["a starter each", "lasting starters"])
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RunningSite]:
    """A started site with two processors."""
    site = RunningSite(tmp_path / "site", lasting=request.param == "lasting starters")
    await site.start()
    yield site
    await site.close()
