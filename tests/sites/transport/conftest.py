"""One SSH server for all tests that leave it as it is, and a user for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sites.transport.ssh_user import SshUser
from tests.testbed.sshd import Sshd


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A running server that no test stops or changes."""
    sshd = Sshd(tmp_path_factory.mktemp("sshd") / "server").start()
    yield sshd
    sshd.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Callable[..., Sshd]]:
    """Makes servers that belong to the test."""
    made: list[Sshd] = []

    def make(**settings: Any) -> Sshd:
        made.append(Sshd(tmp_path / f"server{len(made)}", **settings).start())
        return made[-1]

    yield make
    for sshd in made:
        sshd.close()


@pytest.fixture
async def user(tmp_path: Path) -> AsyncIterator[SshUser]:
    """A user with SSH files of their own, who knows no server yet."""
    someone = SshUser(tmp_path / "user")
    yield someone
    await someone.close()
