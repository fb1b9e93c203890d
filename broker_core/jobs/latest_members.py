"""Which jobs count where some were run again: of each chain of reruns the last one. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def latest_members(ids: Sequence[str], reruns: Sequence[str]) -> list[int]:
    """Numbers of the rows that no other row repeats, in their order.

    `ids` and `reruns`: two columns of the same rows, `id` and `rerun_of`. Of the rows of a batch these are
    its members as they stand now: its totals stay the same however often some of them are run again.
    """
    repeated = set(reruns)
    return [number for number, job in enumerate(ids) if job not in repeated]
