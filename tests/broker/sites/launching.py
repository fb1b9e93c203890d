"""A broker that starts MPI jobs over several sites."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running import RunningBroker
from tests.testbed.mpi import installed


@contextmanager
def launching_broker(state_dir: Path, address: str, more: str = "") -> Iterator[RunningBroker]:
    """One that finds MPICH, on a machine of which one processor is its own; `address`: what launchers are
    called at; `more`: lines of its settings."""
    state_dir.mkdir(mode=0o700)
    mpiexec = installed("mpich").prefix / "bin/mpiexec"
    lines = f'mpiexec = "{mpiexec}"\nlauncher_address = "{address}"\ncpus = 1\n{more}'
    (state_dir / "broker.toml").write_text(lines)
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        yield broker
    finally:
        broker.close()
