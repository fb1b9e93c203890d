"""The lines of the jobs table: which rows are shown, in which order, folded how; kept under live updates."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.folding import FoldedBatch
from app.stores.slices import breathe, in_order, parts
from broker_core.jobs.query import JobQuery, parse

if TYPE_CHECKING:
    from app.stores.jobs import JobStore

_MANY = 24
"""More changes of lines than this at once, and the whole view is replaced instead."""


class TableLines(Protocol):
    """The model that shows the lines: it is told of each change, so that the views follow."""

    def replace(self, lines: list[int], adopt: Callable[[], None] = ...) -> None:
        """Replace every line at once; `adopt` changes what the entries of the lines stand for.

        Views must read the lines before with what these stood for, so neither changes without the other.
        """
        ...

    def splice(self, place: int, out: int, entries: list[int]) -> None:
        """Replace `out` lines at `place` by `entries`."""
        ...

    def touch(self, first: int, last: int) -> None:
        """The lines from first to last look different."""
        ...

    async def count(self, batches: Iterable[str]) -> None:
        """Sum these batches up, in slices, so that `batch_key` knows all of their jobs."""
        ...

    def batch_key(self, column: str, batch: str) -> Any:
        """What a batch is ordered by in a column; of the same type as the keys of jobs there."""
        ...


class ViewList:
    """Entries >= 0 are row numbers, an entry -1-n is the n-th batch.

    A job that changes stays where it is: no row jumps under the reader's eye. Only what comes, goes,
    or enters and leaves the query moves lines. A new query or order is computed in slices.
    """

    def __init__(self, rows: JobStore, table: TableLines) -> None:
        self._table, self._rows = table, rows
        self.lines: list[int] = []
        self.batches: list[FoldedBatch] = []
        self.query: JobQuery = parse("")
        self.sort, self.descending = "submitted", True
        self.folding = True
        self.unfolded: set[str] = set()
        """Ids of the batches that the user unfolded, in sight or not."""
        self.working = False
        """True while a new query or order is being computed."""
        self._members: set[int] = set()
        self._by_id: dict[str, int] = {}
        self._waiting: set[str] = set()
        self._now = 0.0

    def now(self) -> float:
        """The moment that the table shows; moves on with `tick`."""
        return self._now or time.time()

    def tick(self) -> None:
        """Let time pass for the cells that show it."""
        self._now = time.time()

    def __len__(self) -> int:
        return len(self._members)

    def empty(self) -> None:
        """Let go of all rows."""
        self._waiting.clear()
        self._table.replace([], lambda: self._adopt([], {}, set()))

    def numbers(self) -> list[int]:
        """Row numbers of all jobs of the query, in the order of the table, folded ones included."""
        found: list[int] = []
        for entry in self.lines:
            if entry < 0:
                found += self.batches[-1 - entry].rows
            elif self.batch_of(entry) is None:
                found.append(entry)
        return found

    def batch_of(self, number: int) -> FoldedBatch | None:
        """The unfoldable batch that shows a row, or None if the row stands alone."""
        place = self._by_id.get(self._rows.columns["batch"][number])
        return None if place is None else self.batches[place]

    def line_of(self, job: str) -> int:
        """The line of a job, or of its folded batch; -1 if it is not shown."""
        entry = self.entry_of(job)
        return self.lines.index(entry) if entry is not None and entry in self.lines else -1

    def line_of_batch(self, batch: str) -> int:
        """The line of a batch; -1 if it is not shown."""
        index = self._by_id.get(batch)
        return -1 if index is None else self.lines.index(-1 - index)

    def entry_of(self, job: str) -> int | None:
        """The entry that shows a job: its own, or its folded batch; None if the query does not have it."""
        number = self._rows.at.get(job)
        if number is None or number not in self._members:
            return None
        batch = self.batch_of(number)
        return number if batch is None or batch.open else -1 - self._by_id[batch.id]

    # --- a new query or order

    async def rebuild(self) -> None:
        """Choose, order and fold all rows anew, in slices; then replace the view in one step."""
        self.working = True
        try:
            now = time.time()
            chosen: list[int] = []
            for part in parts(self._rows.numbers()):
                alive = self._rows.counting(part)
                chosen += self.query.select(self._rows.columns, alive, now)
                await breathe()
            await self._show(*await self._order(chosen, now))
        finally:
            self.working = False
        self._catch_up()
        if self._rows.complete:
            self.unfold_again()

    async def _order(self, chosen: list[int], now: float) -> tuple[list[int], dict[int, Any]]:
        column, held = COLUMNS[BY_NAME[self.sort]].key, self._rows.columns
        keys: dict[int, Any] = {}
        for part in parts(chosen):
            keys.update((number, column(held, number, now)) for number in part)
            await breathe()
        return await in_order(chosen, keys.__getitem__, self.descending), keys

    async def _show(self, ordered: list[int], keys: dict[int, Any]) -> None:
        """`keys`: row number to what it is ordered by; those of batches join them."""
        opened = {batch.id for batch in self.batches if batch.open}
        groups = await self._groups(ordered)
        await self._table.count(groups)
        batches = [FoldedBatch(name, groups[name]) for name in sorted(groups)]
        by_id = {batch.id: index for index, batch in enumerate(batches)}
        entries: list[int] = []
        for index, batch in enumerate(batches):
            batch.open = batch.id in opened
            keys[-1 - index] = self._table.batch_key(self.sort, batch.id)
            entries.append(-1 - index)
        members: set[int] = set()
        for part in parts(ordered):
            entries += (number for number in part if self._rows.columns["batch"][number] not in by_id)
            members.update(part)
            await breathe()
        if batches:
            entries = await in_order(entries, keys.__getitem__, self.descending)
        lines: list[int] = []
        for part in parts(entries):
            for entry in part:
                lines.append(entry)
                if entry < 0 and batches[-1 - entry].open:
                    lines += batches[-1 - entry].rows
            await breathe()
        self._table.replace(lines, lambda: self._adopt(batches, by_id, members))

    def _adopt(self, batches: list[FoldedBatch], by_id: dict[str, int], members: set[int]) -> None:
        self.batches, self._by_id, self._members = batches, by_id, members

    async def _groups(self, ordered: list[int]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for part in parts(ordered if self.folding else []):
            for number in part:
                name = self._rows.columns["batch"][number]
                if name:
                    groups.setdefault(name, []).append(number)
            await breathe()
        return {name: rows for name, rows in groups.items() if len(rows) > 1}

    # --- live updates

    def take(self, ids: set[str]) -> None:
        """Follow changed, new and gone jobs."""
        if self.working:
            self._waiting |= ids
            return
        at, members, now = self._rows.at, self._members, time.time()
        numbers = sorted(at[job] for job in ids if job in at)
        counting = self._rows.counting(numbers)
        wanted = set(self.query.select(self._rows.columns, counting, now))
        come = [number for number in numbers if number in wanted and number not in members]
        leave = {number for number in numbers if number in members and number not in wanted}
        if len(numbers) < len(ids):
            leave |= {number for number in members if not self._rows.alive(number)}
        if leave:
            self._leave(leave)
        if come:
            self._come(come, now)

    def _catch_up(self) -> None:
        waiting, self._waiting = self._waiting, set()
        if waiting:
            self.take(waiting)

    def _leave(self, leave: set[int]) -> None:
        self._members -= leave
        entries = set(leave)
        for number in leave:
            batch = self.batch_of(number)
            if batch:
                batch.rows = [row for row in batch.rows if row not in leave]
        for place, batch in enumerate(self.batches):
            if not batch.rows and self._by_id.get(batch.id) == place:
                entries.add(-1 - place)
                del self._by_id[batch.id]
        self._remove_lines(entries)

    def _remove_lines(self, entries: set[int]) -> None:
        places = [place for place, entry in enumerate(self.lines) if entry in entries]
        if len(places) > _MANY:
            self._table.replace([entry for entry in self.lines if entry not in entries])
            return
        for place in reversed(places):
            self._table.splice(place, 1, [])

    def _come(self, come: list[int], now: float) -> None:
        key, held = COLUMNS[BY_NAME[self.sort]].key, self._rows.columns
        come.sort(key=lambda number: key(held, number, now), reverse=self.descending)
        self._members.update(come)
        alone = [number for number in come if not self._joins(number, come)]
        if alone:
            self._insert(alone, now)

    def _joins(self, number: int, come: list[int]) -> bool:
        """Put a row into its batch, if it has one that shows; True if no line of its own is needed."""
        name = self._rows.columns["batch"][number]
        if not name or not self.folding:
            return False
        place = self._by_id.get(name)
        if place is None:
            return False
        batch = self.batches[place]
        batch.rows.append(number)
        if batch.open:
            self._table.splice(self.lines.index(-1 - place) + len(batch.rows), 0, [number])
        return True

    def _insert(self, numbers: list[int], now: float) -> None:
        entries = self._folded(numbers)
        if not entries:
            return
        key = self._keys(now)
        entries.sort(key=key, reverse=self.descending)
        first, last = self._place(entries[0], key), self._place(entries[-1], key)
        if first == last:
            self._table.splice(first, 0, entries)
        elif len(entries) <= _MANY:
            for entry in entries:
                self._table.splice(self._place(entry, key), 0, [entry])
        else:
            # One pass: to insert each by itself would move 100,000 lines for each.
            lines, taken = list[int](), 0
            for entry in entries:
                index = self._place(entry, key, taken)
                lines += self.lines[taken:index]
                lines.append(entry)
                taken = index
            self._table.replace(lines + self.lines[taken:])

    def _folded(self, numbers: list[int]) -> list[int]:
        """Make entries of new rows: several of one new batch become one line, a partner already shown too."""
        entries, made = [], dict[str, FoldedBatch]()
        for number in numbers:
            name = self._rows.columns["batch"][number] if self.folding else ""
            if not name:
                entries.append(number)
            elif name in made:
                made[name].rows.append(number)
            else:
                made[name] = FoldedBatch(name, [number])
                entries.append(-1 - len(self.batches))
                self._by_id[name] = len(self.batches)
                self.batches.append(made[name])
        return entries

    def _keys(self, now: float) -> Callable[[int], Any]:
        """What entries are ordered by, looked up once for each of them: good until a row changes."""
        column, held = COLUMNS[BY_NAME[self.sort]].key, self._rows.columns

        def key(entry: int) -> Any:
            batch = self.batches[-1 - entry] if entry < 0 else self.batch_of(entry)
            return self._table.batch_key(self.sort, batch.id) if batch else column(held, entry, now)

        return cache(key)

    def _place(self, entry: int, key: Callable[[int], Any], after: int = 0) -> int:
        """Where a new entry belongs among the lines; it is known to be none of the first `after`."""
        wanted = key(entry)
        if self.descending:
            if after < len(self.lines) and wanted >= key(self.lines[after]):
                return after
            beyond = bisect_left(self.lines, True, after, key=lambda other: key(other) <= wanted)
        else:
            beyond = bisect_left(self.lines, True, after, key=lambda other: key(other) > wanted)
        return self._outside(beyond)

    def _outside(self, place: int) -> int:
        """The next place that is not between a batch and its jobs."""
        while place < len(self.lines) and self.lines[place] >= 0 and self.batch_of(self.lines[place]):
            place += 1
        return place

    # --- folding

    def fold(self, line: int, opened: bool) -> None:
        """Unfold or fold the batch of a line; does nothing for a job."""
        entry = self.lines[line]
        if entry >= 0:
            return
        batch = self.batches[-1 - entry]
        if batch.open == opened:
            return
        self._note_fold(batch, opened)
        self._table.splice(line + 1, 0 if opened else len(batch.rows), list(batch.rows) if opened else [])
        self._table.touch(line, line)

    def fold_all(self, opened: bool) -> None:
        """Unfold or fold every batch."""
        self._fold_each(lambda _: opened)

    def unfold_again(self) -> None:
        """Unfold what was unfolded, once all rows are there: before, rows would come one by one."""
        if any(batch.id in self.unfolded and not batch.open for batch in self.batches):
            self._fold_each(lambda batch: batch.open or batch.id in self.unfolded)

    def _note_fold(self, batch: FoldedBatch, opened: bool) -> None:
        batch.open = opened
        if opened:
            self.unfolded.add(batch.id)
        else:
            self.unfolded.discard(batch.id)

    def _fold_each(self, opened: Callable[[FoldedBatch], bool]) -> None:
        lines: list[int] = []
        for entry in self.lines:
            if entry < 0:
                batch = self.batches[-1 - entry]
                self._note_fold(batch, opened(batch))
                lines.append(entry)
                lines += batch.rows if batch.open else []
            elif self.batch_of(entry) is None:
                lines.append(entry)
        self._table.replace(lines)
