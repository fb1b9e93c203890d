"""Which jobs need worker nodes with public addresses (CB-SET-13, CB-AL-09, SA-SEL-11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_core.jdl.description import JobDescription

PUBLIC_ONLY = frozenset({"mpich-g2"})
"""Kinds of parallel jobs whose processes call each other over the sites' borders without a relay."""
_INBOUND = "gluehostnetworkadapterinboundip"


def needs_public_addresses(description: JobDescription) -> bool:
    """True if every process must be reachable from the other sites."""
    return description.sub_job_type in PUBLIC_ONLY


def has_public_addresses(values: Mapping[str, Any]) -> bool:
    """True if a resource says so, in its values by lower-case name; private is to be expected (CB-ENV-03)."""
    return values.get(_INBOUND) is True
