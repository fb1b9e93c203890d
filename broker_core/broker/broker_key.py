"""The broker's own key pair: agents that it started take its word for whom to let in."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class BrokerKey:
    """Kept in one file, which nobody else may read; made when first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key: Ed25519PrivateKey | None = None

    @property
    def public(self) -> str:
        """The public part as one line of OpenSSH."""
        form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        return self._pair().public_key().public_bytes(*form).decode()

    @property
    def private(self) -> bytes:
        """The private part, as OpenSSH writes it."""
        return self._pair().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        )

    def _pair(self) -> Ed25519PrivateKey:
        if self._key is None:
            self._key = self._read() or self._made()
        return self._key

    def _read(self) -> Ed25519PrivateKey | None:
        try:
            return Ed25519PrivateKey.from_private_bytes(self._path.read_bytes())
        except FileNotFoundError:
            return None

    def _made(self) -> Ed25519PrivateKey:
        made = Ed25519PrivateKey.generate()
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(made.private_bytes_raw())
        fresh.replace(self._path)
        return made
