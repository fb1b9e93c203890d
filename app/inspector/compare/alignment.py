"""Lines of several texts beside each other, so that equal ones stand in one row. Pure.

Every text is aligned with the first one. Lines that are unique in both texts are paired first; only the short
stretches between them are given to difflib, whose time grows with the square of the length and faster.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_STRETCH = 1000
"""Lines on either side up to which a stretch without unique lines is searched for equal ones."""
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")
CONTEXT = 2
"""Equal rows that stay in view before and after those that differ."""
Block = tuple[int, int, int]
"""First line here, first line there, and how many lines are equal from there on."""


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """One row of the comparison."""

    lines: tuple[int, ...]
    """For each text the number of its line, from 0; -1 where it has none here."""
    equal: bool
    """True if all texts have this line."""


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """Rows that are all equal and not shown."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class AlignedTexts:
    """Texts with their rows, and what a view needs of them; made in a thread where the texts are long."""

    texts: Sequence[Sequence[str]] = ()
    rows: Sequence[AlignedRow] = ()
    folded: Sequence[int | FoldedRows] = ()
    """Numbers of the rows that differ or stand near one, and what is folded between them."""
    longest: int = 0
    """Characters of the longest line."""
    differing: int = 0
    """Rows that are not equal in all texts."""


def align_texts(
    texts: Sequence[Sequence[str]],
    key: Callable[[str], str] = str,
    wanted: Callable[[], bool] = lambda: True,
) -> AlignedTexts:
    """Align at least two texts; arguments as those of `align`."""
    rows = align(texts, key, wanted)
    return AlignedTexts(
        texts=texts,
        rows=rows,
        folded=only_differences(rows),
        longest=max((len(line) for text in texts for line in text), default=0),
        differing=sum(not row.equal for row in rows),
    )


def without_numbers(line: str) -> str:
    """The line with every number replaced by one sign, so that times and counters make no difference."""
    return _NUMBERS.sub("0", line)


def align(
    texts: Sequence[Sequence[str]],
    key: Callable[[str], str] = str,
    wanted: Callable[[], bool] = lambda: True,
) -> list[AlignedRow]:
    """Return the rows of the texts; lines with the same `key` are equal. Gives up where no more `wanted`."""
    numbers: dict[str, int] = {}
    keyed = [[numbers.setdefault(key(line), len(numbers)) for line in text] for text in texts]
    base = keyed[0]
    partners = [_partners(base, other, wanted) for other in keyed[1:]]
    rows: list[AlignedRow] = []
    for line in range(len(base) + 1):
        inserted = [extra.get(line, ()) for _, extra in partners]
        for depth in range(max(map(len, inserted), default=0)):
            found = (more[depth] if depth < len(more) else -1 for more in inserted)
            rows.append(AlignedRow((-1, *found), False))
        if line < len(base):
            beside = tuple(pairs[line] for pairs, _ in partners)
            equal = all(
                there >= 0 and text[there] == base[line]
                for there, text in zip(beside, keyed[1:], strict=True)
            )
            rows.append(AlignedRow((line, *beside), equal))
    return rows


def _partners(
    base: Sequence[int], other: Sequence[int], wanted: Callable[[], bool]
) -> tuple[list[int], dict[int, list[int]]]:
    """For each line of `base` the line of `other` beside it, or -1; and the lines that come before each."""
    beside = [-1] * len(base)
    extra: dict[int, list[int]] = {}
    here = there = 0
    for begin, start, size in [*equal_blocks(base, other, wanted), (len(base), len(other), 0)]:
        paired = min(begin - here, start - there)
        for step in range(paired):
            beside[here + step] = there + step
        if rest := list(range(there + paired, start)):
            extra[begin] = rest
        for step in range(size):
            beside[begin + step] = start + step
        here, there = begin + size, start + size
    return beside, extra


def equal_blocks(
    base: Sequence[int], other: Sequence[int], wanted: Callable[[], bool] = lambda: True
) -> list[Block]:
    """Return blocks of equal lines in order, none overlapping another."""
    blocks: list[Block] = []
    waiting = [(0, len(base), 0, len(other))]
    while waiting and wanted():
        first, last, start, end = waiting.pop()
        head = 0
        while first + head < last and start + head < end and base[first + head] == other[start + head]:
            head += 1
        tail = 0
        while (
            first + head < last - tail
            and start + head < end - tail
            and base[last - 1 - tail] == other[end - 1 - tail]
        ):
            tail += 1
        blocks += [(first, start, head)] if head else []
        blocks += [(last - tail, end - tail, tail)] if tail else []
        waiting += _between(base, other, (first + head, last - tail, start + head, end - tail), blocks)
    return sorted(blocks)


def _between(
    base: Sequence[int], other: Sequence[int], inner: tuple[int, int, int, int], blocks: list[Block]
) -> Iterator[tuple[int, int, int, int]]:
    """Cut a stretch at lines unique in both texts, or add the equal blocks of a short one."""
    first, last, start, end = inner
    if first >= last or start >= end:
        return
    anchors = _anchors(base, other, inner)
    if anchors:
        for line, beside in anchors:
            yield first, line, start, beside
            first, start = line, beside
        yield first, last, start, end
    elif last - first <= _STRETCH and end - start <= _STRETCH:
        matcher = SequenceMatcher(None, base[first:last], other[start:end])
        blocks += [
            (first + block.a, start + block.b, block.size)
            for block in matcher.get_matching_blocks()
            if block.size
        ]


def _anchors(
    base: Sequence[int], other: Sequence[int], inner: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Lines that both stretches have exactly once, as the longest series that rises in both."""
    first, last, start, end = inner
    here, there = Counter(base[first:last]), Counter(other[start:end])
    at = {other[line]: line for line in range(start, end) if there[other[line]] == 1}
    pairs = [
        (line, at[base[line]]) for line in range(first, last) if here[base[line]] == 1 and base[line] in at
    ]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest series of pairs whose second numbers rise."""
    ends: list[int] = []
    owners: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, beside) in enumerate(pairs):
        depth = bisect_left(ends, beside)
        before[number] = owners[depth - 1] if depth else -1
        if depth == len(ends):
            ends.append(beside)
            owners.append(number)
        else:
            ends[depth], owners[depth] = beside, number
    series = []
    number = owners[-1] if owners else -1
    while number >= 0:
        series.append(pairs[number])
        number = before[number]
    return series[::-1]


def only_differences(rows: Sequence[AlignedRow]) -> list[int | FoldedRows]:
    """Return the numbers of the rows that differ, with CONTEXT around them, and what is folded between."""
    differing = [number for number, row in enumerate(rows) if not row.equal]
    shown: list[int | FoldedRows] = []
    following = 0
    for number in differing:
        first = max(following, number - CONTEXT)
        if first - following == 1:
            first = following  # a fold of one row saves nothing
        if first > following:
            shown.append(FoldedRows(following, first - following))
        shown.extend(range(first, number + 1))
        # What follows a difference stays in view as well, up to the next one.
        following = number + 1
        upto = min(len(rows), following + CONTEXT)
        while following < upto and rows[following].equal:
            shown.append(following)
            following += 1
    if following < len(rows):
        shown.append(FoldedRows(following, len(rows) - following))
    return shown
