"""How attempts are started here: by a lasting starter that is free, else by a Job Starter of their own."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from broker_core.jdl.names import ALL_NEW
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.local.capacity import Capacity
from broker_core.sites.local.lasting import LastingStarters, is_plain
from broker_core.sites.local.run import Handed, Launched, LocalRun
from broker_core.sites.local.settings import LocalSettings
from broker_core.sites.starting import local_settings, spawn, starter_variables


class Starts:
    """Starts what has its processors."""

    def __init__(
        self, settings: LocalSettings, capacity: Capacity, lasting: LastingStarters, notice: Path
    ) -> None:
        self._settings = settings
        self._capacity = capacity
        self._lasting = lasting
        self._notice = notice
        self._anywhere = local_settings("", notice, settings, beat=False)

    def check(self, order: LaunchOrder) -> None:
        """Raise SiteRefused for what no program can be given."""
        starter_variables(_read_here(order), self._anywhere)

    def hand(self, run: LocalRun) -> Handed | None:
        """Give it to a lasting starter; None: it is not plain, or none is free."""
        if not is_plain(run.order):
            return None
        begun = time.time()
        pid = self._lasting.hand(run.order, run.directory.path)
        return Handed(pid, begun) if pid else None

    def launch(self, run: LocalRun, *, others_wait: bool) -> Launched:
        """Start a Job Starter for it, and where others wait, a lasting one for what comes. Raises OSError."""
        given, begun = self._variables(run.order, run.directory.path), time.time()
        if gpus := self._capacity.gpus_of(run.order):
            run.directory.note_gpus(gpus)
            given["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
        nice = 0 if run.order.interactive else self._settings.nice
        pid = spawn(given, run.directory.path, self._settings.shell, nice)
        if others_wait and self._settings.lasting and is_plain(run.order):
            self._lasting.grow(self._capacity.cpus)
        return Launched(pid, begun)

    def _variables(self, order: LaunchOrder, directory: str) -> dict[str, str]:
        at = local_settings(directory, self._notice, self._settings, beat=order.interactive)
        return starter_variables(_read_here(order), at)


def _read_here(order: LaunchOrder) -> LaunchOrder:
    """Nothing is brought from here: what the job made is read where it lies, and need not be listed."""
    if ALL_NEW not in order.outputs:
        return order
    return replace(order, outputs=tuple(one for one in order.outputs if one != ALL_NEW))
