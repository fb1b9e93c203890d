# ruff: noqa: E501 - one reason a line reads best as a table
"""Every attribute that is known, by its lower-case name: for checks, completion and help."""

from __future__ import annotations

from broker_core.jdl.attributes import (
    crossbroker as attributes_crossbroker,
)
from broker_core.jdl.attributes import (
    data as attributes_data,
)
from broker_core.jdl.attributes import (
    glite as attributes_glite,
)
from broker_core.jdl.attributes import (
    other as attributes_other,
)
from broker_core.jdl.attributes import (
    software as attributes_software,
)
from broker_core.jdl.attributes import (
    system as attributes_system,
)
from broker_core.jdl.attributes.attribute import Attribute

_TABLES = (
    attributes_crossbroker.JOB,
    attributes_crossbroker.NODES,
    attributes_crossbroker.NODE,
    attributes_crossbroker.COMPONENT,
    attributes_glite.JOB,
    attributes_glite.COMPOUND,
    attributes_data.DATA,
    attributes_other.CREAM,
    attributes_other.DIRAC,
    attributes_other.CROSSDESK,
    attributes_software.SOFTWARE,
    attributes_system.SYSTEM,
)

ATTRIBUTES: dict[str, Attribute] = {}
"""Lower-case name to attribute; where two dialects share a name, CrossBroker's meaning holds."""

for _table in _TABLES:
    for _attribute in _table:
        ATTRIBUTES.setdefault(_attribute.name.lower(), _attribute)

USER_ATTRIBUTES: tuple[Attribute, ...] = tuple(a for a in ATTRIBUTES.values() if a.place != "system")
"""Those that a user writes, in the order of the tables."""

_OUTPUT = "output comes back to you; have the program store files elsewhere"
_CHECKPOINTS = "checkpointable and partitionable jobs are no longer run"
_IN_OUTPUT_DATA = "it stands in the ads of OutputData"
_IGNORED = f"""
OutputData | {_OUTPUT}
OutputPath | {_OUTPUT}
DSUpload | {_OUTPUT}
OutputFile | {_IN_OUTPUT_DATA}
StorageElement | {_IN_OUTPUT_DATA}
LogicalFileName | {_IN_OUTPUT_DATA}
DataCatalog | it stands in the ads of DataRequirements
DataCatalogType | it stands in the ads of DataRequirements
StorageIndex | the broker looks files up in the catalogue of its settings ([replicas])
MyProxyServer | credentials are not renewed while a job runs
HLRLocation | nothing is charged by this broker; name an Account of the site
JobProvenance | records stay with this broker (crossdesk job logging-info)
LBAddress | records stay with this broker (crossdesk job logging-info)
UserContact | no mail is sent; the desktop tells of ends, and crossdesk job wait awaits them
NotificationType | no mail is sent; the desktop tells of ends, and crossdesk job wait awaits them
PerusalFilesDestURI | files are read while the job runs, and copied nowhere
ListenerHost | the desktop that submits a job listens itself
ListenerPort | the desktop that submits a job listens itself
ListenerPipeName | the desktop that submits a job listens itself
NodesCollocation | each job of a compound request is matched by itself; write SubmitTo
MoveToCE | jobs stay with the broker until they end
EnableWmsFeedback | a job that waits at a site stays there until you have it run elsewhere
ShortDeadlineJob | a job waits for its turn; write Interactive = true for one that starts at once or not at all
CPUTime | CPU time is not limited; write WallTime
JobSteps | {_CHECKPOINTS}
CurrentStep | {_CHECKPOINTS}
JobState | {_CHECKPOINTS}
StateId | {_CHECKPOINTS}
UserData | {_CHECKPOINTS}
StepWeight | {_CHECKPOINTS}
PartitionNumber | {_CHECKPOINTS}
Prejob | {_CHECKPOINTS}
Postjob | {_CHECKPOINTS}
Priority | jobs of one owner start in the order of their submission; words for a site's own priority go into BatchOptions
Platform | its names are those of DIRAC; compare other.GlueHostArchitecturePlatformType in Requirements
MinNumberOfProcessors | a job has a fixed number of CPUs; write NumberOfProcessors or CpuNumber
MaxNumberOfProcessors | a job has a fixed number of CPUs; write NumberOfProcessors or CpuNumber
InputDataModule | the program reads its input data itself
InputDataPolicy | the program reads its input data itself
"""
_NOT_NEEDED = """
AllowZippedISB | files are packed for each transfer anyway
PerusalFileEnable | all files of a running job can be read anyway
PerusalTimeInterval | all files of a running job can be read at any time
SignificantAttributes | the broker finds out by itself which jobs are alike
Owner | the owner is who submits
LogLevel | all that the starter of a job reports is kept
"""


def _reasons(rows: str) -> dict[str, str]:
    pairs = (line.split(" | ", 1) for line in rows.strip().splitlines())
    return {name.lower(): reason for name, reason in pairs}


WITHOUT_EFFECT: dict[str, str] = _reasons(_IGNORED)
"""Lower-case names of attributes that are understood and not acted on, with the reason and what to do."""
NOT_NEEDED: dict[str, str] = _reasons(_NOT_NEEDED)
"""Those that ask for what holds anyway, with what that is."""
