"""One resource with all that the cache knows of it, as it is shown (CB-UI-09)."""

from __future__ import annotations

from typing import Any

from broker_core.broker.api.views.equipment import equipment
from broker_core.broker.api.views.resource_marks import lock_until, marks
from broker_core.errors import NotFound
from broker_core.reactor.reactor import Now
from broker_core.resources.cache import ResourceCache
from broker_core.resources.commitments import Commitment as Given
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.observation import Observation
from broker_core.wire.resources import AttributeView, CommitmentView, ResourceDetail


def resource_detail(cache: ResourceCache, name: str, now: Now) -> ResourceDetail:
    """Everything known of a computing element, or of the first one of a site; raises NotFound.

    A name is compared without regard to case."""
    pool = cache.pool(now.monotonic)
    ces = _named(cache, name)
    entry = cache.entries[ces[0]]
    lock = cache.lock_of(entry.ce, now.monotonic)
    history = entry.history
    attributes = _attributes(entry)
    return ResourceDetail(
        ce=entry.ce,
        site=entry.site,
        attributes=attributes,
        marks=marks(cache, pool, entry, now),
        commitments=_commitments(cache.commitments_at(entry.ce), entry),
        lock_owner=lock.owner if lock else "",
        lock_until=lock_until(lock, now) if lock else None,
        access=entry.account,
        ces=ces,
        total_cpus=entry.total,
        free_cpus=entry.free,
        published_free=entry.published_free,
        committed=entry.given,
        counted=entry.seen,
        running_jobs=entry.running,
        waiting_jobs=entry.waiting,
        times=list(history.times),
        free=list(history.free),
        waiting=list(history.waiting),
        **equipment({one.name.lower(): one.value for one in attributes}),
    )


def _named(cache: ResourceCache, name: str) -> list[str]:
    """Computing elements of a name, at least one."""
    if name in cache.entries:
        return [name]
    wanted = name.lower()
    found = [ce for ce, one in cache.entries.items() if wanted in (one.site.lower(), ce.lower())]
    if not found:
        raise NotFound(
            "No such resource is known.", place=name, remedy="`crossdesk site list --all` shows all."
        )
    return sorted(found)


def _attributes(entry: ResourceEntry) -> list[AttributeView]:
    """The newest value of each attribute, with the older, different ones of other sources (CB-CACHE-02)."""
    found: dict[str, AttributeView] = {}
    newest_first = sorted(entry.hearings.items(), key=lambda one: one[1].monotonic, reverse=True)
    for source, hearing in newest_first:
        for key, name, value in zip(hearing.shape.keys, hearing.shape.names, hearing.values, strict=True):
            known = found.get(key)
            if known is None:
                found[key] = _view(name, _plain(value), source, hearing)
            elif known.value != _plain(value):
                known.others[source] = _plain(value)
    return [found[key] for key in sorted(found)]


def _view(name: str, value: Any, source: str, hearing: Observation) -> AttributeView:
    static = name in hearing.static
    return AttributeView(name=name, value=value, source=source, heard=hearing.time, static=static)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _commitments(given: dict[str, Given], entry: ResourceEntry) -> list[CommitmentView]:
    """Those made first are seen first in the figures that the site publishes (CB-CACHE-06)."""
    seen, views = entry.seen, []
    for job, one in sorted(given.items(), key=lambda pair: pair[1].since):
        visible = seen >= one.cpus
        seen -= one.cpus if visible else 0
        views.append(CommitmentView(job=job, cpus=one.cpus, visible=visible))
    return views
