"""A folder of launchers of one's own, signed as an authority does it, and a program that they join."""

from __future__ import annotations

import subprocess
from pathlib import Path

FARM = '''
"""Every component learns from the first one what it is to do."""

from broker_core.launching.application_launcher import ApplicationLauncher


class Launcher(ApplicationLauncher):
    async def submit(self):
        roles = ["master"] + ["worker"] * (len(self.cpus) - 1)
        made = await super().submit()
        return [{**one, "FARM_ROLE": role} for one, role in zip(made, roles)]

    async def synchronize(self):
        await self.all_called()
        await self.released.wait()
        self.contacts.go(self.contacts.greetings[0])
'''
CALLER = """
import os, socket, sys
host, port, index, secret = os.environ["CROSSDESK_CONTACT"].split()
call = socket.create_connection((host, int(port)))
call.sendall(f"{index} {secret} {sys.argv[1]}\\n".encode())
said = call.makefile().readline().strip()
print(os.environ["FARM_ROLE"], os.environ.get("CROSSDESK_COMPONENT", index), said, flush=True)
sys.exit(said != "go " + sys.argv[2])
"""
"""`CALLER WORDS EXPECTED`: calls its launcher with words and checks what the answer brings."""


class LauncherFolders:
    """Authorities with keys, and the folder that trusts one of them."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "installed"
        self.folder.mkdir(parents=True)
        self._root = root
        line = f'farm,other* namespaces="crossdesk-launcher" {self._key("trusted")}\n'
        (self.folder / "allowed_signers").write_text(line)

    def install(
        self, name: str, text: str = FARM, by: str = "trusted", namespace: str = "crossdesk-launcher"
    ) -> Path:
        """Put a launcher there, signed by a key for a purpose; returns its file."""
        made = self.folder / f"{name}.py"
        made.write_text(text)
        self._key(by)
        words = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(self._root / by), str(made)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        return made

    def _key(self, name: str) -> str:
        """The public key of an authority."""
        private = self._root / name
        if not private.exists():
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(private)]
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
        return (self._root / f"{name}.pub").read_text().strip()
