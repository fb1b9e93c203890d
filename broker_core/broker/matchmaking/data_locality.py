"""Computing close to the files of a job: what its description names, and where the copies are (CB-SCH-04)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.resources.closeness import close_files
from broker_core.resources.pool import Pool

PATIENCE = 1.0
"""Seconds that list-match and submissions wait for a catalogue not asked for these files before."""
Near = Mapping[str, int]
"""Computing element to the number of files with a copy close to it."""
NOTHING: Near = {}


class DataLocality:
    """Counts the files of InputData that are close to each computing element."""

    def __init__(self, memory: ReplicaMemory) -> None:
        self._memory = memory

    def known(self, description: JobDescription, pool: Pool) -> Near:
        """By what is known now; the catalogue is asked for the rest meanwhile."""
        names = _texts(description, "inputdata")
        if not names:
            return NOTHING
        return close_files(self._memory.known(names), pool.columns, _protocols(description))

    async def asked(self, descriptions: Iterable[JobDescription]) -> None:
        """Give the catalogue a moment, so that new jobs are matched with what it knows of their files."""
        names = dict.fromkeys(name for one in descriptions for name in _texts(one, "inputdata"))
        if names:
            await self._memory.found([*names], PATIENCE)


def _protocols(description: JobDescription) -> list[str]:
    return _texts(description, "dataaccessprotocol")


def _texts(description: JobDescription, name: str) -> list[str]:
    """The texts of an attribute that is a text or a list of them."""
    given = description.ad.get(name) if description.ad is not None else None
    if given is None:
        return []
    value = evaluate(given, description.ad, {})
    found = value if isinstance(value, list | tuple) else [value]
    return [one for one in found if isinstance(one, str)]
