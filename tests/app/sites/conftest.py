"""A whole window before sites that are written down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail
from PySide6.QtWidgets import QApplication

from app.stores.link import ConnectionState
from tests.app.sites.made_up import SitesBroker
from tests.app.windows import Stage, play, turns

Scene = Callable[[Stage, SitesBroker], Awaitable[None]]
Act = Callable[[SitesBroker, Scene], None]


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    """As on a machine without one, whatever ran here before; tests of a keyring bring their own."""
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def act(qapp: QApplication, state_dir: Path) -> Act:
    """Run a scene in a window that is linked to this broker."""

    def run(broker: SitesBroker, scene: Scene) -> None:
        async def scenario(on: Stage) -> None:
            on.context.session.client = broker
            on.context.link.set(ConnectionState.CONNECTED)
            await turns(5)
            await scene(on, broker)

        play(qapp, state_dir, scenario, connect=False)

    return run
