"""What matching must know besides the description and the resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from broker_core.jdl.evaluation.environment import NOWHERE, EvaluationEnvironment
from broker_core.matching.sets.collective import CollectiveCondition
from broker_core.matching.sets.find import MAX_CES, MAX_GROUPS
from broker_core.resources.tags import MPI_TAGS, SLOTS_TAG


@dataclass(frozen=True, slots=True)
class Owner:
    """Who wants to run the job, as sites decide whom they let in (CB-MM-02)."""

    vos: frozenset[str] = frozenset()
    """Virtual organisations of the owner's credential."""
    groups: frozenset[str] = frozenset()
    """Groups and roles in them: `/biomed/lcg/Role=production`."""


@dataclass(frozen=True, slots=True)
class Context:
    """Settings and circumstances of one match; all defaults are those of the embedded broker.

    A context that is kept and used again makes matching faster than one made anew with equal contents.
    """

    site: str = ""
    """The only site (its name or computing element) that may be used; empty: any."""
    batch_capacity: str = "total"
    """What a batch job's CPUs are compared with: `total`, so that it may wait there, or `free` (CB-MM-05)."""
    max_site_queue: int = 100
    """A site with more waiting jobs comes last (CB-SCH-05a)."""
    abilities: frozenset[str] = frozenset()
    """What the broker itself can do, e.g. `workflow` (the words of `JobDescription.needs`)."""
    assume_abilities: bool = False
    """What broker and adapters can do is taken for granted; what sites publish is not."""
    mpi_tags: Mapping[str, str] = field(default_factory=lambda: MPI_TAGS)
    slots_tag: str = SLOTS_TAG
    """Pattern with the groups `queue` and `count` (CB-TAG-03)."""
    owner: Owner | None = None
    """Compared with the access rules that sites publish; None: every site lets the owner in."""
    close: Mapping[str, int] = field(default_factory=dict)
    """Computing element to the number of files of InputData with a replica near to it (CB-SCH-04)."""
    now: float | None = None
    """Seconds since the epoch, for `time()` in expressions."""
    surroundings: EvaluationEnvironment = NOWHERE
    """Chance and users, for `random()` and others in expressions."""
    fuzzy_seed: int = 0
    """For a job with FuzzyRank: the same seed gives the same order."""
    set_mode: str = "minimal"
    """How sets of computing elements are built: minimal, listing or incremental (CB-SET-09)."""
    collective: Mapping[str, CollectiveCondition] = field(default_factory=dict)
    """Conditions on sets by the name that descriptions have for them (SA-SEL-05)."""
    max_ces_per_set: int = MAX_CES
    max_groups: int = MAX_GROUPS

    def queue_limit(self, interactive: bool) -> int:
        """Waiting jobs from which a site comes last; interactive jobs never queue (CB-SCH-08)."""
        return 0 if interactive else self.max_site_queue

    @property
    def demands(self) -> tuple[object, ...]:
        """What the broker's own conditions depend on; equal for contexts that demand the same."""
        return (
            self.site,
            self.batch_capacity,
            self.abilities,
            self.assume_abilities,
            id(self.mpi_tags),
            self.slots_tag,
            self.owner,
        )


DEFAULT = Context()
