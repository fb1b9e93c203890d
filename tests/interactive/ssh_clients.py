"""OpenSSH's own programs with a running job, as `crossdesk job ssh-config` tells them how to reach it."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.command_line.calling import crossdesk

LONG = 120


@dataclass(frozen=True)
class SshClients:
    """One job's configuration."""

    host: str
    file: Path

    @classmethod
    def of(cls, job: str) -> SshClients:
        told = crossdesk("job", "ssh-config", "--json", job)
        assert told.code == 0, told.err
        return cls(told.json["host"], Path(told.json["file"]))

    def words(self, *given: str, program: str = "ssh") -> list[str]:
        """A call of a program of OpenSSH; HOST stands for the job."""
        return [program, "-F", str(self.file), *(one.replace("HOST", self.host) for one in given)]

    def run(self, *given: str, program: str = "ssh", text: str | None = None) -> str:
        """What such a call prints; it must end well."""
        return self.done(*self.words(*given, program=program), text=text)

    def synced(self, source: str, target: str) -> str:
        """What rsync prints."""
        ends = [one.replace("HOST", self.host) for one in (source, target)]
        return self.done("rsync", "-a", "-e", f"ssh -F {self.file}", *ends)

    @staticmethod
    def done(*words: str, text: str | None = None) -> str:
        fed = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
        told = subprocess.run(words, capture_output=True, text=True, timeout=LONG, check=False, **fed)
        assert told.returncode == 0, (told.returncode, told.stdout, told.stderr)
        return told.stdout

    async def begun(self, *given: str) -> asyncio.subprocess.Process:
        """A call of ssh that goes on, with pipes."""
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(*self.words(*given), stdin=pipe, stdout=pipe)
