"""A real ssh-agent with a socket of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.waiting import wait_until


class SshAgent:
    """One agent, begun empty; the package openssh-client of Debian has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.socket = folder / "agent"
        words = ["setpriv", "--pdeathsig", "KILL", "--", "ssh-agent", "-D", "-a", str(self.socket)]
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        wait_until(self.socket.is_socket, what="the agent listens")

    def add(self, key: Path, passphrase: str) -> None:
        """Unlock a key and hold it."""
        ask = self._folder / "ask"
        ask.write_text(f"#!/bin/sh\necho '{passphrase}'\n")
        ask.chmod(0o700)
        told = {"SSH_AUTH_SOCK": str(self.socket), "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
        words = ["ssh-add", "-q", str(key)]
        subprocess.run(words, env=os.environ | told, check=True, stdin=subprocess.DEVNULL, timeout=60)

    def close(self) -> None:
        """End it; its keys are gone."""
        self._process.terminate()
        self._process.wait(60)
