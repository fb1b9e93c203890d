"""The agent with its own interpreter, built once for all tests of it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.packaging.agent_build import AgentFiles


@pytest.fixture(scope="session")
def agent_files(tmp_path_factory: pytest.TempPathFactory) -> AgentFiles:
    """Built by the first process of the tests that wants it; the cache stays for later runs."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    cache = os.environ.get("CROSSDESK_AGENT_CACHE") or Path.home() / ".cache" / "crossdesk" / "agent-build"
    files = AgentFiles(base / "agent", Path(cache))
    with open(base / "agent.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return files if files.agent.exists() else files.build()
