"""Throughput and queue history of each site, kept in a small file so that a restart does not forget them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from broker_core.broker.engine.site_metrics import MINUTE, POINTS, SiteMetrics

log = logging.getLogger("crossdesk.sites")
FILE = "figures.json"
"""Beside the settings of a site."""


class StoredMetrics(BaseModel):
    """Content of such a file, at most POINTS points and the counts of an hour for each computing element."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    points: list[tuple[float, int, int]] = []
    """Seconds since the epoch, jobs queued, jobs running; oldest first."""
    ended: dict[str, list[tuple[float, int]]] = {}
    """Id of a computing element to the jobs that ended there, by the minute; oldest first."""
    outcomes: dict[str, dict[str, list[tuple[float, int]]]] = {}
    """Outcome to those of `ended` that had it."""
    waits: dict[str, list[tuple[float, float]]] = {}
    """Id of a computing element to when jobs started there, and the seconds that they had waited."""


class MetricsFiles:
    """Writes the figures of all sites at most once a minute, in a thread, and only after changes."""

    def __init__(self, folder: Callable[[str], Path]) -> None:
        """`folder`: name of a site to its folder on this machine."""
        self._folder = folder
        self._writing = threading.Lock()
        self._written = (0.0, 0)
        """Wall clock and number of changes at the last time."""
        self._trouble = ""

    def restore(self, figures: SiteMetrics, name: str, now: float) -> None:
        """Give a site back what was kept; a file that cannot be read is told in the log and left out."""
        path = self._folder(name) / FILE
        try:
            kept = StoredMetrics.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValidationError) as error:
            log.warning("The history of %s begins anew, %s cannot be used: %s", name, path, error)
            return
        figures.restore(name, kept.points[-POINTS:], kept.ended, now, kept.outcomes)
        figures.restore_waits(kept.waits)

    def keep_soon(self, figures: SiteMetrics, names: Iterable[str], now: float) -> None:
        """Write what changed, unless that was done within the last minute. `now`: wall clock."""
        last, changes = self._written
        if 0 <= now - last < MINUTE or (changes == figures.changes and not figures.busy):
            return
        kept = self._taken(figures, names, now)
        asyncio.get_running_loop().run_in_executor(None, self._write, kept)

    def keep(self, figures: SiteMetrics, names: Iterable[str], now: float) -> None:
        """Write it now."""
        self._write(self._taken(figures, names, now))

    def forget(self, name: str) -> None:
        """Remove the figures of a site that was removed; another of this name begins anew."""
        with self._writing:
            try:
                (self._folder(name) / FILE).unlink(missing_ok=True)
            except OSError as error:
                log.warning("The history of %s stays: %s", name, error)

    def _taken(self, figures: SiteMetrics, names: Iterable[str], now: float) -> dict[str, StoredMetrics]:
        self._written = now, figures.changes
        return {
            name: StoredMetrics.model_construct(
                points=points,
                ended=ended,
                outcomes=figures.stored_outcomes(name),
                waits=figures.stored_waits(name),
            )
            for name in names
            for points, ended in (figures.kept(name),)
        }

    def _write(self, kept: Mapping[str, StoredMetrics]) -> None:
        with self._writing:
            try:
                for name, one in kept.items():
                    path = self._folder(name) / FILE
                    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    fresh = path.with_suffix(".new")
                    fresh.write_text(one.model_dump_json())
                    fresh.replace(path)
            except OSError as error:
                if str(error) != self._trouble:
                    log.warning("The history of sites is not kept over a restart: %s", error)
                self._trouble = str(error)
