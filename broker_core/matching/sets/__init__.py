"""Matching one job with a set of computing elements (CB-SET, SA-SEL). Pure."""

from broker_core.matching.sets.find import MAX_CES, MAX_GROUPS, MODES, find
from broker_core.matching.sets.group import Group, calculation
from broker_core.matching.sets.trace import SearchTrace

__all__ = ["MAX_CES", "MAX_GROUPS", "MODES", "Group", "SearchTrace", "calculation", "find"]
