"""Ordinary accounts of this machine for tests; made once, and left for the next ones."""

from __future__ import annotations

import fcntl
import pwd
import subprocess
from pathlib import Path

ORDINARY = "griduser"
"""The account that owns jobs where a test does not need another."""


def account(name: str = ORDINARY, *, shell: str = "/bin/sh", password: str = "") -> Path:
    """Make an account with this login shell if it is missing; returns its home directory.

    Without a password it can be entered by key only. Needs root.
    """
    with Path("/tmp/crossdesk-accounts.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "--create-home", "--shell", shell, name], check=True)
            # sshd takes a new account for a locked one, because it has no password.
            subprocess.run(["usermod", "--password", _hash(password), name], check=True)
            entry = pwd.getpwnam(name)
        if entry.pw_shell != shell:
            subprocess.run(["usermod", "--shell", shell, name], check=True)
    return Path(entry.pw_dir)


def _hash(password: str) -> str:
    if not password:
        return "*"
    words = ["openssl", "passwd", "-6", "-stdin"]
    return subprocess.run(words, input=password, capture_output=True, check=True, text=True).stdout.strip()
