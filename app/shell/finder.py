"""What the command field can find: actions, jobs, queries, help, samples, recent files."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.shell.fuzzy import score
from app.sites.faces import site_face

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk

MOST = 40
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


class Finder:
    """Makes the lines of the palette from what the desk has now."""

    def __init__(
        self,
        desk: WindowDesk,
        help_pages: Callable[[], list[tuple[str, str]]],
        open_sample: Callable[[str], object],
        show_query: Callable[[str], object],
    ) -> None:
        self._desk, self._help_pages = desk, help_pages
        self._open_sample, self._show_query = open_sample, show_query
        self._samples: list[tuple[str, str]] | None = None

    def find(self, wanted: str) -> list[Find]:
        """Return the best lines for the letters typed; without any, recent actions come first."""
        recent = self._desk.preferences["recent_actions"]
        scored = []
        for place, (points, line) in enumerate(self._scored(wanted)):
            bonus = 12 - recent.index(line.key) if line.key in recent else 0
            scored.append((points + bonus, -place, line))
        return [line for _, _, line in heapq.nlargest(MOST, scored, key=lambda item: item[:2])]

    def _scored(self, wanted: str) -> Iterator[tuple[int, Find]]:
        for line in self._fixed():
            points = score(wanted, line.title)
            if points is not None:
                yield points + (4 if line.kind == "Action" else 0), line
        if wanted.strip():
            yield from self._jobs(wanted)

    def _fixed(self) -> Iterator[Find]:
        desk = self._desk
        for action in desk.actions.usable():
            if action.id != "app.palette":
                yield Find(action.text.rstrip("…"), "Action", action.icon or "command",
                           lambda name=action.id: desk.trigger(name), action.shortcut, action.id)  # fmt: skip
        for query in desk.saved.all:
            yield Find(query.name, "Query", query.icon or "bookmark",
                       lambda text=query.text: self._show_query(text), query.text)  # fmt: skip
        for site in desk.sites.views:
            yield Find(site.name, "Site", "server", lambda name=site.name: desk.show_site(name),
                       site_face(site).word)  # fmt: skip
        for page, title in self._help_pages():
            yield Find(title, "Help", "book-open", lambda name=page: desk.show_help(name))
        for name, title in self._all_samples():
            yield Find(title, "Sample", "flask-conical", lambda name=name: self._open_sample(name))
        for path in desk.preferences["recent_files"]:
            yield Find(Path(path).name, "File", "file-code", lambda path=path: self._open_file(Path(path)),
                       str(Path(path).parent))  # fmt: skip

    def _all_samples(self) -> list[tuple[str, str]]:
        if self._samples is None:
            from broker_core.client.samples import samples

            self._samples = [(one.name, one.title) for one in samples()]
        return self._samples

    def _open_file(self, path: Path) -> None:
        self._desk.open_editor(path.read_text(encoding="utf-8", errors="replace"), path)

    def _jobs(self, wanted: str) -> Iterator[tuple[int, Find]]:
        columns, rows = self._desk.jobs.columns, self._desk.jobs
        letters = wanted.strip().lower()
        for number in rows.numbers()[:_JOBS_SEARCHED]:
            name, job = columns["name"][number], columns["id"][number]
            if rows.alive(number) and (letters in name.lower() or job.lower().startswith(letters)):
                points = score(wanted, name) or 0
                title = f"{name} {columns['parameter'][number]}".strip()
                yield points, Find(title, "Job", "file-text", lambda job=job: self._desk.show_job(job),
                                   columns["state"][number])  # fmt: skip
