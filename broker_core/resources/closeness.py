"""How close computing is to storage: which elements have which files near to them (CB-SCH-04)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.resources.columns import Columns

CLOSE = (
    "gluecesebindgroupseuniqueid",
    "gluecesebindseuniqueid",
    "glueceinfodefaultse",
    "glue2computingsharedefaultstorageservice",
)
"""Lower-case names of the attributes that name storage elements close to a computing element."""
NEGOTIATED = frozenset({"", "srm"})
"""Protocols of a replica's address by which any other one is agreed on, or none is told."""
_SYNONYMS = {"gridftp": "gsiftp"}
_WORD = 64
Near = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Replica:
    """Where the copies of one file are."""

    name: str
    """`lfn:` or `guid:` name, as InputData has it."""
    copies: tuple[tuple[str, str], ...]
    """Storage element, and the protocol of the copy's address; empty if that is not told."""

    def storage(self, protocols: Collection[str] = ()) -> frozenset[str]:
        """Storage elements, in lower case, where a program that reads by these protocols finds the file.

        Without protocols (DataAccessProtocol) every copy counts.
        """
        wanted = {_protocol(one) for one in protocols}
        return frozenset(
            element.lower()
            for element, protocol in self.copies
            if not wanted or protocol.lower() in NEGOTIATED or _protocol(protocol) in wanted
        )


def storage_of(values: Mapping[str, Any]) -> frozenset[str]:
    """Storage elements close to a computing element, in lower case, from its values by lower-case name."""
    return frozenset(name for attribute in CLOSE for name in _names(values.get(attribute)))


def close_files(
    replicas: Iterable[Replica], columns: Columns, protocols: Collection[str] = ()
) -> dict[str, int]:
    """Computing element to the number of files with a copy at a storage element close to it (CB-SCH-05a).

    Elements with none are not named. A file counts once, wherever its copies are.
    """
    places = [replica.storage(protocols) for replica in replicas]
    counts = np.zeros(columns.size, np.int64)
    for start in range(0, len(places), _WORD):
        met = _met(places[start : start + _WORD], columns, columns.size)
        counts += np.bitwise_count(met).astype(np.int64)
    return {columns.ces[row]: int(counts[row]) for row in np.flatnonzero(counts)}


def near(storage: str, columns: Columns, size: int) -> Near:
    """Those of the first `size` rows that are close to a storage element (OutputSE)."""
    found: Near = _met([frozenset({storage.lower()})], columns, size) != 0
    return found


def _met(places: Sequence[frozenset[str]], columns: Columns, size: int) -> npt.NDArray[np.uint64]:
    """For each row a bit for each of at most 64 files that is close to it, by distinct values."""
    bits: dict[str, int] = {}
    for place, elements in enumerate(places):
        for element in elements:
            bits[element] = bits.get(element, 0) | 1 << place
    found = np.zeros(size, np.uint64)
    for name in CLOSE:
        column = columns.column(name)
        if column is not None and bits:
            by_code = np.fromiter((_bits(value, bits) for value in column.values), np.uint64)
            found |= by_code[column.codes(size)]
    return found


def _bits(value: Any, bits: Mapping[str, int]) -> int:
    found = 0
    for name in _names(value):
        found |= bits.get(name, 0)
    return found


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value.lower(),)
    return (
        tuple(one.lower() for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()
    )


def _protocol(name: str) -> str:
    lower = name.lower()
    return _SYNONYMS.get(lower, lower)
