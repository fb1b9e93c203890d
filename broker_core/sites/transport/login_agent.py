"""The ssh-agent of the user's latest login: the broker outlives the login that started it, and its agent."""

from __future__ import annotations

import os
import stat

VARIABLE = "SSH_AUTH_SOCK"


def use_agent(path: str) -> None:
    """Ask the agent behind a socket from now on, unless the SSH configuration names another one.

    What is no socket of this account is left aside. Kept in the environment, where the commands of the SSH
    configuration look for it too.
    """
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return
    if stat.S_ISSOCK(there.st_mode) and there.st_uid == os.geteuid():
        os.environ[VARIABLE] = path
