"""Sites and their places on the map; those that lie together stand together. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.resources.countries import place_of

CELL = 52
"""Pixels of a square within which sites stand together."""
_GOLDEN = 2.399963
"""Radians between two neighbours of a spiral that never lie on one ray."""


@dataclass(frozen=True, slots=True)
class MapMarker:
    """One site on the map."""

    site: str
    country: str
    latitude: float
    longitude: float
    total: int
    free: int
    elements: int

    sites: int = 1
    """How many sites stand for one that is too near to others to be told apart."""

    @property
    def radius(self) -> float:
        """Pixels: the area grows with the CPUs, within limits."""
        return max(4.0, min(0.42 * CELL, math.sqrt(self.total) / 1.8))


def gathered(markers: Sequence[MapMarker], degrees: float) -> list[MapMarker]:
    """Put sites that lie in one square of the map together, at the middle of their CPUs."""
    cells: dict[tuple[int, int], list[MapMarker]] = {}
    for marker in markers:
        cells.setdefault((int(marker.latitude // degrees), int(marker.longitude // degrees)), []).append(
            marker
        )
    return sorted((_together(those) for those in cells.values()), key=lambda marker: -marker.total)


def _together(those: list[MapMarker]) -> MapMarker:
    first = those[0]
    if len(those) == 1:
        return first
    weight = sum(marker.total for marker in those) or len(those)
    north, east = (
        sum(getattr(marker, name) * (marker.total or weight / len(those)) for marker in those) / weight
        for name in ("latitude", "longitude")
    )
    countries = {marker.country for marker in those}
    return MapMarker(
        first.site, first.country if len(countries) == 1 else "", north, east, weight,
        sum(marker.free for marker in those), sum(marker.elements for marker in those), len(those),
    )  # fmt: skip


def markers(held: Mapping[str, Sequence[Any]], rows: Sequence[int]) -> tuple[list[MapMarker], int]:
    """Gather resources by site; those without coordinates stand around the place of their country.

    Returns also the number of sites whose place is not known at all.
    """
    sites: dict[str, list[int]] = {}
    for row in rows:
        sites.setdefault(held["site"][row] or held["ce"][row], []).append(row)
    found, lost, around = [], 0, dict[str, int]()
    for site, those in sites.items():
        row = those[0]
        country = held["country"][row] or ""
        place = _place(held, row, country, around)
        if place is None:
            lost += 1
            continue
        total = sum(held["total_cpus"][one] or 0 for one in those)
        free = sum(held["free_cpus"][one] or 0 for one in those)
        found.append(MapMarker(site, country, *place, total, min(free, total), len(those)))
    return sorted(found, key=lambda marker: -marker.total), lost


def _place(
    held: Mapping[str, Sequence[Any]], row: int, country: str, around: dict[str, int]
) -> tuple[float, float] | None:
    north, east = held["latitude"][row], held["longitude"][row]
    if north is not None and east is not None:
        return float(north), float(east)
    middle = place_of(country)
    if middle is None:
        return None
    number = around[country] = around.get(country, -1) + 1
    distance = 0.35 * math.sqrt(number)  # a spiral keeps them apart however many they are
    return (
        middle[0] + distance * math.sin(number * _GOLDEN),
        middle[1] + distance * math.cos(number * _GOLDEN),
    )
