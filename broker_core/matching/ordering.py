"""The order in which candidates are tried unless a policy says otherwise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from broker_core.jdl.syntax.tree import Ad, Literal
from broker_core.matching.sorting import sorted_by

Counts = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
BUSY = 1 << 33
"""Where CPUs are too few comes after every surplus."""
_SHARE = 10
_MOST = 1 << 22
SPREAD = 0.1
"""`fuzzy_factor` where the job names none."""


def best_fit(
    free: Counts,
    total: Counts,
    waiting: Counts,
    rank: Reals,
    close: Counts | None,
    cpus: int,
    max_site_queue: int,
) -> npt.NDArray[np.intp]:
    """Positions, best first (CB-SCH-04, CB-SCH-05a): no overloaded queue, most InputData files close by,
    high rank, enough free CPUs, small surplus, or a short way to enough; what is equal keeps its order.
    """
    if not len(free):
        return np.zeros(0, np.intp)
    surplus = free - cpus
    too_few = surplus < 0
    keys = [
        -rank,
        np.where(too_few, BUSY + load(surplus, waiting, total), surplus) if too_few.any() else surplus,
    ]
    unranked = np.isnan(rank)
    if unranked.any():
        keys = [unranked, np.where(unranked, 0.0, -rank), *keys[1:]]
    if close is not None:
        keys.insert(0, -close)
    overloaded = waiting > max_site_queue
    if overloaded.any():
        keys.insert(0, overloaded)
    return sorted_by(keys)


def load(surplus: Counts, waiting: Counts, total: Counts) -> Counts:
    """How much is to end before a job starts where CPUs are too few: those that lack and the jobs that wait
    before it, as a share of all CPUs, so that queues grow as fast as they are worked off. Less than BUSY.
    """
    share: Counts = (np.minimum(waiting - surplus, _MOST) << _SHARE) // np.maximum(total, 1)
    return share


def fuzzy(ad: Ad | None) -> float | None:
    """The job's `fuzzy_factor` if it asks for FuzzyRank; else None."""
    wanted = ad.get("fuzzyrank") if ad is not None else None
    if not isinstance(wanted, Literal) or wanted.value is not True or ad is None:
        return None
    factor = ad.get("fuzzy_factor")
    value = factor.value if isinstance(factor, Literal) else None
    return float(value) if isinstance(value, int | float) and value > 0 else SPREAD


def drawn(rank: Reals, factor: float, seed: int) -> Reals:
    """Ranks by lot, for FuzzyRank: sorted by them, the resources stand as if drawn one after the other
    without being put back, each time with the chance of resource i proportional to

        exp((rank_i - highest) / (factor * (highest - lowest)))

    so that all are equally likely where all ranks are equal, and a small factor keeps to the best. With u_i
    drawn evenly from (0, 1) for each position from the seed, the drawn rank is the exponent - ln(-ln(u_i)).
    Ranks are halved, so that no difference of two is out of bounds; infinite ones stay first or last.
    The same seed gives the same order; a rank that is no number stays none.
    """
    half = rank / 2
    known = half[np.isfinite(half)]
    spread = float(known.max() - known.min()) if len(known) else 0.0
    with np.errstate(all="ignore"):
        exponent = (
            (half - known.max()) / (factor * spread) if spread else np.where(np.isfinite(half), 0.0, half)
        )
    lots: Reals = exponent - np.log(-np.log(_even(len(rank), seed)))
    return lots


def _even(count: int, seed: int) -> Reals:
    """Numbers between 0 and 1, both excluded, that depend on the seed and the position alone (splitmix64)."""
    start = np.uint64(seed & (1 << 64) - 1)
    bits = start + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
