"""What tests of the plug-ins get: a home and a broker of their own, as all tests of the project do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import broker, isolated, running_broker, state_dir
from tests.leaks import nothing_left
from tests.log_records import only_expected

__all__ = ["broker", "clean", "isolated", "running_broker", "state_dir"]

# Where pip would have put them: PSI/J and Snakemake look at the whole path when they are imported.
sys.path[:0] = [str(folder) for folder in Path(__file__).parent.iterdir() if folder.is_dir()]


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Fail if a test leaves a thread or child, or logs a warning."""
    with only_expected([]), nothing_left():
        yield
