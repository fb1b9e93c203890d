"""The values of one resource as a mapping, read from the columns when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from broker_core.jdl.syntax.tree import UNDEFINED
from broker_core.resources.pool import Pool


class RowValues(Mapping[str, Any]):
    """As `Pool.values`, at the price of what is read: a resource has some fifty values."""

    __slots__ = ("_pool", "_read", "_row")

    def __init__(self, pool: Pool, row: int) -> None:
        self._pool = pool
        self._row = row
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self._read:
            return self._read[name]
        found = self._pool.value(self._row, name)
        if found is UNDEFINED:
            raise KeyError(name)
        self._read[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._pool.values(self._row))

    def __len__(self) -> int:
        return len(self._pool.values(self._row))
