"""Pools and expressions over them, by chance from a seed."""

from __future__ import annotations

import random
from typing import Any

from broker_core.resources.record import Resource
from tests.jdl import expressions_made

NAMES = (
    "GlueHostMainMemoryRAMSize",
    "GlueHostOperatingSystemName",
    "GlueHostApplicationSoftwareRunTimeEnvironment",
    "GLUE2ApplicationEnvironmentAppName",
    "GlueHostNetworkAdapterOutboundIP",
    "GlueCEStateEstimatedResponseTime",
    "GlueCEStateStatus",
    "GLUE2ComputingManagerTotalSlots",
    "GlueHostBenchmarkSI00",
)
COUNTED = ("GlueCEInfoTotalCPUs", "GlueCEStateFreeCPUs", "GLUE2ComputingShareWaitingJobs", "GlueHostFreeCPUs")
NUMBERS: tuple[Any, ...] = (0, 1, -3, 512, 2**53 + 1, 2**63 - 1, -(2**63), 0.0, -0.0, 2.5, 1e308)
VALUES: tuple[Any, ...] = (
    *NUMBERS, float("nan"), float("inf"), True, False, "512", "", "Linux", "LINUX", "true",
    ["a", "B"], [], ["12", "root"],
)  # fmt: skip
_OWN = ("Own", "Twice", "Wish", "Loop", "NodeNumber")
OWN = (
    "Own = 5; Twice = Own * 2; NodeNumber = 3; Loop = Loop + 1; "
    "Wish = other.GlueHostBenchmarkSI00 * NodeNumber > other.GlueCEStateFreeCPUs;"
)
"""Attributes of the job that expressions read."""
_INFIX = [*expressions_made.INFIX, "&&", "||", "&&", "||", "<", ">=", "+", "-", "*", "/"]


def resources(chance: random.Random, count: int) -> list[Resource]:
    """Computing elements that publish this and that; some attributes are of one kind, as is usual."""
    kinds = {name: chance.choice((NUMBERS[:4], NUMBERS, VALUES, (True, False))) for name in NAMES}
    return [_resource(chance, number, kinds) for number in range(count)]


def _resource(chance: random.Random, number: int, kinds: dict[str, tuple[Any, ...]]) -> Resource:
    known = {name: chance.choice(kind) for name, kind in kinds.items() if chance.random() < 0.7}
    total = chance.randint(0, 40)
    free = chance.randint(0, total)
    name = f"site{number % 5}"
    ce = f"ce{chance.randint(0, 10**6)}.{name}:2119/jobmanager-pbs-q{number}"
    return Resource(ce, name, total, free, total - free, chance.randint(0, 3), 0.0, known)


def expression(chance: random.Random, depth: int) -> str:
    """An expression of at most `depth` levels that reads the resource and the job."""
    kind = chance.random()
    if depth == 0 or kind < 0.1:
        return _leaf(chance)
    if kind < 0.75:
        sides = [expression(chance, depth - 1) for _ in range(2)]
        return f"({sides[0]} {chance.choice(_INFIX)} {sides[1]})"
    if kind < 0.82:
        return chance.choice("-+!~") + "(" + expression(chance, depth - 1) + ")"
    if kind < 0.92:
        parts = [expression(chance, depth - 1) for _ in range(3)]
        return chance.choice(("({} ? {} : {})", "ifThenElse({}, {}, {})")).format(*parts)
    if kind < 0.94:
        return f"(({expression(chance, depth - 1)}) ?: ({expression(chance, depth - 1)}))"
    name = chance.choice(sorted(expressions_made.FUNCTIONS))
    count = expressions_made.FUNCTIONS[name]
    return f"{name}({', '.join(expression(chance, depth - 1) for _ in range(count))})"


def _leaf(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.4:
        return f"other.{chance.choice(NAMES)}"
    if kind < 0.65:
        return f"other.{chance.choice(COUNTED)}"
    if kind < 0.75:
        return chance.choice(_OWN)
    return chance.choice((*expressions_made.LITERALS, "2", "100", "1.5", '"Linux"', "other.Unknown"))
