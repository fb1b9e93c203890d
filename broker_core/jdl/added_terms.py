"""Terms that are added to Requirements, and defaults of Requirements and Rank, by the broker's dialect.

The number of CPUs is no term here: matching compares it with every resource of a job on one site, and with
groups of them for a job over several sites.
"""

from __future__ import annotations

from functools import lru_cache

from broker_core.jdl.checks.kind import DescriptionKind
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.parse import parse_expression
from broker_core.jdl.syntax.tree import Ad, Binary, Entry, Expression

_PRODUCTION = 'other.GlueCEStateStatus == "Production"'
_SHORTEST = "-other.GlueCEStateEstimatedResponseTime"
_FREEST = "other.GlueCEStateFreeCPUs"
_SHORT_DEADLINE = 'RegExp(".*sdj$", other.GlueCEUniqueID)'


def with_terms(reading: Reading, kind: DescriptionKind) -> Ad:
    """The description with its Requirements and Rank as matching has to see them."""
    dialect = reading.limits.dialect
    wanted, rank = reading.node("requirements"), reading.node("rank")
    if dialect == "glite":
        wanted = wanted or _tree(_PRODUCTION)
        rank = rank or _tree(_FREEST if kind.structure == "Parallel" else _SHORTEST)
    elif dialect == "cream":
        wanted, rank = reading.node("cerequirements"), None
    for text in _terms(reading, kind, dialect):
        wanted = (
            _tree(text)
            if wanted is None
            else Binary("&&", wanted, _tree(text), start=wanted.start, end=wanted.end)
        )
    if wanted is reading.node("requirements") and rank is reading.node("rank"):
        return reading.ad
    return _replaced(reading.ad, {"Requirements": wanted, "Rank": rank})


def _terms(reading: Reading, kind: DescriptionKind, dialect: str) -> list[str]:
    found = []
    cores = reading.integer("smpgranularity") or 0
    hosts = reading.integer("hostnumber") or 0
    if hosts > 0 and not reading.true("wholenodes"):
        cores = max(cores, -(-kind.cpus // hosts))
    if cores > 1 and "inter-cluster" not in kind.needs:
        found.append(f"other.GlueHostArchitectureSMPSize >= {cores}")
    if dialect == "glite" and kind.interactive:
        found.append("other.GlueHostNetworkAdapterOutboundIP")
    if dialect == "glite" and reading.true("shortdeadlinejob"):
        found.append(_SHORT_DEADLINE)
    return found


def _replaced(ad: Ad, values: dict[str, Expression | None]) -> Ad:
    entries = dict(ad.entries)
    for name, value in values.items():
        old = entries.pop(name.lower(), None)
        if value is not None:
            places = (old.start, old.name_end, old.value_start, old.value_end, old.end) if old else ()
            entries[name.lower()] = Entry(old.name if old else name, value, *places)
    return Ad(entries, start=ad.start, end=ad.end)


@lru_cache(maxsize=256)
def _tree(text: str) -> Expression:
    tree, _ = parse_expression(text)
    assert tree is not None, text
    return tree
