"""Settings of the local site."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """How the local site treats its jobs; durations in seconds, sizes in bytes."""

    file_limit: int = 4 * 1024**3
    """Size that one file of a job may grow to; 0: no limit."""
    kill_grace: float = 5.0
    """Time between asking a job's processes to end and ending them."""
    guard_interval: float = 1.0
    """How often the output of running jobs is compared with the limit."""
    retry_interval: float = 0.5
    """Pause before a start is tried again for which the machine had no processes or memory left."""
    shell: str = "/bin/sh"
    """POSIX shell that runs the Job Starter."""
    lasting: bool = True
    """Where many jobs wait, starters last and run one after the other, one for each processor."""
    nice: int = 0
    """By how much nicer jobs that nobody talks to are: who works at this machine goes first."""
