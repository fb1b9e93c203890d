"""The user's keyring: what is asked of one that is locked comes to an end."""

from __future__ import annotations

import threading

import keyring
import pytest
from keyring.backend import KeyringBackend

from broker_core.client import keyring_access
from broker_core.client.keyring_access import KeyringAccess


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


async def test_a_keyring_that_nobody_unlocks_holds_up_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    before, locked = keyring.get_keyring(), Locked()
    keyring.set_keyring(locked)
    monkeypatch.setattr(keyring_access, "PATIENCE", 0.05)
    try:
        assert await KeyringAccess().read("ssh:far") == ""
        assert "nobody unlocked" in await KeyringAccess().write("ssh:far", "sesame")
    finally:
        locked.gate.set()
        keyring.set_keyring(before)
