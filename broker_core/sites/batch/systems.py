"""All batch systems, by kind; the order is that in which they are preferred where a host has several."""

from __future__ import annotations

from broker_core.sites.batch.condor import Condor
from broker_core.sites.batch.condor_bindings import CondorBindings, installed
from broker_core.sites.batch.grid_engine import GridEngine
from broker_core.sites.batch.host import Host
from broker_core.sites.batch.lsf import Lsf
from broker_core.sites.batch.pbs import Pbs
from broker_core.sites.batch.slurm import Slurm
from broker_core.sites.batch.system import BatchSystem
from broker_core.wire.sites import SiteSpec

_ALL: tuple[BatchSystem, ...] = (Slurm(), GridEngine(), Pbs(), Lsf(), Condor(), Host())
SYSTEMS: dict[str, BatchSystem] = {system.kind: system for system in _ALL}


def system_for(spec: SiteSpec) -> BatchSystem:
    """The one for the kind of a site; HTCondor by its bindings where they are, if it is reached from here."""
    if spec.kind == Condor.kind and not spec.host and installed():
        return CondorBindings()
    if spec.kind == Slurm.kind and spec.cluster:
        return Slurm(spec.cluster)
    return SYSTEMS[spec.kind]
