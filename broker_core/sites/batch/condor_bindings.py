"""HTCondor through its Python bindings, for a schedd that is reached from this machine.

Tested against a simulated schedd with the signatures of the bindings: its daemons cannot be had as packages.
"""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Sequence

from broker_core.sites.batch.condor import Condor, dotted

_PROGRAM = (sys.executable, "-P", "-m", "broker_core.sites.batch.condor_schedd")


def installed() -> bool:
    """True if HTCondor's bindings can be imported here."""
    return importlib.util.find_spec("htcondor2") is not None


class CondorBindings(Condor):
    """See `Condor`. The bindings block, so each call is a process that ends at the exchange's deadline."""

    def __init__(self, program: Sequence[str] = _PROGRAM) -> None:
        """`program`: words that run `condor_schedd`."""
        self._program = program

    def release(self, ids: Sequence[str]) -> str:
        """`act(Release)`."""
        return self._command("release", *map(dotted, ids))

    def cancel(self, ids: Sequence[str]) -> str:
        """`act(Remove)`."""
        return self._command("remove", *map(dotted, ids))

    def status(self, mark: str) -> str:
        """`query`, and `history` for the reasons of what left the queue."""
        return self._command("status", mark)

    def queues(self) -> str:
        """Slots by the collector, jobs of all users by the schedd."""
        return self._command("queues")

    def nodes(self) -> str:
        """What the slots have, by the collector."""
        return self._command("nodes")

    def detect(self) -> str:
        """The schedd has to answer."""
        return self._command("detect")

    def _taking(self, options: Sequence[str]) -> list[str]:
        return [*self._program, "submit", *options]

    def _command(self, *words: str) -> str:
        return shlex.join([*self._program, *words])
