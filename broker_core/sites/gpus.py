"""The GPUs of one host, as NVIDIA's driver tells of them (`nvidia-smi`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from broker_core.resources.node_types import NodeType
from broker_core.sites.local_shell import printed_here

_ASK = """
! command -v nvidia-smi >/dev/null 2>&1 || {
nvidia-smi --query-compute-apps=gpu_uuid --format=csv,noheader | sed 's/^/used /'
nvidia-smi --query-gpu=uuid,name --format=csv,noheader | sed 's/^/gpu /'
}
echo end
"""
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU."""

    id: str
    """As `CUDA_VISIBLE_DEVICES` takes it."""
    model: str
    used: bool = False
    """A program is in it, or a job has it."""


def gpus_in(out: str) -> list[Gpu]:
    """The GPUs of lines `used ID` and `gpu ID, MODEL`; other lines, such as errors, are left out."""
    lines = [line.strip() for line in out.splitlines()]
    used = {line.removeprefix("used ") for line in lines if line.startswith("used ")}
    found = (line.removeprefix("gpu ").partition(", ") for line in lines if line.startswith("gpu "))
    return [Gpu(id, model, id in used) for id, _, model in found if id and model]


def gpu_nodes(gpus: Iterable[Gpu], cpus: int, memory: int) -> list[NodeType]:
    """A host with these GPUs, `memory` in MiB: an entry for each model, and one if there is none."""
    here = list(gpus)
    models = Counter(one.model for one in here)
    free = Counter(one.model for one in here if not one.used)
    types = [NodeType(1, cpus, memory, count, model, free[model]) for model, count in models.items()]
    return types or [NodeType(1, cpus, memory)]


async def gpus_here() -> Sequence[Gpu] | None:
    """Those of this machine; None where the driver does not answer in time. Raises OSError."""
    out = await printed_here(_ASK, seconds=_SECONDS)
    return gpus_in(out) if out.endswith("end\n") else None
