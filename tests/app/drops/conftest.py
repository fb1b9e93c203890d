"""A desk before a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from broker_core.client.connect import connect
from tests.app.bench_context import BenchContext


@pytest.fixture
def context(broker: Path, loop: asyncio.AbstractEventLoop, qapp: QApplication) -> Iterator[BenchContext]:
    """A desk whose client talks to a running broker."""
    client = loop.run_until_complete(connect(broker))
    yield BenchContext(qapp, client)
    loop.run_until_complete(client.aclose())
