"""A user with SSH files of their own, and the ways to sites that they open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.sites.link import Link, LinkState, Question
from broker_core.sites.transport.address import SshFiles
from broker_core.sites.transport.contract import Transport
from broker_core.sites.transport.factory import transport_for
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.wire.sites import SiteSpec
from tests.testbed.sshd import Sshd
from tests.waiting import eventually

EAGER = RetryPolicy(first=0.05, longest=0.5)
"""The product's own deadlines, which a busy machine keeps; tries follow each other soon."""
HURRY = replace(EAGER, connect=5.0, exchange=5.0, login=10.0, channel=5.0, probe=5.0, alive=1.0, silent=3)
"""Short deadlines, so that tests of what never comes take little time."""
ONCE = replace(EAGER, first=3600.0, longest=3600.0)
"""After a try that failed there is no other one for long."""


class SshUser:
    """Files as they are in `~/.ssh`, in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.config = folder / "config"
        self.config.touch()
        self.known_hosts = folder / "known_hosts"
        self._open: list[Transport] = []

    def knows(self, *servers: Sshd) -> SshUser:
        """Trust servers as they are now."""
        with self.known_hosts.open("a") as file:
            file.writelines(server.known_hosts.read_text() for server in servers)
        return self

    def write(self, *sections: str) -> SshUser:
        """Add to the configuration."""
        with self.config.open("a") as file:
            file.writelines(sections)
        return self

    async def connect(self, host: str, *, patience: RetryPolicy | None = None, **settings: Any) -> Transport:
        """Open a way to a site; it is closed with the user."""
        spec = SiteSpec(name="site", kind="shell", host=host, **settings)
        way = transport_for(
            spec, Link(lambda _link: None), files=SshFiles(self.config), patience=patience or EAGER
        )
        self._open.append(way)
        await way.open()
        return way

    async def close(self) -> None:
        """Close all that was opened."""
        for way in self._open:
            await way.close()


async def becomes(way: Transport, state: LinkState) -> Link:
    """Wait for a state of the link."""
    await eventually(lambda: way.link.state is state, what=f"the link becomes {state.value}")
    return way.link


async def asked(way: Transport, kind: str) -> Question:
    """Wait for a question."""

    def question() -> Question | None:
        open_ = way.link.question
        return open_ if open_ is not None and open_.kind == kind else None

    found: Question = await eventually(question, what=f"{kind} is asked")
    return found


async def raises(error: type[Exception], call: Awaitable[object]) -> str:
    """The words of the error that a call raises."""
    with pytest.raises(error) as caught:
        await call
    return str(caught.value)


def said(way: Transport) -> str:
    """The link's log as one text."""
    return "\n".join(words for _, words in way.link.log)


Connect = Callable[..., Awaitable[Transport]]
