"""The broker's own key pair: agents that it started take its word for whom to let in."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from broker_core.sessions.secret_file import kept_secret


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
            raw = kept_secret(self._path, lambda: Ed25519PrivateKey.generate().private_bytes_raw())
            self._key = Ed25519PrivateKey.from_private_bytes(raw)
        return self._key
