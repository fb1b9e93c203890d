"""Secrets of the broker, each in a file of its own that nobody else may read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def kept_secret(path: Path, make: Callable[[], bytes]) -> bytes:
    """What is kept there, made and on disk for good before it is first used."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        made, fresh = make(), path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(made)
            file.flush()
            os.fsync(descriptor)
        fresh.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return made


class BrokerKey:
    """With which the broker names itself to agents; made when first needed."""

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
            raw = kept_secret(self._path, lambda: Ed25519PrivateKey.generate().private_bytes_raw())
            self._key = Ed25519PrivateKey.from_private_bytes(raw)
        return self._key
