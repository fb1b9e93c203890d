"""Sites as they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from broker_core.broker.api.views.equipment import gpu_counts, most_of_each
from broker_core.broker.api.views.resource_marks import throttled
from broker_core.broker.engine.engine import Engine
from broker_core.broker.site_management.link_views import link_view
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.information.runner import Updaters
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.placement import SLOT_SYSTEM, computing_element
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.node_types import NODE_TYPES, NodeType, node_types
from broker_core.resources.tags import listed
from broker_core.sites.contract import Site
from broker_core.system.clock import now
from broker_core.wire.sites import SITE_KINDS, SiteView

_NAMES = {
    "accounts": "Accounts",
    "qos": "QOSList",
    "features": "Features",
    "licenses": "Licenses",
    "reservations": "Reservations",
}
"""Field of a view to the attribute of computing elements with these names."""


class SiteViews:
    """Shows sites with what engine, registry and sources know of them."""

    def __init__(
        self, engine: Engine, sites: SiteDispatcher, registry: SiteRegistry, updaters: Updaters
    ) -> None:
        self._engine = engine
        self._sites = sites
        self._registry = registry
        self._updaters = updaters

    async def all(self, owner: str) -> list[SiteView]:
        """One view for each site, by name; the outcomes are those of the owner's jobs."""
        outcomes = await self._engine.store.outcomes_at_sites(owner)
        views = [self._view(site, outcomes) for site in self._sites.sites.values()]
        return sorted(views, key=lambda view: view.name)

    async def one(self, owner: str, name: str) -> SiteView:
        """The view of one site; raises NotFound."""
        self._registry.spec(name)
        return self._view(self._sites.sites[name], await self._engine.store.outcomes_at_sites(owner))

    def _view(self, site: Site, outcomes: dict[str, Counter[Outcome]]) -> SiteView:
        cache = self._engine.scheduler.cache
        cache.pool(now().monotonic)
        entries = [entry for entry in cache.entries.values() if computing_element(entry.ce).site == site.name]
        slots = [entry for entry in entries if computing_element(entry.ce).system == SLOT_SYSTEM]
        queues = [entry for entry in entries if entry not in slots]
        ended = outcomes.get(site.name, Counter())
        spec = self._registry.specs[site.name]
        view = SiteView(
            spec=spec,
            title=SITE_KINDS[spec.kind],
            link=link_view(site.link),
            ces=[*sorted(entry.ce for entry in queues), *sorted(entry.ce for entry in slots)],
            free_slots=sum(entry.published_free for entry in slots),
            total_slots=sum(entry.total for entry in slots),
            done=ended[Outcome.DONE],
            failed=ended[Outcome.FAILED],
            leaving=(leaving := self._registry.is_leaving(site.name)),
            removable=spec.kind != "local" and not leaving,
        )
        if spec.kind == "local":
            view.link.heard = now().wall
        if site.link.usable:
            view.stale = self._updaters.trouble(site.name).removeprefix(f"{site.name}: ")
        _count(view, queues)
        view.gpus = most_of_each(count for entry in entries for count in gpu_counts(self._nodes(entry)))
        for field, name in _NAMES.items():
            setattr(view, field, sorted({one for entry in entries for one in self._names(entry, name)}))
        tested = self._registry.nodes.of(site.name)
        view.nodes_see_directory, view.nodes_reach_network = tested.shared, tested.outbound
        view.speed = tested.speed
        self._judge(view, entries)
        self._follow(view)
        return view

    def _nodes(self, entry: ResourceEntry) -> list[NodeType]:
        return node_types(self._published(entry, NODE_TYPES))

    def _names(self, entry: ResourceEntry, name: str) -> tuple[str, ...]:
        return listed(self._published(entry, name))

    def _published(self, entry: ResourceEntry, name: str) -> Any:
        column = self._engine.scheduler.cache.board.pool.columns.column(name.lower())
        return None if column is None else column.value(entry.row)

    def _judge(self, view: SiteView, entries: Sequence[ResourceEntry]) -> None:
        """Whether the site is throttled for how it treated jobs lately."""
        reputation, moment = self._engine.scheduler.cache.reputation, now()
        throttles = [reputation.at(entry.ce, moment.monotonic) for entry in entries]
        view.throttled = next((throttled(one, moment) for one in throttles if one is not None), "")

    def _follow(self, view: SiteView) -> None:
        figures = self._engine.figures
        view.queued, view.running = figures.queued(view.name), figures.running(view.name)
        moment = now().wall
        view.per_hour = figures.per_hour(view.name, moment)
        view.recent_done = figures.outcome_per_hour(view.name, Outcome.DONE, moment)
        view.recent_failed = figures.outcome_per_hour(view.name, Outcome.FAILED, moment)
        course = figures.courses.get(view.name)
        if course is not None:
            view.times = list(course.times)
            view.history_queued, view.history_running = list(course.queued), list(course.running)


def _count(view: SiteView, entries: Sequence[ResourceEntry]) -> None:
    """CPUs of all queues; queues of a cluster share its processors, so the largest figure stands for all."""
    view.total_cpus = max((entry.total for entry in entries), default=0)
    # What was given out of one queue, and is not in its figures yet, is not free in the others either; what
    # came back since they were published is free at once, but for what glideins hold.
    hidden = sum(entry.given + entry.held - entry.held_seen for entry in entries)
    published = max((entry.published_free for entry in entries), default=0)
    view.free_cpus = max(0, min(published - hidden, view.total_cpus))
