"""`crossdesk job top`: the jobs in the terminal, as they change; arrows choose a line, `c` cancels it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import aclosing, suppress

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.folding import BatchLine, folded, summary
from broker_core.command_line.job.following import (
    Row,
    all_rows,
    outcome_of_row,
    rows_of,
    watching,
    with_outcome,
)
from broker_core.command_line.job.list import ACTIVE, Query, asked_query
from broker_core.command_line.job.raw_keys import raw_keys, readable
from broker_core.errors import CrossDeskError
from broker_core.jobs.annotations import ANNOTATION_COLUMNS
from broker_core.jobs.query import JobQuery
from broker_core.jobs.reruns import RerunChains, latest_runs
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState
from broker_core.wire.views import Update

_KEY = re.compile(rb"\x1b(?:\[|O)[0-9;]*[A-Za-z~]|.", re.DOTALL)
_MOVES = {
    b"\x1b[A": -1, b"\x1bOA": -1, b"k": -1, b"\x1b[B": 1, b"\x1bOB": 1, b"j": 1,
}  # fmt: skip
_PAGES = {b"\x1b[5~": -1, b"\x1b[6~": 1}
_ENDS = {b"\x1b[H": 0, b"\x1b[1~": 0, b"g": 0, b"\x1b[F": -1, b"\x1b[4~": -1, b"G": -1}
_UNFOLD, _FOLD = (b"\x1b[C", b"\x1bOC", b"l", b"+"), (b"\x1b[D", b"\x1bOD", b"h", b"-")
_TURN = (b"\r", b"\n", b" ")
"""Unfolds a batch, or folds it again."""
_QUIT = (b"q", b"Q", b"\x03", b"")
_TICK = 1.0
"""Seconds after which times are drawn anew."""
_PAUSE = 0.1
"""Seconds between two drawings at least."""
_AROUND = 4
"""Lines around the rows: counts, heads, an empty one, keys."""


_UNANNOTATED: Row = dict.fromkeys(ANNOTATION_COLUMNS, "")


Line = Row | BatchLine


def _key(line: Line) -> str:
    return line.id if isinstance(line, BatchLine) else str(line["id"])


def _annotation(row: Row) -> Row:
    return {name: row[name] for name in ANNOTATION_COLUMNS}


class JobsScreen:
    """What the terminal shows of the jobs, and what keys do to it."""

    def __init__(self, query: JobQuery | None) -> None:
        self._query = query
        self._rows: dict[str, Row] = {}
        self._order: list[str] = []
        """Newest first."""
        self._chains = RerunChains()
        """Of all jobs, also of those that the query leaves out."""
        self._annotations: dict[str, Row] = {}
        """Job to its tags and note, also of jobs that the query leaves out."""
        self._chosen = ""
        self._first = 0
        self._height = 1
        self._asking: Line | None = None
        """The job or batch about which it is asked whether to cancel it."""
        self._unfolded: set[str] = set()
        """Batches whose jobs have lines of their own."""
        self._lines: list[Line] | None = None
        """What is shown; None: to be made anew."""
        self.notice = ""
        self.changed = asyncio.Event()

    @property
    def rows(self) -> list[Row]:
        """The jobs, newest first; of each member of a batch the last run, as the query finds it or not."""
        found = [self._rows[job] for job in self._order]
        batches = [row["batch"] for row in found]
        return [found[at] for at in latest_runs(range(len(found)), self._order, batches, self._chains.later)]

    def waiting_at_sites(self) -> list[str]:
        """Jobs that a site has and did not start yet."""
        return [job for job in self._order if self._rows[job]["state"] == JobState.SCHEDULED.value]

    def fill(self, rows: Iterable[Row]) -> None:
        """Take in jobs that are older than all before."""
        self._lines = None
        rows = list(rows)
        self._link(rows)
        self._annotations |= {row["id"]: _annotation(row) for row in rows if row["tags"] or row["note"]}
        wanted = [row for row in rows if self._wants(row)]
        self._rows |= {row["id"]: row for row in wanted}
        self._order += [row["id"] for row in wanted]

    def take(self, update: Update) -> None:
        """Take in what changed; a job that ended stays, unless the query leaves it out now."""
        at, self._lines = self._at(), None
        annotated = {row["id"]: row for row in rows_of(update.annotated)}
        self._annotations |= annotated
        changed = {row["id"]: row for row in rows_of(update.rows)}
        self._link(changed.values())
        known = {job: self._rows[job] for job in annotated if job in self._rows}
        for job, plain in (known | changed).items():
            row = plain | self._annotations.get(job, _UNANNOTATED)
            if self._wants(row):
                if job not in self._rows:
                    self._order.insert(0, job)
                self._rows[job] = row
            elif job in self._rows:
                self._drop(job)
        for job in update.gone:
            self._annotations.pop(job, None)
            self._chains.remove(job)
            if job in self._rows:
                self._drop(job)
        if self._chosen and self._at() < 0:
            lines = self.lines()
            self._chosen = _key(lines[min(at, len(lines) - 1)]) if lines else ""
        self.changed.set()

    def lines(self) -> list[Line]:
        """Jobs and folded batches, newest first; below an unfolded batch stand its jobs."""
        if self._lines is None:
            self._lines = []
            for line in folded(self.rows):
                self._lines.append(line)
                if isinstance(line, BatchLine) and line.id in self._unfolded:
                    self._lines += line.rows
        return self._lines

    def _at(self) -> int:
        """Number of the chosen line; -1: none is chosen."""
        return next((at for at, line in enumerate(self.lines()) if _key(line) == self._chosen), -1)

    def _link(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._chains.add(row["id"], row.get("rerun_of", ""))

    def _wants(self, row: Row) -> bool:
        if self._query is None:
            return row["id"] in self._rows or outcome_of_row(row).active
        return self._query.matches({name: [value] for name, value in row.items()}, 0, time.time())

    def _drop(self, job: str) -> None:
        self._order.remove(job)
        del self._rows[job]

    # --- keys

    def press(self, key: bytes) -> list[str]:
        """Take a key; returns the ids of jobs that are to be canceled."""
        self.changed.set()
        self.notice = ""
        if self._asking is not None:
            asked, self._asking = self._asking, None
            return self._going_on(asked) if key in (b"y", b"Y") else []
        at = self._at()
        line = self.lines()[at] if at >= 0 else None
        if key == b"c" and line is not None:
            if self._going_on(line):
                self._asking = line
            else:
                several = isinstance(line, BatchLine)
                self.notice = "All of them have ended." if several else "This job has ended."
        elif line is not None and key in (*_UNFOLD, *_FOLD, *_TURN):
            self._turn(line, key)
        else:
            self._move(key, at)
        return []

    def _going_on(self, line: Line) -> list[str]:
        """Those of a line's jobs that have not ended, by what is known now."""
        jobs = [row["id"] for row in line.rows] if isinstance(line, BatchLine) else [line["id"]]
        rows = (self._rows[job] for job in jobs if job in self._rows)
        return [row["id"] for row in rows if not outcome_of_row(row).ended]

    def _turn(self, line: Line, key: bytes) -> None:
        """Unfold or fold a batch; from one of its jobs folding leads back to it."""
        batch = line.id if isinstance(line, BatchLine) else line["batch"]
        if batch in self._unfolded and key not in _UNFOLD:
            self._unfolded.discard(batch)
            self._chosen = batch
        elif isinstance(line, BatchLine) and key not in _FOLD:
            self._unfolded.add(batch)
        self._lines = None

    def _move(self, key: bytes, at: int) -> None:
        lines = self.lines()
        if not lines:
            return
        if key in _ENDS:
            at = _ENDS[key]
        elif key in _MOVES or key in _PAGES:
            step = _MOVES.get(key) or _PAGES[key] * self._height
            at = max(0, min(at + step, len(lines) - 1))
        else:
            return
        self._chosen = _key(lines[at])

    # --- drawing

    def drawn(self, console: Console) -> RenderableType:
        """The whole screen, for a terminal of the console's size."""
        height = console.height
        self._height = max(1, height - _AROUND)
        lines, at = self.lines(), self._at()
        if at >= 0:
            self._first = min(max(self._first, at - self._height + 1), at)
        self._first = max(0, min(self._first, len(lines) - self._height))
        shown = lines[self._first : self._first + self._height]
        head = Table.grid(expand=True, padding=(0, 1))
        head.add_column(no_wrap=True, overflow="ellipsis")
        head.add_column(no_wrap=True, justify="right")
        head.add_row(Text(summary(self.rows), style="bold"), Text(time.strftime("%H:%M:%S"), style="dim"))
        body = self._table(shown) if shown else Text("No jobs; new ones appear here.", style="dim")
        used = 2 + len(shown) if shown else 2
        return Group(head, body, Padding(self._bottom(), (max(0, height - used - 1), 0, 0, 0)))

    def _table(self, lines: list[Line]) -> Table:
        table = Table(box=None, pad_edge=False, expand=True, header_style="bold", padding=(0, 1, 0, 0))
        for head in ("ID", "NAME", "STATE", "CPUS", "RUN TIME", "SITE"):
            number = head in ("CPUS", "RUN TIME")
            table.add_column(
                head,
                justify="right" if number else "left",
                no_wrap=True,
                overflow="ellipsis",
                ratio=3 if head == "NAME" else 2 if head == "SITE" else None,
            )
        for line in lines:
            cells = self._batch_cells(line) if isinstance(line, BatchLine) else self._job_cells(line)
            style = "reverse" if _key(line) == self._chosen else ""
            table.add_row(*map(output.cell, cells), style=style)
        return table

    def _batch_cells(self, line: BatchLine) -> tuple[str, ...]:
        sign = "-" if line.id in self._unfolded else "+"
        cpus = sum(row["cpus"] or 1 for row in line.rows)
        return line.id[:8], f"{sign} {line.name}", line.standing, f"{cpus:,}", "", line.site

    def _job_cells(self, row: Row) -> tuple[str | Text, ...]:
        state, below = words.standing(row, cause=True), "  " if row["batch"] in self._unfolded else ""
        return (
            row["id"][:8],
            f"{below}{words.name(row)}",
            state + Text(" (held)", style="yellow") if row["held"] else state,
            str(row["cpus"]),
            words.run_time(row),
            site_name(row["site"]),
        )

    def _bottom(self) -> Text:
        if (line := self._asking) is not None:
            name = words.name(line) if not isinstance(line, BatchLine) else line.name
            number = len(self._going_on(line))
            several = f"{number:,} jobs of " if isinstance(line, BatchLine) else ""
            question = f"Cancel {several}{output.printable(name)}, {_key(line)[:8]}? y/n"
            return Text(question, style="bold yellow", no_wrap=True, overflow="ellipsis")
        if self.notice:
            return Text(output.printable(self.notice), style="yellow", no_wrap=True, overflow="ellipsis")
        arrows = "↑↓" if words.has_unicode() else "arrows"
        fold = "Return unfolds   " if any(isinstance(line, BatchLine) for line in self.lines()) else ""
        return Text(f"{arrows} choose   {fold}c cancel   q quit", style="dim")


def top(terms: Query = None, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Watch the active jobs, or those of a query, as they change; without a terminal show them once.

    Arrows choose a line, Return unfolds a batch, c cancels, q ends.
    """
    query = asked_query(terms)
    if session().json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _once(query)
    return with_client(lambda client: _watch(client, query))


def _once(query: JobQuery | None) -> int:
    async def work(client: BrokerClient) -> list[Row]:
        screen = JobsScreen(query)
        await _fill(screen, client, query)
        return screen.rows

    rows = with_client(work)
    if session().json:
        output.as_json({"jobs": [with_outcome(row) for row in rows]})
        return Exit.OK
    if rows:
        tables.jobs(folded(rows))
    output.say(f"{summary(rows)}.")
    return Exit.OK


async def _fill(screen: JobsScreen, client: BrokerClient, query: JobQuery | None) -> int:
    """Load the jobs; returns the position to follow from."""
    position: int | None = None
    async for rows, at in all_rows(client, ACTIVE if query is None else ()):
        position = at if position is None else min(position, at)
        screen.fill(rows)
    return position or 0


async def _watch(client: BrokerClient, query: JobQuery | None) -> int:
    screen = JobsScreen(query)
    position = await _fill(screen, client, query)
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    assert this is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, this.cancel)
    loop.add_signal_handler(signal.SIGWINCH, screen.changed.set)
    work = [_follow(screen, client, position), _keys(screen, client), _draw(screen)]
    tasks = [asyncio.create_task(one) for one in work]
    with raw_keys(sys.stdin.fileno()):
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            # The drawing gives the terminal back as it ends.
            await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
    return Exit.OK


async def _follow(screen: JobsScreen, client: BrokerClient, position: int) -> None:
    def lost(error: CrossDeskError) -> None:
        screen.notice = f"{error.message} Trying again."
        screen.changed.set()

    def regained() -> None:
        screen.notice = ""
        screen.changed.set()

    following = client.follow(position, lost=lost, regained=regained)
    async with watching(client, screen.waiting_at_sites), aclosing(following) as updates:
        async for update in updates:
            screen.take(update)


async def _keys(screen: JobsScreen, client: BrokerClient) -> None:
    """Until `q` is pressed or the terminal has gone."""
    descriptor = sys.stdin.fileno()
    while True:
        await readable(descriptor)
        for key in _KEY.findall(os.read(descriptor, 1024)) or [b""]:
            if key in _QUIT:
                return
            if jobs := screen.press(key):
                await _cancel(screen, client, jobs)


async def _cancel(screen: JobsScreen, client: BrokerClient, jobs: list[str]) -> None:
    try:
        results = (await client.cancel(jobs)).results
        why = next(filter(None, (results.get(job) for job in jobs)), "")
    except CrossDeskError as error:
        why = error.message
    screen.notice = why or "Cancel requested."
    screen.changed.set()


async def _draw(screen: JobsScreen) -> None:
    console = output.results()
    with console.screen() as context:
        context.screen.application_mode = (
            True  # a raw terminal does not return by itself at the end of a line
        )
        while True:
            screen.changed.clear()
            context.update(screen.drawn(console))
            await asyncio.sleep(_PAUSE)
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK):
                    await screen.changed.wait()
