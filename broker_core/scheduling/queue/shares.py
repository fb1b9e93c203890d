"""Places in the queue by which users share it: none with many jobs starves one with few (case 22).

Each job gets a moment of a virtual time, which goes on by one for each processor that its user asks for. A
user who has nothing in the queue begins where the queue is now, at the moment of the last job that was
placed. Jobs of one user so come first come first served (CB-SCH-07), and those of several take turns by the
processors that they get.
"""

from __future__ import annotations

_USERS = 1 << 20
"""Users that can have jobs of the same moment."""


class FairShares:
    """Gives out places as numbers, the smaller the earlier; no two are equal."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._next: dict[str, int] = {}
        self._now = 1

    def take(self, owner: str, cpus: int) -> int:
        """Give out the place of one job."""
        order = self.next(owner)
        self._next[owner] = order + (cpus if cpus > 1 else 1) * _USERS
        return order

    def next(self, owner: str) -> int:
        """The place of the next job of a user."""
        number = self._numbers.get(owner)
        if number is None:
            number = self._numbers[owner] = len(self._numbers) % _USERS
        now = self._now * _USERS + number
        following = self._next.get(owner, 0)
        return following if following > now else now

    def step(self, cpus: int) -> int:
        """How far behind a job of so many processors the next one of its user comes."""
        return max(1, cpus) * _USERS

    def took(self, owner: str, following: int) -> None:
        """A user's places up to one are given out."""
        self._next[owner] = following

    def assigned(self, order: int) -> None:
        """A job with this place was sent to a site: new users begin there."""
        now = order // _USERS
        if now > self._now:
            self._now = now
