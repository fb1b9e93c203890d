"""Attempts for a computing element."""

from __future__ import annotations

from pathlib import Path

from broker_core.jobs.placement import Component
from broker_core.sites.adapter import Launch
from broker_core.sites.contract import InputFile, LaunchOrder


def launch(
    folder: Path,
    job: str,
    script: str,
    *,
    queue: str = "fork",
    inputs: tuple[InputFile, ...] = (),
    **more: object,
) -> Launch:
    """A launch of a shell script."""
    program = folder / f"{job}.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    given: dict[str, object] = {
        "cpus": 1,
        "arguments": "",
        "environment": (),
        "outputs": (),
        "stdin": "",
        "stdout": "out",
        "stderr": "err",
    }
    order = LaunchOrder(
        attempt=Component(job, 1),
        executable="./program",
        inputs=(InputFile("program", program, True), *inputs),
        **given | more,  # type: ignore[arg-type]
    )
    return Launch(order, queue)
