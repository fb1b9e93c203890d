"""What the command field can find: actions, jobs, queries, help, samples, recent files."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.actions.table import ACTIONS
from app.jobs.columns import state_word
from app.sites.site_style import site_style

if TYPE_CHECKING:
    from app.context import AppContext


MOST = 40
_CLOSE = 0.5
"""Share of the letters between the first and the last one found that have to be wanted ones."""
_JOBS_SEARCHED = 20_000
"""Newest jobs whose names are searched; the query line searches all."""


@dataclass(frozen=True, slots=True)
class Find:
    """One line of the palette."""

    title: str
    kind: str
    """Word at the right: Action, Job, Query, Site, Help, Sample, File."""
    icon: str
    act: Callable[[], object]
    detail: str = ""
    """Keys of an action, state of a job."""
    key: str = ""
    """Name under which it is remembered as recent."""
    enabled: bool = True
    """False for an action that does not apply now; `detail` says why."""


class Finder:
    """Makes the lines of the palette from what the desktop has now."""

    def __init__(
        self,
        context: AppContext,
        help_pages: Callable[[], list[tuple[str, str]]],
        open_sample: Callable[[str], object],
        show_query: Callable[[str], object],
    ) -> None:
        self._context, self._help_pages = context, help_pages
        self._open_sample, self._show_query = open_sample, show_query
        self._samples: list[tuple[str, str]] | None = None

    def find(self, wanted: str) -> list[Find]:
        """Return the best lines for the letters typed; without any, recent actions come first."""
        recent = self._context.preferences["recent_actions"]
        scored = []
        for place, (points, line) in enumerate(self._scored(wanted)):
            bonus = 12 - recent.index(line.key) if line.key in recent and line.enabled else 0
            scored.append((points + bonus, -place, line))
        return [line for _, _, line in heapq.nlargest(MOST, scored, key=lambda item: item[:2])]

    def _scored(self, wanted: str) -> Iterator[tuple[int, Find]]:
        for line in self._fixed():
            points = score(wanted, line.title)
            if points is not None and (line.enabled or wanted.strip()):
                yield points + (4 if line.kind == "Action" and line.enabled else 0), line
        if wanted.strip():
            yield from self._jobs(wanted)

    def _fixed(self) -> Iterator[Find]:
        context = self._context
        for action in ACTIONS:
            if action.id != "app.palette":
                why = context.actions.why_not(action.id)
                yield Find(context.actions.name(action.id), "Action", action.icon or "command",
                           partial(context.trigger, action.id),
                           why or action.shortcut, action.id, enabled=not why)  # fmt: skip
        for query in context.saved.all:
            yield Find(query.name, "Query", query.icon or "bookmark",
                       partial(self._show_query, query.text), query.text)  # fmt: skip
        for site in context.sites.views:
            yield Find(site.name, "Site", "server", partial(context.show_site, site.name),
                       site_style(site).word)  # fmt: skip
        for page, title in self._help_pages():
            yield Find(title, "Help", "book-open", partial(context.show_help, page))
        for name, title in self._all_samples():
            yield Find(title, "Sample", "flask-conical", partial(self._open_sample, name))
        for path in context.preferences["recent_files"]:
            yield Find(Path(path).name, "File", "file-code", partial(self._open_file, Path(path)),
                       str(Path(path).parent))  # fmt: skip

    def _all_samples(self) -> list[tuple[str, str]]:
        if self._samples is None:
            from broker_core.client.samples import samples

            self._samples = [(one.name, one.title) for one in samples()]
        return self._samples

    def _open_file(self, path: Path) -> None:
        self._context.open_editor(path.read_text(encoding="utf-8", errors="replace"), path)

    def _jobs(self, wanted: str) -> Iterator[tuple[int, Find]]:
        columns, rows = self._context.jobs.columns, self._context.jobs
        letters, names, ids = wanted.strip().lower(), columns["name"], columns["id"]
        fitting = [
            number
            for number in rows.numbers()[:_JOBS_SEARCHED]
            if letters in names[number].lower() or ids[number].lower().startswith(letters)
        ]
        for number in rows.counting(fitting):
            title = f"{names[number]} {columns['parameter'][number]}".strip()
            yield score(wanted, names[number]) or 0, Find(
                title, "Job", "file-text", partial(self._context.show_job, ids[number]),
                state_word(columns, number, 0.0),
            )  # fmt: skip


def score(wanted: str, text: str) -> int | None:
    """Return how well `text` fits the letters `wanted` (greater is better), or None if it does not.

    It does if each letter goes on with the one before or begins a word, or all stand close together.
    """
    wanted, low = wanted.lower().replace(" ", ""), text.lower()
    if not wanted:
        return 0
    total, place, run, first, loose = 0, -1, 0, -1, False
    for letter in wanted:
        found = _next(low, letter, place + 1)
        if found < 0:
            return None
        follows = first >= 0 and found == place + 1
        run = run + 1 if follows else 0
        loose = loose or not (follows or _begins_word(text, found))
        first = found if first < 0 else first
        total += 1 + 3 * run + (8 if _begins_word(text, found) else 0) - min(found - place - 1, 6)
        place = found
    whole = low.find(wanted)
    if whole < 0 and loose and len(wanted) < _CLOSE * (place - first + 1):
        return None
    return total + (20 if whole == 0 else 10 if whole > 0 else 0) - len(text) // 12


def _next(low: str, letter: str, start: int) -> int:
    """The next place of a letter: right behind the one before, else the beginning of a word if one has it."""
    first = low.find(letter, start)
    if start and first == start:
        return first
    place = first
    while place >= 0:
        if _begins_word(low, place):
            return place if place - first < 12 else first
        place = low.find(letter, place + 1)
    return first


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()
