"""Who reads of jobs outside CrossDesk, by batch system."""

from __future__ import annotations

from broker_core.sites.batch.condor_bindings import CondorBindings
from broker_core.sites.batch.outside.condor import CondorOutside
from broker_core.sites.batch.outside.grid_engine import GridEngineOutside
from broker_core.sites.batch.outside.lsf import LsfOutside
from broker_core.sites.batch.outside.pbs import PbsOutside
from broker_core.sites.batch.outside.reader import OutsideReader
from broker_core.sites.batch.outside.slurm import SlurmOutside
from broker_core.sites.batch.slurm import Slurm
from broker_core.sites.batch.system import BatchSystem

_READERS: dict[str, OutsideReader] = {
    "sge": GridEngineOutside(),
    "pbs": PbsOutside(),
    "lsf": LsfOutside(),
    "condor": CondorOutside(),
}


def reader_for(system: BatchSystem) -> OutsideReader | None:
    """The one for a batch system; None where the broker asks no such question, as by HTCondor's bindings."""
    if isinstance(system, Slurm):
        return SlurmOutside(system.prefix)
    return None if isinstance(system, CondorBindings) else _READERS.get(system.kind)
