"""The variables with which a Job Starter is run (CB-JS-03)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.worker.encoding import encode, encode_list

BLOCK = 512
"""Bytes in a unit of `__file_limit`."""
MARK = "CROSSDESK_ATTEMPT"
"""Variable that every process of an attempt has in its environment, with the attempt's tag."""


@dataclass(frozen=True, slots=True)
class StarterOrder:
    """What one start of the Job Starter is about, as plain values."""

    job: str
    tag: str
    directory: Path
    program: str
    arguments: Sequence[str]
    environment: Iterable[tuple[str, str]]
    inputs: Iterable[str]
    outputs: Iterable[str]
    stdin: str
    stdout: str
    stderr: str
    nodes: int = 1
    subjob_index: int = 0
    wall_limit: float | None = None
    """Seconds."""
    file_limit: int = 0
    """Bytes that one file may have; 0: no limit."""
    kill_grace: int = 5
    """Seconds between asking to end and ending."""
    interactive: bool = False
    agents: Sequence[tuple[str, str]] = ()
    """Paths of agents, best first, each with the SHA-256 that it must have; empty: any."""
    agent_arguments: Sequence[str] = ()
    notice: str = ""
    """FIFO that hears of the start."""
    news: str = ""
    """Directory for news to a broker that looks in from afar."""
    beat: int = 0
    """Seconds between two signs of life; 0: none."""
    lease: int = 0
    """Seconds that the program may run without a change of `lease_file`; 0: for ever. Needs `beat`."""
    lease_file: str = ""


def variables(order: StarterOrder) -> dict[str, str]:
    """Name to encoded value; empty values are left out. Raises ValueError for a zero byte."""
    limit = order.wall_limit
    values = {
        "__jobid": order.job,
        "__attempt": order.tag,
        "__directory": encode(str(order.directory)),
        "__environment": encode_list(f"{name}={value}" for name, value in order.environment),
        "__input_file": encode_list(order.inputs),
        "__job": encode(order.program),
        "__arguments": encode_list(order.arguments),
        "__standard_input": encode(order.stdin),
        "__standard_output": encode(order.stdout),
        "__standard_error": encode(order.stderr),
        "__interactive": "1" if order.interactive else "0",
        "__interactive_agent": encode_list(path for path, _ in order.agents),
        "__agent_sums": encode_list(sha256 for _, sha256 in order.agents),
        "__interactive_agent_args": encode_list(order.agent_arguments),
        "__nodes": str(order.nodes),
        "__subjob_index": str(order.subjob_index),
        "__output_file": encode_list(order.outputs),
        "__wall_limit": f"{limit:.3f}".rstrip("0").rstrip(".") if limit is not None else "",
        "__kill_grace": str(order.kill_grace),
        "__file_limit": str(max(1, order.file_limit // BLOCK)) if order.file_limit else "",
        "__notice": order.notice,
        "__news": encode(order.news),
        "__beat": str(order.beat) if order.beat else "",
        "__lease": str(order.lease) if order.lease else "",
        "__lease_file": encode(order.lease_file) if order.lease else "",
        MARK: order.tag,
    }
    return {name: value for name, value in values.items() if value}
