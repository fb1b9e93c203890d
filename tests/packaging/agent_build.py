"""A build of the agent with its own interpreter."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.sources import ROOT

AGENT, DISPLAY = "crossdesk-agent-x86_64-linux", "crossdesk-agent-display-x86_64-linux"


@dataclass(frozen=True)
class AgentFiles:
    """What a build gave, and the cache that it was made from."""

    folder: Path
    cache: Path

    @property
    def agent(self) -> Path:
        return self.folder / AGENT

    @property
    def display(self) -> Path:
        return self.folder / DISPLAY

    def build(self) -> AgentFiles:
        """As people do it."""
        environment = {**os.environ, "CROSSDESK_AGENT_CACHE": str(self.cache)}
        words = ["sh", str(ROOT / "packaging" / "agent.sh"), str(self.folder)]
        told = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stdout + told.stderr
        return self
