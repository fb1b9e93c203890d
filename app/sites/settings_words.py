"""The settings of a site as lines for people. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from app.model import words

if TYPE_CHECKING:
    from broker_core.wire.sites import SiteSpec


def settings_lines(spec: SiteSpec) -> list[tuple[str, str]]:
    """Return name and value of each setting worth a line; defaults that say nothing are left out."""
    if spec.kind == "local":
        return [("Kind", "This machine: jobs run as your own processes")]
    lines = [
        ("Address", _address(spec)),
        ("Jump host", spec.jump),
        ("Directory", spec.directory or "~/.crossdesk"),
        ("Queues", ", ".join(spec.queues) or "all that are open"),
        ("Options", shlex.join(spec.options)),
        ("Variables", "\n".join(f"{name}={value}" for name, value in sorted(spec.environment.items()))),
        ("Proxy file", spec.proxy),
        ("Most jobs at once", f"{spec.max_jobs:,}" if spec.max_jobs else "no limit of the broker's"),
        ("Looked at", f"every {words.duration(spec.poll_interval)}, more rarely while nothing changes"),
        ("Lease", _lease(spec.lease)),
    ]
    return [(name, value) for name, value in lines if value]


def _address(spec: SiteSpec) -> str:
    if spec.url:
        return spec.url
    if not spec.host:
        return "this machine, without SSH"
    host = f"{spec.user}@{spec.host}" if spec.user else spec.host
    return f"{host}, port {spec.port}" if spec.port else host


def _lease(lease: float) -> str:
    if not lease:
        return "none: jobs run on however long this broker is away"
    return f"a running job is ended after {words.duration(lease)} without contact"
