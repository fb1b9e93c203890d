"""Which job repeats which: the last of each chain of reruns stands for its member of a batch. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence


class RerunChains:
    """Links of jobs to those that repeat them, in whatever order they become known."""

    def __init__(self) -> None:
        self.later: dict[str, str] = {}
        """Job to the one that repeats it, whether the first is there or not."""
        self._before: dict[str, str] = {}

    def add(self, job: str, rerun_of: str) -> None:
        """Know a job; `rerun_of`: the one that it repeats, empty for none.

        One that is known stays where it is: who tells of it again may not know yet that its chain was closed.
        """
        if rerun_of and job not in self._before:
            self.later[rerun_of], self._before[job] = job, rerun_of

    def earlier(self, job: str) -> Iterator[str]:
        """The jobs that a job repeats, one after the other, whether they are there or not."""
        while before := self._before.get(job):
            yield before
            job = before

    def remove(self, job: str) -> tuple[str, str]:
        """Forget a job that was removed; the chain closes behind it.

        Returns the job that it repeated and the one that repeats it, each empty if there is none. The later
        one repeats the earlier one from now on; without a later one, the earlier stands for its member again.
        """
        before, after = self._before.pop(job, ""), self.later.get(job, "")
        if before and self.later.get(before) == job:
            del self.later[before]
        if before and after:
            del self.later[job], self._before[after]
            self.add(after, before)
        return before, after


def latest_runs(
    numbers: Iterable[int], ids: Sequence[str], batches: Sequence[str], later: Container[str]
) -> list[int]:
    """Those rows that stand for jobs wherever jobs are counted: within a batch the last run of each member.

    `ids` and `batches`: columns of all rows; `later`: the jobs that were run again. What belongs to no batch
    has no member to stand for: each of its runs is a job of its own.
    """
    return [number for number in numbers if not (batches[number] and ids[number] in later)]


def latest_members(ids: Sequence[str], reruns: Sequence[str], batches: Sequence[str]) -> list[int]:
    """Numbers of the rows that stand for jobs, in their order; which ones these are says `latest_runs`.

    `ids`, `reruns` and `batches`: three columns of the same rows, `id`, `rerun_of` and `batch`. The totals of
    a batch stay the same however often some of its members are run again.
    """
    return latest_runs(range(len(ids)), ids, batches, set(reruns))
