"""The steps of a selection, one line each, for people and programs (SA-TST-02, SA-UI-02).

A line is `NUMBER KIND NAME=VALUE ... CE ...`: words with one blank between them, the computing elements of
the group last, with characters that would break a line into words written as in addresses (%20).

| kind | values | computing elements |
|---|---|---|
| begin | mode, need, max_ces, max_groups, suitable | |
| suitable | free, rank | the one that meets the individual requirements |
| more | suitable | so many further ones are not listed |
| matched | size, free, rank | a group with enough CPUs |
| partial | size, free, rank | a group that may become one |
| limit | trials | no more groups were looked at, though there are more |
| cut | lines | from here on only `limit` and `end` are told |
| end | groups | |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from broker_core.matching.sets.group import Counts, Group, Ranks, group_of

LINES_MAX = 10_000
"""Lines of one trace, at most."""
SUITABLE_MAX = 1000
"""Single computing elements that are listed, at most."""
_PLAIN = "/:@!$&'()*+,;[]"


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A line of a trace, read."""

    number: int
    """From 1 on, without gaps."""
    kind: str
    values: dict[str, str]
    ces: tuple[str, ...]


@dataclass(slots=True)
class SearchTrace:
    """Collects the lines of one selection; one that is not `kept` costs nothing."""

    kept: bool = True
    lines: list[str] = field(default_factory=list)
    ids: Sequence[str] = ()
    """Names of the computing elements by position; set by the search."""

    def begin(self, mode: str, need: int, max_ces: int, max_groups: int, suitable: int) -> None:
        """A selection begins."""
        limits = f"need={need} max_ces={max_ces} max_groups={max_groups}"
        self._add("begin", f"mode={mode} {limits} suitable={suitable}")

    def suitable(self, places: Sequence[int], free: Counts, rank: Ranks) -> None:
        """The computing elements to be grouped, in the order in which they are taken."""
        if self.kept:
            for place in places[:SUITABLE_MAX]:
                one = group_of((place,), free, rank)
                self._add("suitable", f"free={one.free} rank={_rank(one)}", one)
            if len(places) > SUITABLE_MAX:
                self._add("more", f"suitable={len(places) - SUITABLE_MAX}")

    def matched(self, groups: Iterable[Group]) -> None:
        """Complete groups, in the order in which they were found."""
        self._groups("matched", groups)

    def partial(self, groups: Iterable[Group]) -> None:
        """Groups that have not enough CPUs yet."""
        self._groups("partial", groups)

    def limit(self, trials: int) -> None:
        """So much was tried, and not all that there is."""
        self._say("limit", f"trials={trials}")

    def end(self, groups: int) -> None:
        """The selection is over."""
        self._say("end", f"groups={groups}")

    def _groups(self, kind: str, groups: Iterable[Group]) -> None:
        if self.kept:
            for one in groups:
                self._add(kind, f"size={len(one.members)} free={one.free} rank={_rank(one)}", one)

    def _add(self, kind: str, values: str, group: Group | None = None) -> None:
        if self.kept and len(self.lines) < LINES_MAX:
            members = group.members if group is not None else ()
            names = "".join(f" {quote(self.ids[one], safe=_PLAIN)}" for one in members)
            self.lines.append(f"{len(self.lines) + 1} {kind} {values}{names}")

    def _say(self, kind: str, values: str) -> None:
        """A line that is never left out."""
        if self.kept:
            if len(self.lines) == LINES_MAX:
                self.lines.append(f"{LINES_MAX + 1} cut lines={LINES_MAX}")
            self.lines.append(f"{len(self.lines) + 1} {kind} {values}")


def _rank(one: Group) -> str:
    return "n/a" if one.rank is None else f"{one.rank:.10g}"


def read(lines: Iterable[str]) -> list[SearchStep]:
    """The steps of a trace. Raises ValueError for a line that is none."""
    return [_read(line) for line in lines]


def _read(line: str) -> SearchStep:
    words = line.split(" ")
    if len(words) < 3 or not words[0].isdecimal():
        raise ValueError(f"not a line of a selection trace: {line!r}")
    split = 2 + next((i for i, word in enumerate(words[2:]) if "=" not in word), len(words) - 2)
    values = dict(word.split("=", 1) for word in words[2:split])
    return SearchStep(int(words[0]), words[1], values, tuple(unquote(word) for word in words[split:]))
