"""How large a description may be; chosen so that no input costs more than it is worth."""

from __future__ import annotations

from dataclasses import dataclass

DESCRIPTION_MAX = 1_000_000
"""Bytes of a description in UTF-8, by default; client, desk and broker settings have it from here."""
DEPTH_MAX = 64
"""Brackets, signs and conditions within each other; also `.Name` and `[index]` in a row."""
TOKENS_MAX = 200_000
"""Words and signs of a description."""
LIST_MAX = 10_000
"""Items of one list."""
CONSTANT_STEPS = 1000
"""Nodes that one constant of a description may cost."""
DIALECTS = ("crossdesk", "glite", "cream")
"""CrossBroker's rules with what others add; gLite's defaults and demands; those of CREAM."""


@dataclass(slots=True)
class Budget:
    """What the whole of a description may cost; of its constants, those that are over are none."""

    steps: int = 20 * CONSTANT_STEPS
    inherited: int = 100_000
    """Items that the nodes of a graph or collection may have from the whole, all nodes together."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a broker allows; sizes in bytes."""

    description_max: int = DESCRIPTION_MAX
    input_sandbox_max: int = 1_000_000_000
    """The whole input sandbox of a job (CB-UAM-08): 1 GB on the embedded broker."""
    dialect: str = "crossdesk"
    """One of DIALECTS: whose rules hold where descriptions of different grids conflict."""
    brings_new: bool = True
    """What a job makes comes home where its description names no output; as published, nothing does."""
    catalogs: tuple[str, ...] | None = None
    """Catalogues of files that descriptions may have asked, besides the broker's own; None: any."""
    collective_conditions: tuple[str, ...] | None = None
    """Names of the conditions on sets that the broker has (SA-SEL-05); None: it is not known which."""


DEFAULT = Limits()
