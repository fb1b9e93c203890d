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
