"""The agent that brings its own interpreter: how large it is, and how soon it is at work on a node."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from broker_core.worker.agent_settings import LINES, VARIABLE, AgentSettings
from tests.benchmarks.figure import Figure
from tests.packaging.agent_build import cached_build

_STARTS = 20
_FIRST = 0.3
"""Seconds until the user's program runs."""
_PATIENCE = 30.0
"""Seconds after which a start has failed."""


def measure() -> list[Figure]:
    """Build it with what is in the cache, and start it beside the agent of this environment."""
    with tempfile.TemporaryDirectory() as base:
        files = cached_build(Path(base, "first"))
        begin = time.monotonic()
        files.build()
        built = time.monotonic() - begin
        own = [_start(Path(base, f"own{turn}"), [str(files.agent)]) for turn in range(_STARTS)]
        size = files.agent.stat().st_size / 1e6
        module = [sys.executable, "-I", "-m", "broker_core.worker.start"]
        other = [_start(Path(base, f"other{turn}"), module) for turn in range(_STARTS)]
    figures = [
        Figure(f"size of {files.agent.name}", round(size, 1), "MB"),
        Figure("build, all fetched", round(built, 1), "s", at_most=120),
    ]
    for who, starts in (("agent file", own), ("agent of this environment", other)):
        bound = {"at_most": _FIRST * 1000} if starts is own else {}
        program, call = (round(1000 * median(times), 1) for times in zip(*starts, strict=True))
        figures.append(Figure(f"{who}: start to the user's program", program, "ms", **bound))
        figures.append(Figure(f"{who}: start to the first call", call, "ms"))
    return figures


def _start(folder: Path, program: Sequence[str]) -> tuple[float, float]:
    """Seconds until the user's program runs, and until the agent calls where desks are met."""
    job = folder / "job"
    job.mkdir(parents=True)
    os.mkfifo(job / "begun")
    fifo = os.open(job / "begun", os.O_RDONLY | os.O_NONBLOCK)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(_PATIENCE)
        places = (server.getsockname()[:2],)
        settings = AgentSettings(token="x" * 40, places=places, keys=(), mode=LINES)
        begin = time.monotonic()
        with subprocess.Popen(
            [*program, "/bin/sh", "-c", "echo >begun; exec cat"],
            cwd=job,
            env={**os.environ, VARIABLE: settings.text()},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as agent:
            select.select([fifo], [], [], _PATIENCE)
            begun = time.monotonic() - begin
            server.accept()[0].close()
            called = time.monotonic() - begin
            agent.kill()  # the program's input ends with it
    os.close(fifo)
    return begun, called
