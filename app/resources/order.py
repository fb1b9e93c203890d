"""Which resources are shown, and in which order: array operations that run beside the window's thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.resources.columns import NAMES, state_of
from app.resources.countries import name_of

Held = Mapping[str, Sequence[Any]]
_SLICE = 4000
_SEARCHED = ("site", "ce", "lrms", "marks", "sources", "lock_owner")


def searchable(held: Held) -> list[str]:
    """Return for each row what the filter looks through, in small letters."""
    countries = [name_of(code or "") for code in held["country"]]
    columns = [held[name] for name in _SEARCHED]
    return [
        " ".join(str(part or "") for part in row).lower() for row in zip(*columns, countries, strict=True)
    ]


def ranks(held: Held, by: str) -> np.ndarray:
    """Return for each row its rank by a column; rows with equal values share one."""
    return np.unique(_keys(held, by), return_inverse=True)[1]


def arranged(ranked: np.ndarray, texts: Sequence[str], wanted: str, descending: bool) -> list[int]:
    """Return the rows in which every word of `wanted` occurs, by their ranks; equal rows stay by name."""
    needles = wanted.lower().split()
    rows = np.arange(len(texts))
    if needles:
        found = [row for row, text in enumerate(texts) if all(needle in text for needle in needles)]
        rows = np.array(found, dtype=np.int64)
    order = np.argsort(ranked[rows], kind="stable")
    return rows[order[::-1] if descending else order].tolist()


def _keys(held: Held, by: str) -> np.ndarray:
    if by == "state":
        return _texts([state_of(held, row)[2] for row in range(len(held["ce"]))])
    if by in NAMES:
        return _texts([str(value or "").lower() for value in held[by]])
    return np.array([-1.0 if value is None else float(value) for value in held[by]])


def _texts(values: list[str]) -> np.ndarray:
    """In slices, for an array is made of texts in one step that lets no other thread go on."""
    parts = [np.array(values[start : start + _SLICE]) for start in range(0, len(values), _SLICE)]
    return np.concatenate(parts) if parts else np.zeros(0)
