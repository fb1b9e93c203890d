"""Signatures of launchers by authorities that a broker trusts, as OpenSSH makes them (CB-AL-20)."""

from __future__ import annotations

import asyncssh
from asyncssh.sshsig import SSHAllowedSigners

NAMESPACE = "crossdesk-launcher"
"""What a signature is for: `ssh-keygen -Y sign -n crossdesk-launcher -f KEY NAME.py`."""


class _Authorities(SSHAllowedSigners):
    """Trusts signatures of launchers only: what an authority signed for another purpose is none."""

    def validate(self, key: asyncssh.SSHKey, principal: str, namespace: str, ca: bool = False) -> bool:
        return namespace == NAMESPACE and super().validate(key, principal, namespace, ca)


def holds(text: bytes, signature: bytes, name: str, signers: str) -> bool:
    """True if an authority in `signers`, the text of a file of them, has signed a launcher of this name."""
    try:
        return asyncssh.validate_sshsig(text, signature, name, _Authorities(signers))
    except (ValueError, asyncssh.Error):
        return False
