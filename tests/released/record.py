"""Record settings and site directories as the present version writes them.

`python -m tests.released.record` fills `version_N` beside this file, N being the present version. It is run
once for each release, from its commit; what it made is never changed. Needs what the cluster tests need.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from broker_core.broker.site_management.site_specs import SiteSpecs
from broker_core.settings.settings import Settings
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.transport.contract import LinkLost
from broker_core.version import VERSION
from broker_core.wire.sites import SiteSpec
from tests.released.trees import packed
from tests.running import end_all
from tests.sites.remote.cutting import cutting_path
from tests.sites.remote.far_site import Far, script, spec_for
from tests.sites.running_site import RunningSite
from tests.sites.running_site import order as plain_order
from tests.sites.running_site import script as plain_script
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

HERE = Path(__file__).parent
_TABLES = """
[[sources]]
name = "grid"
kind = "ldap"
address = "ldap://bdii.example.org:2170"
interval = 240
deadline = 30
enabled = false

[sources.options]
schemas = ["1.3", "2.0"]

[[sources]]
name = "mine"
kind = "file"
path = "/srv/resources.toml"

[replicas]
kind = "ldap"
address = "ldap://rls.example.org:39281/rc=data,o=grid"
deadline = 20
"""
_TEXTS = {
    "policy": "worst-fit",
    "relay": "relay.example.org:4443",
    "relay_address": "0.0.0.0",
    "relay_name": "desk.example.org",
    "shadow_ports": "21000-21009",
    "slots_tag": "MaxSlots_(?P<queue>[^=]+)=(?P<count>.*)",
    "agent_program": "/opt/crossdesk/agent",
    "overlay_library": "/opt/crossdesk/overlay.so",
}
_GATED = "while ! [ -e {gate} ]; do sleep 0.05; done; echo whole >result; exit 3"


def settings_file() -> str:
    """Every setting with another value than its own."""
    plain = [known for known in fields(Settings) if known.name not in ("origins", "sources", "replicas")]
    tables = [known for known in plain if isinstance(known.metadata["default"], dict)]
    lines = [f"{known.name} = {json.dumps(_other(known))}" for known in plain if known not in tables]
    for known in tables:
        lines += ["", f"[{known.name}]", *(f'{name} = "MY-{tag}"' for name, tag in _default(known).items())]
    return "\n".join(lines) + "\n" + _TABLES


def _default(known: Any) -> Any:
    return known.metadata["default"]


def _other(known: Any) -> Any:
    default, choices = _default(known), known.metadata["choices"]
    if choices:
        return next(choice for choice in choices if choice != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, int | float):
        return default + 1
    return ["ann", "bob"] if isinstance(default, tuple) else _TEXTS[known.name]


def specs() -> Iterator[SiteSpec]:
    """Settings of one site of each kind, with all that can be set in one of them."""
    full = {
        "host": "login.example.org",
        "port": 2022,
        "user": "ann",
        "jump": "ann@gate.example.org:2222",
        "directory": "~/work/crossdesk",
    }
    limits = {"poll_interval": 5.0, "lease": 600.0, "max_jobs": 40, "at_once": 2, "drained": True}
    words = {"queues": ["main", "short"], "options": ["--account=phys"], "environment": {"LANG": "C.UTF-8"}}
    yield SiteSpec.model_validate({"name": "cluster", "kind": "slurm"} | full | limits | words)
    for kind in ("sge", "pbs", "lsf", "condor", "shell"):
        yield SiteSpec(name=f"a-{kind}", kind=kind, host=f"{kind}.example.org")
    grid = {"url": "https://arc.example.org/arex", "proxy": "/tmp/x509up", "trust": "/etc/grid-security"}
    yield SiteSpec.model_validate({"name": "grid", "kind": "arc"} | grid)


def record_sites(folder: Path, into: Path) -> None:
    """Site specifications and marks, as the broker keeps them."""
    kept = SiteSpecs(folder)
    for spec in specs():
        kept.keep(spec)
        kept.mark(spec.name)
    (into / "sites.json").write_text(packed(folder, {}), encoding="utf-8")


async def record_local(folder: Path, into: Path) -> None:
    """This machine's site: ended, canceled, running, about to be canceled, and waiting for its turn."""
    site = RunningSite(folder / "local")
    await site.start()
    jobs = {
        "ended": plain_script("echo whole; exit 7"),
        "canceled": plain_order("sleep", "600"),
        "runs": plain_script("echo begun; exec sleep 600"),
        "ending": plain_script("exec sleep 600"),
        "waits": plain_script("echo at last; exit 5"),
    }
    try:
        await site.site.submit(jobs["ended"])
        await site.ended(jobs["ended"].attempt)
        await site.site.submit(jobs["canceled"])
        await site.started(jobs["canceled"].attempt)
        await site.site.cancel(jobs["canceled"].attempt)
        await site.ended(jobs["canceled"].attempt)
        for name in ("runs", "ending", "waits"):
            await site.site.submit(jobs[name])
        for name in ("runs", "ending"):
            await site.started(jobs[name].attempt)
        await site.site.close()
        (folder / "local/attempts" / jobs["ending"].attempt.tag / "cancel").write_bytes(b"1")
        (into / "local.json").write_text(packed(folder / "local", {str(folder): "@ROOT@"}), encoding="utf-8")
    finally:
        await site.close()
    _write_tags(into / "local_tags.json", jobs)


async def record_slurm(folder: Path, into: Path) -> None:
    """A cluster's site: handed over and cut off, running, ended there, ended and brought home."""
    with closing(Slurm(folder / "bed", ("a",))) as bed:
        cluster = bed.start().clusters["a"]
        path = cutting_path(folder / "bin", "before")
        (folder / "bin/cut").unlink()
        environment = cluster.environment | {"PATH": path}
        spec = spec_for(cluster, folder / "site", environment=environment, lease=3600.0)
        far = await Far(spec, folder / "here").start()
        jobs = await _filled(far, folder)
        await far.site.close()
        (folder / "gate").touch()
        ended = folder / "site/t1/attempts" / jobs["ended"].attempt.tag / "ended"
        await eventually(ended.exists)
        names = {cluster.environment["SLURM_CONF"]: "@SLURM_CONF@", str(folder): "@ROOT@"}
        (into / "slurm_site.json").write_text(packed(folder / "site", names), encoding="utf-8")
        (into / "slurm_here.json").write_text(packed(folder / "here", names), encoding="utf-8")
        cluster.end_jobs()
    _write_tags(into / "slurm_tags.json", jobs)


async def _filled(far: Far, folder: Path) -> dict[str, LaunchOrder]:
    """Jobs at a site, each in another stage."""
    gated = _GATED.format(gate=folder / "gate")
    jobs = {
        "cut": script("echo at last; exit 5"),
        "home": script("echo whole; exit 7"),
        "ended": script(gated, outputs=("result",)),
        "runs": script("exec sleep 600"),
        "held": script("echo held"),
    }
    await far.run(jobs["home"])
    array = [jobs[name] for name in ("ended", "runs", "held")]
    await asyncio.gather(*(far.site.submit(one) for one in array))
    for name in ("ended", "runs"):
        await far.site.confirm(jobs[name].attempt)
        await far.started(jobs[name].attempt)
    (folder / "bin/cut").touch()
    with suppress(LinkLost):  # meant: its exchange is cut off before the batch system has the job
        await far.site.submit(jobs["cut"])
    return jobs


def _write_tags(path: Path, jobs: dict[str, LaunchOrder]) -> None:
    path.write_text(json.dumps({name: one.attempt.tag for name, one in jobs.items()}, indent=1) + "\n")


def main() -> None:
    """Record everything."""
    into = HERE / f"version_{VERSION.replace('.', '_')}"
    into.mkdir()
    (into / "broker.toml").write_text(settings_file(), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="record") as base:
        folder = Path(base)
        os.environ["HOME"] = base
        try:
            record_sites(folder / "sites", into)
            asyncio.run(record_local(folder, into))
            asyncio.run(record_slurm(folder, into))
        finally:
            end_all(folder)


if __name__ == "__main__":
    main()
