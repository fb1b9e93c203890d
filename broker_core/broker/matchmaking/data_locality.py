"""Computing close to the files of a job: what its description names, and where the copies are (CB-SCH-04)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from broker_core.information.replicas.catalog import DescribedCatalogs
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.syntax.tree import Ad, ListOf
from broker_core.resources.closeness import close_files
from broker_core.resources.pool import Pool

PATIENCE = 1.0
"""Seconds that list-match and submissions wait for a catalogue not asked for these files before."""
Near = Mapping[str, int]
"""Computing element to the number of files with a copy close to it."""
NOTHING: Near = {}


class DataLocality:
    """Counts the files of InputData and DataRequirements that are close to each computing element."""

    def __init__(self, memory: ReplicaMemory, described: DescribedCatalogs) -> None:
        """`memory`: of the catalogue of the settings, asked where a description names none."""
        self._memory = memory
        self._described = described

    def known(self, description: JobDescription, pool: Pool) -> Near:
        """By what is known now; the catalogues are asked for the rest meanwhile."""
        questions = _questions(description)
        if not questions:
            return NOTHING
        found = [file for one, names in questions for file in self._of(one).known(names)]
        return close_files(found, pool.columns, _texts(description.ad, "dataaccessprotocol"))

    async def asked(self, descriptions: Iterable[JobDescription]) -> None:
        """Give the catalogues a moment, so that new jobs are matched with what they know of their files."""
        wanted: dict[str, dict[str, None]] = {}
        for description in descriptions:
            for address, names in _questions(description):
                wanted.setdefault(address, {}).update(dict.fromkeys(names))
        await asyncio.gather(*(self._of(one).found([*names], PATIENCE) for one, names in wanted.items()))

    async def close(self) -> None:
        """Stop asking the catalogues."""
        await self._memory.close()
        await self._described.close()

    def _of(self, address: str) -> ReplicaMemory:
        return self._described.memory(address) or self._memory


def _questions(description: JobDescription) -> list[tuple[str, list[str]]]:
    """Addresses of catalogues, empty for that of the settings, with the files that each is asked for."""
    ad = description.ad
    if ad is None or not {"inputdata", "datarequirements"} & ad.entries.keys():
        return []
    usual = next(iter(_texts(ad, "replicacatalog")), "")
    found = [(usual, _texts(ad, "inputdata"))]
    required = ad.get("datarequirements")
    for one in required.items if isinstance(required, ListOf) else ():
        if isinstance(one, Ad):
            address = next(iter(_texts(one, "datacatalog")), usual)
            found.append((address, _texts(one, "inputdata")))
    return [(address, names) for address, names in found if names]


def _texts(ad: Ad, name: str) -> list[str]:
    """The texts of an attribute that is a text or a list of them."""
    given = ad.get(name)
    if given is None:
        return []
    value = evaluate(given, ad, {})
    found = value if isinstance(value, list | tuple) else [value]
    return [one for one in found if isinstance(one, str)]
