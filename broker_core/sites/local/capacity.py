"""What this machine has for jobs: processors and GPUs, each given to one attempt at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from broker_core.jdl.resource_request import same_model
from broker_core.sites.contract import LaunchOrder, SiteRefused
from broker_core.sites.gpus import Gpu, gpus_here

log = logging.getLogger("crossdesk.sites")
_INTERVAL = 60.0
"""Seconds between two looks at which GPUs other programs use."""


class Capacity:
    """How much there is, and which attempt has what of it."""

    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        self.free = cpus
        self._gpus: Sequence[Gpu] | None = None
        """None: the driver has not answered yet."""
        self._asked = asyncio.Event()
        """Set once it was asked, whether it answered or not."""
        self._given: dict[str, Sequence[str]] = {}
        """Tag of an attempt to the ids of its GPUs."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Find the GPUs and say so, and look again for as long as there are any."""
        while True:
            before = self._gpus
            try:
                found = await gpus_here()
            except OSError as error:  # the machine is short of processes or descriptors
                log.warning("The GPUs of this machine could not be asked after: %s", error)
                found = None
            if found or self._gpus is None:  # a driver that does not answer now has not lost them
                self._gpus = found
            self._asked.set()
            if self._gpus != before:
                changed()
            if self._gpus is not None and not self._gpus:
                return
            await asyncio.sleep(_INTERVAL)

    def gpus(self) -> list[Gpu] | None:
        """All of them, used where an attempt or a program has them; None: not known yet."""
        if self._gpus is None:
            return None
        taken = self._taken()
        return [Gpu(one.id, one.model, one.used or one.id in taken) for one in self._gpus]

    async def ready(self, order: LaunchOrder) -> None:
        """Wait until `check` can say something about an order."""
        if order.request.gpus:
            await self._asked.wait()

    def check(self, order: LaunchOrder, site: str) -> None:
        """Raise SiteRefused for what this machine never has, or does not know."""
        if order.request.gpus and self._gpus is None:
            raise SiteRefused(
                "NVIDIA's driver does not say which GPUs there are.", place=site, remedy="Try `nvidia-smi`."
            )
        if lacking := self.lacking(order):
            raise SiteRefused(lacking, place=site, remedy="Ask for fewer, or choose another site.")

    def lacking(self, order: LaunchOrder) -> str:
        """Why an order can never be carried out, in a sentence; empty: it can, or that is not known yet."""
        wanted = order.request
        if not 0 < order.cpus <= self.cpus:
            return f"{order.cpus} processors are asked for; this site has {self.cpus}."
        if self._gpus is None or wanted.gpus <= (most := len(self._fitting(wanted.gpu_model))):
            return ""
        of = f" of model {wanted.gpu_model}" if wanted.gpu_model else ""
        return f"The job needs {wanted.gpus} GPU{'s' * (wanted.gpus > 1)}{of}; this site has {most}."

    def take(self, order: LaunchOrder) -> bool:
        """Give an attempt all that it needs, GPUs that nobody uses first; false: not all of it is free."""
        wanted, taken = order.request, self._taken()
        left = [one for one in self._fitting(wanted.gpu_model) if one.id not in taken]
        if order.cpus > self.free or wanted.gpus > len(left):
            return False
        chosen = sorted(left, key=lambda one: one.used)[: wanted.gpus]
        self.keep(order, [one.id for one in chosen])
        return True

    def keep(self, order: LaunchOrder, gpus: Sequence[str]) -> None:
        """Count what an attempt has already."""
        self.free -= order.cpus
        if gpus:
            self._given[order.attempt.tag] = gpus

    def give_back(self, order: LaunchOrder) -> None:
        """The attempt is over."""
        self.free += order.cpus
        self._given.pop(order.attempt.tag, None)

    def gpus_of(self, order: LaunchOrder) -> Sequence[str]:
        """Ids of the GPUs that an attempt has."""
        return self._given.get(order.attempt.tag, ())

    def _fitting(self, model: str) -> list[Gpu]:
        return [one for one in self._gpus or () if not model or same_model(model, one.model)]

    def _taken(self) -> set[str]:
        return {id for ids in self._given.values() for id in ids}
