"""Which attempt a job in a batch system's list is, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from broker_core.sites.adapter import AttemptStatus, Sighting
from broker_core.sites.batch.system import Listed

_TITLE = 40
"""Characters of a title."""
NOBODY = "-"
"""Stands in an array's list for a task that has nothing to do."""


def title_of(names: Iterable[str], mark: str) -> str:
    """What users call some jobs that are handed over together, as batch systems take it; empty: nothing.

    It begins with a letter and has no dot, so that the broker's own name behind it is found again.
    """
    common = _beginning([*names])
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", common).strip("-_").lstrip("-_0123456789")[:_TITLE].rstrip("-_")
    return "" if plain == mark else plain


def _beginning(names: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(names, default=""), max(names, default="")
    differs = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differs, len(first))]


def bears(name: str, mark: str) -> bool:
    """True for the name of a batch job that was handed over under a mark."""
    return name.startswith(f"{mark}.") or name.partition(".")[2].startswith(f"{mark}.")


class JobNames:
    """Groups (single attempts and arrays) that this broker handed over, their members and ids.

    Batch jobs are called `mark.group`, with the user's name for them and a dot before it where the batch
    system shows names to people; the group of a single attempt is its tag.
    """

    def __init__(self, mark: str, first_task: int) -> None:
        self._mark, self._prefix = mark, f"{mark}."
        self._first = first_task
        self._lists: dict[str, Sequence[str]] = {}
        self._ids: dict[str, str] = {}
        self._seen: set[str] = set()
        """Tags that the last list had, or that were handed over since."""
        self._taken: set[str] = set()
        """Ids of all jobs in the last list: batch systems may give one again."""
        self._arrays: dict[str, str] = {}
        """Tag of an array's task to its group."""

    def is_mine(self, name: str) -> bool:
        """True for a batch job of this broker."""
        return bears(name, self._mark)

    def group_of(self, name: str) -> str:
        """Group of a batch job's name."""
        return self._whole(name).removeprefix(self._prefix)

    def _whole(self, name: str) -> str:
        """A batch job's name without what the user calls it, which has no dot."""
        _, _, rest = name.partition(".")
        return rest if rest.startswith(self._prefix) and not name.startswith(self._prefix) else name

    def id(self, tag: str) -> str:
        """The batch system's id of an attempt; empty while it is not known, and if another job has it now."""
        id = self._ids.get(tag, "")
        return id if tag in self._seen or id not in self._taken else ""

    def mine(self, listed: Sequence[Listed]) -> list[Listed]:
        """This broker's of all jobs in a list."""
        self._taken = {one.id for one in listed}
        return [one for one in listed if self.is_mine(one.name)]

    def members(self, group: str) -> list[str]:
        """Attempts of a group."""
        return [tag for tag in self._lists.get(group, (group,)) if tag != NOBODY]

    def is_unknown(self, group: str) -> bool:
        """True for an array whose list has to be asked for."""
        return group not in self._lists and "." not in group

    def unknown_groups(self, listed: Iterable[Listed]) -> list[str]:
        """Arrays in the batch system's list that are not known here, e.g. after a restart."""
        groups = {self.group_of(one.name) for one in listed if one.task is not None}
        return [group for group in groups if self.is_unknown(group)]

    def learn_lists(self, lists: Mapping[str, Sequence[str]]) -> None:
        """Remember the members of groups, in the order of their tasks."""
        for group, tags in lists.items():
            if len(tags) > 1 or group not in tags:
                self._lists[group] = tuple(tags)
                self._arrays |= dict.fromkeys(tags, group)

    def took(self, group: str, job: str, tags: Sequence[str]) -> str:
        """The batch system has a group as `job`; returns the id of the (last) attempt of `tags`."""
        self._seen.update(tags)
        for tag in tags:
            self._ids[tag] = job
            if group in self._lists and job:
                place = self._lists[group].index(tag) if tag in self._lists[group] else 0
                self._ids[tag] = f"{job}_{place + self._first}"
        return self._ids[tags[-1]]

    def sightings(self, listed: Iterable[Listed]) -> dict[str, Sighting]:
        """Attempt to what the list says of it; its jobs that stand for none get names of their own."""
        found: dict[str, Sighting] = {}
        for one in listed:
            tag = self._tag(one)
            if tag in found and self._is_better(found[tag], one, tag):
                tag, found[f"double.{found[tag].id}"] = tag, found[tag]
                self._ids[f"double.{found[tag].id}"] = found[tag].id
            elif tag in found:
                tag = f"double.{one.id}"
            found[tag] = Sighting(one.seen, one.id, one.reason, one.node, hopeless=one.hopeless)
        self._ids |= {tag: sighting.id for tag, sighting in found.items()}
        self._seen = set(found)
        return found

    def whole_ids(self, tags: Iterable[str]) -> list[str]:
        """Ids of attempts; that of an array where all its attempts are meant."""
        wanted = {tag for tag in tags if self.id(tag)}
        ids = []
        for group in {self._arrays[tag] for tag in wanted if tag in self._arrays}:
            members = set(self.members(group))
            if members <= wanted:
                ids.append(self.job_id(self.id(next(iter(members)))))
                wanted -= members
        return [*ids, *(self.id(tag) for tag in sorted(wanted))]

    def forget(self, tags: Iterable[str]) -> None:
        """The attempts are over and removed."""
        for tag in tags:
            self._ids.pop(tag, None)
            group = self._arrays.pop(tag, "")
            if group and not any(member in self._arrays for member in self.members(group)):
                self._lists.pop(group, None)

    @staticmethod
    def job_id(id: str) -> str:
        """Id of the whole array of a task."""
        return id.partition("_")[0]

    def _tag(self, one: Listed) -> str:
        group = self.group_of(one.name)
        tags = self._lists.get(group)
        if tags is None or one.task is None:
            return group
        place = one.task - self._first
        tag = tags[place] if 0 <= place < len(tags) else NOBODY
        return f"{group}.{place}" if tag == NOBODY else tag

    def _is_better(self, seen: Sighting, other: Listed, tag: str) -> bool:
        """Of two jobs for one attempt: the one that was handed over, else the one that has come further."""
        if known := self.id(tag):
            return other.id == known
        return seen.seen is not AttemptStatus.RUNNING and other.seen is AttemptStatus.RUNNING
