"""A build of the agent with its own interpreter."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from broker_core.launching.overlay_library import BUILT_LIBRARY
from tests.packaging.sources import ROOT

AGENT = "crossdesk-agent-x86_64-linux"
PARTS = ("broker_core", "packaging")
"""Folders of the project that a build reads."""


@dataclass(frozen=True)
class AgentFiles:
    """What a build of a copy of the sources gave, and the cache that it was made from."""

    folder: Path
    cache: Path

    @property
    def agent(self) -> Path:
        return self.folder / AGENT

    @property
    def library(self) -> Path:
        """For nodes without network namespaces."""
        return self.folder / BUILT_LIBRARY

    @property
    def sources(self) -> Path:
        return self.folder / "sources"

    def build(self, sources: Path = ROOT) -> AgentFiles:
        """As people do it."""
        for name in PARTS:
            unwanted = shutil.ignore_patterns("__pycache__")
            shutil.copytree(sources / name, self.sources / name, ignore=unwanted, dirs_exist_ok=True)
        environment = {**os.environ, "CROSSDESK_AGENT_CACHE": str(self.cache), "CROSSDESK_VENV": sys.prefix}
        words = ["sh", str(self.sources / "packaging" / "agent.sh"), str(self.folder)]
        told = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stdout + told.stderr
        return self


def cached_build(folder: Path) -> AgentFiles:
    """A build with what is in the cache of the one who runs this, where benchmarks have another home."""
    cache = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "crossdesk", "agent-build")
    return AgentFiles(folder, cache).build()
