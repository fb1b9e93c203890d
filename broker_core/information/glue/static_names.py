"""Which attributes of a resource change while it works; all others stay as they are."""

from __future__ import annotations

import re

from broker_core.information.glue.join_glue1 import COUNTRY
from broker_core.jdl.glue.attributes import GLUE

_CHANGING = re.compile(
    r"GlueCEState|GlueHostFreeCPUs|GlueHost.*(?:Load|Available)|"
    r"GLUE2Computing(?:Share|Service|Endpoint|Manager)(?!Max).*(?:Jobs$|FreeSlots|WaitingTime$|UsedSlots|RequestedSlots"
    r"|ServingState|SlotsUsed|Free$)|GLUE2Endpoint(?:HealthState|ServingState|Downtime)|"
    r"GLUE2ExecutionEnvironmentU(?:sed|navailable)Instances|(?:NodeTypes|GPUsFree|LicenseUse)$"
)

STATIC = frozenset(
    (COUNTRY, *(attribute.name for attribute in GLUE.values() if not _CHANGING.match(attribute.name)))
)
"""Names of the attributes that say what a resource is, not how it is doing."""
