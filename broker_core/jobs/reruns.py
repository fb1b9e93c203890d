"""Which job repeats which: the last of each chain of reruns stands for its member of a batch. Pure."""

from __future__ import annotations

from collections.abc import Sequence


class RerunChains:
    """Links of jobs to those that repeat them, in whatever order they become known."""

    def __init__(self) -> None:
        self.later: dict[str, str] = {}
        """Job to the one that repeats it, whether the first is there or not."""
        self._before: dict[str, str] = {}

    def add(self, job: str, rerun_of: str) -> None:
        """Know a job; `rerun_of`: the one that it repeats, empty for none."""
        if rerun_of:
            self.later[rerun_of], self._before[job] = job, rerun_of

    def remove(self, job: str) -> tuple[str, str]:
        """Forget a job that was removed; the chain closes behind it.

        Returns the job that it repeated and the one that repeats it, each empty if there is none. The later
        one repeats the earlier one from now on; without a later one, the earlier stands for its member again.
        """
        before, after = self._before.pop(job, ""), self.later.get(job, "")
        if before and self.later.get(before) == job:
            del self.later[before]
        if before and after:
            del self.later[job]
            self.add(after, before)
        return before, after


def latest_members(ids: Sequence[str], reruns: Sequence[str]) -> list[int]:
    """Numbers of the rows that no other row repeats, in their order.

    `ids` and `reruns`: two columns of the same rows, `id` and `rerun_of`. Of the rows of a batch these are
    its members as they stand now: its totals stay the same however often some of them are run again.
    """
    chains = RerunChains()
    for job, rerun_of in zip(ids, reruns, strict=True):
        chains.add(job, rerun_of)
    return [number for number, job in enumerate(ids) if job not in chains.later]
