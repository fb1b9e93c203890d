"""The key pair of this desk: the private part in the keyring, or in a file where there is none."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import keyring
from keyring.backend import KeyringBackend
from platformdirs import user_data_dir

SERVICE, ENTRY = "crossdesk", "desk key"
SIGNATURE = 64
"""Bytes of a signature by Ed25519; SSH puts the name of the kind before it."""
USABLE = 1.0
"""Priority from which on a keyring keeps secrets for real."""


@dataclass(frozen=True, slots=True)
class DeskKeyPair:
    """The pair, and where it is kept, for people."""

    key: asyncssh.SSHKey
    kept: str
    name: str

    @property
    def public(self) -> str:
        """The public part as one line of OpenSSH."""
        return self.key.export_public_key().decode().strip()

    def signed(self, text: bytes) -> bytes:
        """The signature of a text, as Ed25519 has it."""
        blob = self.key.sign(text, self.key.algorithm)
        return blob[-SIGNATURE:]


def desk_key() -> DeskKeyPair:
    """The pair of this desk, made when first asked for. Not in a loop: the keyring may ask the user."""
    path = Path(user_data_dir("crossdesk")) / "desk_key"
    name = f"{getpass.getuser()}@{socket.gethostname()}"
    if path.exists():
        return DeskKeyPair(asyncssh.read_private_key(str(path)), f"the file {path}", name)
    ring = _keyring()
    if ring is not None:
        text = ring.get_password(SERVICE, ENTRY)
        if text:
            return DeskKeyPair(asyncssh.import_private_key(text), "the keyring", name)
    key = asyncssh.generate_private_key("ssh-ed25519", comment=name)
    if ring is not None:
        ring.set_password(SERVICE, ENTRY, key.export_private_key().decode())
        return DeskKeyPair(key, "the keyring", name)
    _write(path, key.export_private_key())
    # Another program may have been first.
    key = asyncssh.read_private_key(str(path))
    return DeskKeyPair(key, f"the file {path}, because this machine has no keyring", name)


def _keyring() -> KeyringBackend | None:
    ring = keyring.get_keyring()
    return ring if ring.priority >= USABLE else None


def _write(path: Path, text: bytes) -> None:
    """Write it whole or not at all, unless it is there; readable by the owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        os.unlink(fresh)
