"""The ssh-agent of the user's latest login: the broker outlives the login that started it, and its agent.

It is kept here and given to SSH connections alone. In the environment every command that the broker
starts would have it, and batch systems copy that into jobs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import MutableMapping

VARIABLE = "SSH_AUTH_SOCK"


class LoginAgent:
    """Which agent SSH connections may ask, where the SSH configuration names none for the host."""

    def __init__(self) -> None:
        self._path = ""
        self._never = False

    def take(self, environment: MutableMapping[str, str], mode: str) -> None:
        """Take the agent of the login that started the broker out of the environment.

        A shared broker uses none, now or later: its sites are its own, whoever is logged in.
        """
        path = environment.pop(VARIABLE, "")
        self._never = mode == "shared"
        self.use(path)

    def use(self, path: str) -> None:
        """Ask the agent behind a socket from now on; what is no socket of this account is left aside."""
        if not self._never and _is_own_socket(path):
            self._path = path

    def forget(self) -> None:
        """Ask none."""
        self._path = ""

    @property
    def path(self) -> str:
        """Its socket; empty: there is none, it is gone with its login, or it became another account's."""
        return self._path if _is_own_socket(self._path) else ""

    @property
    def is_gone(self) -> bool:
        """True where there was one, whose login has ended."""
        return bool(self._path) and not self.path


LOGIN_AGENT = LoginAgent()
"""That of this process: it has one account, and so have its SSH keys."""


def use_agent(path: str) -> None:
    """See `LoginAgent.use`."""
    LOGIN_AGENT.use(path)


def _is_own_socket(path: str) -> bool:
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(there.st_mode) and there.st_uid == os.geteuid()
