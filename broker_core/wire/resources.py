"""What the Resource Cache holds, as it is shown (CB-UI-09)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.wire.site_states import SourceCondition
from broker_core.wire.submission import Wire

RESOURCE_COLUMNS = (
    "ce",
    "site",
    "country",
    "latitude",
    "longitude",
    "lrms",
    "total_cpus",
    "free_cpus",
    "committed",
    "running",
    "waiting",
    "updated",
    "sources",
    "marks",
    "lock_owner",
    "lock_until",
    "tags",
    "access",
)
"""Names of the columns of a resources page. `committed`: CPUs given to jobs not yet visible there; `updated`:
seconds since the epoch; `sources`: names with commas; `marks`: words with commas out of stale, down, bad,
drained, throttled; `tags`: number of run-time tags; `access`: true if the broker can send jobs there."""


class ResourcesPage(Wire):
    """A page of the cache by columns, ordered by computing element."""

    columns: dict[str, list[Any]]
    total: int
    generation: int
    """Rises with each change of the cache; the next page of another generation may repeat or miss rows."""
    offset: int = 0
    now: float = 0.0
    """The broker's clock, seconds since the epoch."""


class GpuCount(Wire):
    """GPUs of one model."""

    model: str
    """As the site names it; empty: it does not."""
    total: int
    free: int


def gpu_words(gpus: Sequence[GpuCount]) -> str:
    """`12 of 64 GPUs free`, with the models where there are several; empty where there are none."""
    total = sum(one.total for one in gpus)
    if not total:
        return ""
    named = [f"{one.free} of {one.total} {one.model}" for one in gpus if one.model]
    if len(gpus) == 1:
        model = f" {gpus[0].model}" if gpus[0].model else ""
        return f"{gpus[0].free} of {total}{model} {'GPU' if total == 1 else 'GPUs'} free"
    whole = f"{sum(one.free for one in gpus)} of {total} GPUs free"
    return f"{whole} ({', '.join(named)})" if named else whole


class NodeTypeView(Wire):
    """Nodes that are alike."""

    count: int
    cpus: int
    """Of each, as the batch system gives them out."""
    memory: int = 0
    """MiB of each; 0: not known."""
    gpus: int = 0
    """Of each."""
    gpu_model: str = ""
    gpus_free: int = 0
    """Of all of them together."""
    features: list[str] = []
    machine: str = ""
    model: str = ""
    """Of the processor."""
    system: str = ""


class AccountView(Wire):
    """An account that the user of the site may charge."""

    name: str
    default: bool = False
    """It is charged unless another one is named."""
    qos: list[str] = []
    default_qos: str = ""
    limits: str = ""
    """In words; empty: none are known."""


class QosView(Wire):
    """A quality of service that jobs may ask for."""

    name: str
    limits: str = ""
    """In words; empty: none are known."""


class LicenseView(Wire):
    """Licenses that the batch system counts."""

    name: str
    total: int
    free: int


class TagView(Wire):
    """A run-time tag that some sites show."""

    name: str
    sites: list[str]


class AttributeView(Wire):
    """One attribute of a resource with its origin."""

    name: str
    """GLUE name."""
    value: Any
    source: str
    heard: float
    """Seconds since the epoch."""
    static: bool = False
    others: dict[str, Any] = {}
    """Source to its older, different value."""


class CommitmentView(Wire):
    """CPUs given to a job."""

    job: str
    cpus: int
    visible: bool
    """The site's own figure counts it already."""


class ResourceDetail(Wire):
    """Everything known of one computing element."""

    ce: str
    site: str
    attributes: list[AttributeView]
    marks: dict[str, str] = {}
    """Mark to its reason in words, with what ends it."""
    commitments: list[CommitmentView] = []
    lock_owner: str = ""
    lock_until: float | None = None
    access: bool = True
    ces: list[str] = []
    """All computing elements that the asked name means, in order: several for the name of a site."""
    total_cpus: int = 0
    free_cpus: int = 0
    """Effective free CPUs of now: what was published, less what was given to jobs and is not in it yet."""
    published_free: int = 0
    committed: int = 0
    """CPUs given to jobs of this broker, and not returned."""
    counted: int = 0
    """The part of them that the published figure counts already."""
    running_jobs: int = 0
    waiting_jobs: int = 0
    """Jobs at the site, as published."""
    nodes: list[NodeTypeView] = []
    """Its nodes by what they have, the largest first; empty: not known."""
    gpus: list[GpuCount] = []
    accounts: list[AccountView] = []
    qos: list[QosView] = []
    licenses: list[LicenseView] = []
    times: list[float] = []
    """History, oldest first, at most a day: moments, seconds since the epoch."""
    free: list[int] = []
    waiting: list[int] = []


class SourceView(Wire):
    """One updater: where knowledge comes from, and how it does (CB-UPD-01)."""

    name: str
    kind: str
    """local, ldap, file, rgma, ..."""
    state: SourceCondition
    reason: str = ""
    """In words, with the remedy, unless it is ok."""
    address: str = ""
    interval: float = 120.0
    last_started: float | None = None
    last_heard: float | None = None
    duration: float | None = None
    """Seconds that the last answer took."""
    resources: int = 0
    """Computing elements that it knows."""
    next: float | None = None
    silent: list[str] = []
    """Parts (sites of an index) that did not answer last time."""
    refused: int = 0
    """Values and entries of the last answer that were refused, because they cannot be."""
    remarks: list[str] = []
    """The first of those in words: who says what, and why it was refused."""

    def refusals(self, most: int = 3) -> list[str]:
        """Lines about what was refused: the first remarks, and how many more there are."""
        if not self.refused:
            return []
        told = self.remarks[:most]
        more = self.refused - len(told)
        return [*told, f"{more:,} more refused"] if told and more > 0 else told
