"""The user's keyring: what is asked of one that is locked comes to an end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from broker_core.client import keyring_access
from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.client.keyring_access import KeyringAccess
from broker_core.errors import CrossDeskError


class Locked(KeyringBackend):
    """A keyring that waits for somebody to unlock it: a stand-in, since real ones ask in a window."""

    priority = -1  # never chosen by itself

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.gate.wait(60)
        return "late"

    def set_password(self, service: str, username: str, password: str) -> None:
        self.gate.wait(60)


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Locked]:
    before, made = keyring.get_keyring(), Locked()
    keyring.set_keyring(made)
    monkeypatch.setattr(keyring_access, "PATIENCE", 0.05)
    yield made
    made.gate.set()
    keyring.set_keyring(before)


async def test_a_keyring_that_nobody_unlocks_holds_up_no_question(locked: Locked) -> None:
    assert await KeyringAccess().read("ssh:far") == ""
    assert "nobody unlocked" in await KeyringAccess().write("ssh:far", "sesame")


async def test_a_console_whose_key_is_in_a_locked_keyring_says_so(
    locked: Locked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(Locked, "priority", 2)
    with pytest.raises(CrossDeskError, match="nobody unlocked") as told:
        await open_session(BrokerClient(tmp_path), "job")
    assert "Unlock the keyring" in told.value.remedy
