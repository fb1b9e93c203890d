"""Matching over hundreds to a hundred thousand computing elements, and the C++ ClassAd library beside it.

Warm: the description was matched before with the same columns. The library gets what a broker in Python
would give it: one ad for each resource, parsed before, and one call for Requirements and one for Rank.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import classad2
import numpy as np

from broker_core.jdl.description import JobDescription
from broker_core.jdl.syntax.write import value_text
from broker_core.matching.match import match
from broker_core.matching.report import report
from broker_core.resources.columns import Columns
from broker_core.resources.node_types import NodeType, node_attributes
from broker_core.resources.pool import Pool
from broker_core.resources.values import facts
from tests.benchmarks.figure import Figure
from tests.matching.grid_made import RANK, REQUIREMENTS, grid
from tests.matching.made import job

MANY = 100_000
_PAGE = 50
_SLICE = 250


def measure() -> list[Figure]:
    """All figures of matching."""
    before = _resident()
    pool = _pool(MANY)
    description = job(f"Requirements = {REQUIREMENTS}; Rank = {RANK};")
    match(description, pool)
    gc.collect()
    kilobytes = (_resident() - before) / MANY / 1024
    found = [Figure(f"memory with {MANY} CEs", round(kilobytes, 2), "KB/CE", at_most=4.0)]
    for count, most in ((363, 0.2), (10_000, None), (MANY, 10.0)):
        chosen = pool if count == MANY else _pool(count)
        found += _speed(description, chosen, count, most)
        if count >= 10_000:
            found.append(_ratio(description, chosen, count))
        if count == 10_000:
            found += _explained(description, chosen, count)
    return [*found, *_with_requests(pool), *_with_own_requirements(pool)]


def _with_requests(pool: Pool) -> list[Figure]:
    """GPUs, memory and an account wanted; one in three sites publishes its nodes, of a hundred kinds."""
    columns = pool.columns
    for row in range(0, pool.size, 3):
        ce, site = columns.ces[row], columns.sites[row]
        columns.put(ce, site, pool.values(row) | facts(_equipment(row % 100), ce, site))
    text = 'GPUNumber = 2; MemoryPerNode = 40000; Account = "phys";'
    description = job(f"{text} Requirements = {REQUIREMENTS}; Rank = {RANK};")
    begin = time.process_time()
    match(description, pool)
    first = (time.process_time() - begin) * 1e3
    if not match(description, pool).candidates:
        raise RuntimeError("no resource has what is wanted")
    warm = _median(lambda: match(description, pool), 30)
    changed = _median(lambda: _matched_after_a_change(description, pool), 30)
    return [
        Figure(
            f"with GPUs, memory and account, {pool.size} CEs, warm",
            round(warm, 4),
            "ms",
            at_most=10.0,
        ),
        Figure("the same after a change of an attribute", round(changed, 4), "ms"),
        Figure("the same for the first time", round(first, 1), "ms"),
    ]


def _with_own_requirements(pool: Pool) -> list[Figure]:
    """Every second computing element demands something of jobs, in twenty ways."""
    columns = pool.columns
    for row in range(1, pool.size, 2):
        ce, site = columns.ces[row], columns.sites[row]
        wanted = f"other.CpuNumber <= {row % 20 + 1} && GlueHostMainMemoryRAMSize >= 0"
        columns.put(ce, site, pool.values(row) | facts({"Requirements": wanted}, ce, site))
    description = job(f"Requirements = {REQUIREMENTS}; Rank = {RANK};")
    match(description, pool)
    warm = _median(lambda: match(description, pool), 30)
    changed = _median(lambda: _matched_after_a_change(description, pool), 30)
    return [
        Figure(
            f"with Requirements of the resources, {pool.size} CEs, warm", round(warm, 4), "ms", at_most=10.0
        ),
        Figure("the same after a change of an attribute", round(changed, 4), "ms"),
    ]


def _equipment(kind: int) -> dict[str, object]:
    types = [NodeType(8, 32, 1000 * (kind + 1), kind % 5, "a100" if kind % 2 else "v100", kind % 3)]
    accounts = ["chem", "phys"] if kind % 4 else ["chem"]
    return node_attributes(types) | {"Accounts": accounts}


def _speed(description: JobDescription, pool: Pool, count: int, most: float | None) -> list[Figure]:
    times = 300 if count < 1000 else 30
    warm = _median(lambda: match(description, pool), times)
    loose = job(f"Requirements = other.GlueCEInfoTotalCPUs > 0; Rank = {RANK};")
    match(loose, pool)
    changed = _median(lambda: _matched_after_a_change(description, pool), times)
    return [
        Figure(f"9 clauses, Rank and order, {count} CEs, warm", round(warm, 4), "ms", at_most=most),
        Figure(f"the same after a change of an attribute, {count} CEs", round(changed, 4), "ms"),
        Figure(f"1 clause, Rank and order of nearly all {count} CEs", _rounded(loose, pool), "ms"),
    ]


def _rounded(description: JobDescription, pool: Pool) -> float:
    return round(_median(lambda: match(description, pool), 20), 4)


def _matched_after_a_change(description: JobDescription, pool: Pool) -> None:
    pool.columns.version += 1
    match(description, pool)


def _ratio(description: JobDescription, pool: Pool, count: int) -> Figure:
    """How many times faster than the library, which must find the same."""
    own = classad2.ClassAd(f"[Requirements = {_spelt(REQUIREMENTS)}; Rank = {_spelt(RANK)}]")
    requirements, rank = own.lookup("Requirements"), own.lookup("Rank")
    ads = [_ad(pool, row) for row in range(count)]

    def by_library() -> list[tuple[float, int]]:
        fitting = [row for row, ad in enumerate(ads) if requirements.eval(own, ad) is True]
        return sorted((-float(rank.eval(own, ads[row])), row) for row in fitting)

    theirs = {row for _, row in by_library() if pool.value(row, "gluecestatestatus") == "Production"}
    if theirs != set(match(description, pool).candidates.rows.tolist()):
        raise RuntimeError("the library finds other resources")
    slow = _median(by_library, 3)
    fast = _median(lambda: match(description, pool), 20)
    return Figure(f"times as fast as the C++ library, {count} CEs", round(slow / fast, 1), "", at_least=50)


def _spelt(text: str) -> str:
    return text.replace("other.", "target.")


def _ad(pool: Pool, row: int) -> classad2.ClassAd:
    values = "; ".join(f"{name} = {value_text(value)}" for name, value in pool.values(row).items())
    return classad2.ClassAd(f"[{values}]")


def _explained(description: JobDescription, pool: Pool, count: int) -> list[Figure]:
    first = _median(lambda: report(match(description, pool), limit=_PAGE), 9)
    found = match(description, pool)
    slices = []
    for start in range(0, count, _SLICE):
        begin = time.perf_counter()
        for row in range(start, start + _SLICE):
            found.explain(row)
        slices.append((time.perf_counter() - begin) * 1e3)
    return [
        Figure(f"counts and {_PAGE} resources explained, {count} CEs", round(first, 2), "ms", at_most=20),
        Figure(f"all clause values in words, {count} CEs", round(sum(slices), 1), "ms", at_most=600),
        Figure(f"longest slice of {_SLICE} of them", round(max(slices), 2), "ms"),
    ]


def _median(work: Callable[[], object], times: int) -> float:
    """Milliseconds."""
    work()
    spent = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        spent.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(spent)


def _pool(count: int) -> Pool:
    """As the broker's cache has it: columns and counts, no records."""
    columns = Columns()
    counts = np.zeros((4, count), np.int64)
    for one in grid(count):
        row = columns.put(one.ce, one.site, facts(one.attributes, one.ce, one.site))
        counts[:, row] = one.total_cpus, one.free_cpus, one.running, one.waiting
    return Pool(columns, counts[0], counts[1], counts[2], counts[3])


def _resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
