"""What test jobs said of the nodes where they ran: kept beside the settings of each site, and published."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from broker_core.broker.engine.engine import Engine
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_limits import Looking
from broker_core.errors import CrossDeskError
from broker_core.jdl.resource_request import BATCH_SYSTEMS
from broker_core.jobs.states import JobState
from broker_core.resources.facts import Facts
from broker_core.resources.node_types import CHANGING, NODE_TYPES

log = logging.getLogger("crossdesk.sites")
FILE = "nodes.json"
"""Beside the settings of a site."""
SEES_DIRECTORY = "NodesSeeDirectory"
"""Attribute: nodes of the site have been seen to have its directory."""
SPEED = "GlueHostBenchmarkSI00"
OVERLAY = "Overlay"
"""Attribute: `yes` if nodes have been seen to give programs a network of their own, `preload: REASON` if a
library can take its place, else why neither."""
_SCALE = 560
"""Points for each time that a node packs the made-up text in a second: a common machine has about 2000, which
is what is published where nothing was measured. (164.gzip is a part of SpecInt2000 itself.)"""
_LINE = re.compile(
    r"(network) (yes|no)|(speed) ([1-9]\d{0,5}) ([1-9]\d{0,6})|(overlay) ([ -~]{1,300})", re.ASCII
)
_WORDS = re.compile(r"(machine|model|named|release|version) ([!-~][ -~]{0,99})", re.ASCII)
_PUBLISHED = {
    "machine": ("GlueHostArchitecturePlatformType", "Machine"),
    "model": ("GlueHostProcessorModel", "Model"),
    "named": ("GlueHostOperatingSystemName", "System"),
    "release": ("GlueHostOperatingSystemRelease", "System"),
    "version": ("GlueHostOperatingSystemVersion", "System"),
}
"""Word of a test job to the attribute that it becomes, and where the batch system may tell it of each kind of
nodes, which then counts."""
_ONE_DIRECTORY = frozenset({"shell", *BATCH_SYSTEMS})
"""Kinds of sites whose jobs run in a directory that the login host made."""

OUTPUT = "test.txt"
"""File in which a test job says what it found."""
_OUTPUT_LIMIT = 4096
"""Bytes of it that are read."""


class TestedNodes(BaseModel):
    """Content of such a file."""

    model_config = ConfigDict(extra="forbid")
    job: str = ""
    """Test job whose word is still expected."""
    shared: bool | None = None
    outbound: bool | None = None
    speed: int | None = None
    overlay: str | None = None
    """As the attribute says it."""
    words: dict[str, str] = {}
    """What the node is: machine, model of its processor, named (the system), release, version."""


class NodeFacts:
    """Knows of each site what its last test jobs said; an older word stays where a later one is silent."""

    def __init__(self, folder: Callable[[str], Path], engine: Engine, sites: SiteDispatcher) -> None:
        """`folder`: name of a site to its folder on this machine."""
        self._folder = folder
        self._engine = engine
        self._sites = sites
        self._known: dict[str, TestedNodes] = {}

    def expect(self, site: str, job: str) -> None:
        """A test job was sent: its word counts once it has ended, also after a restart."""
        self._keep(site, self.of(site).model_copy(update={"job": job}))

    def tested(self, sites: Iterable[str]) -> list[str]:
        """Those of the sites whose test jobs have ended and were not heard yet."""
        job_of, live = self.of, self._engine.scheduler.job
        return [name for name in sites if (job := job_of(name).job) and live(job) is None]

    def forget(self, site: str) -> None:
        """Another site of this name begins anew."""
        self._known.pop(site, None)
        try:
            (self._folder(site) / FILE).unlink(missing_ok=True)
        except OSError as error:
            log.warning("What is known of the nodes of %s stays: %s", site, error)

    def joined(self, asking: Looking, site: str, kind: str) -> Looking:
        """The same questions to a site, with what its test jobs said in the answers."""

        async def asked() -> tuple[Facts, ...]:
            await self._learn(site, kind)
            known = self.of(site)
            return tuple(with_tested(one, known) for one in await asking())

        return asked

    async def _learn(self, site: str, kind: str) -> None:
        known = self.of(site)
        output = await self._output(site, known.job) if known.job else None
        if output is None or self.of(site).job != known.job:
            return
        news: dict[str, Any] = {"job": ""}
        lines = output.decode("utf-8", "replace").splitlines()
        if words := {found[1]: found[2] for found in map(_WORDS.fullmatch, lines) if found}:
            news["words"] = words
        if output and kind in _ONE_DIRECTORY:
            news["shared"] = True
        for found in filter(None, map(_LINE.fullmatch, lines)):
            if found[1]:
                news["outbound"] = found[2] == "yes"
            elif found[6]:
                news["overlay"] = found[7]
            else:
                news["speed"] = round(_SCALE * int(found[4]) * 100 / int(found[5]))
        self._keep(site, known.model_copy(update=news))

    async def _output(self, site: str, job: str) -> bytes | None:
        """What a test job wrote: nothing where it failed, None while it has not ended."""
        record = await self._engine.store.job(job)
        if record is None or record.state in (JobState.ABORTED, JobState.CANCELED):
            return b""
        if not record.state.ended:
            return None
        try:
            path = await self._sites.sites[site].open_path(record.component, OUTPUT)
            with path.open("rb") as stream:
                return stream.read(_OUTPUT_LIMIT) if record.exit_code == 0 else b""
        except (CrossDeskError, OSError) as error:
            log.warning("What the test job %s at %s said is lost: %s", job, site, error)
            return b""

    def of(self, site: str) -> TestedNodes:
        """What is known of a site now."""
        known = self._known.get(site)
        if known is None:
            known = self._known[site] = self._read(self._folder(site) / FILE)
        return known

    @staticmethod
    def _read(path: Path) -> TestedNodes:
        try:
            return TestedNodes.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return TestedNodes()
        except (OSError, ValidationError) as error:
            log.warning("What test jobs said is left out, %s cannot be used: %s", path, error)
            return TestedNodes()

    def _keep(self, site: str, known: TestedNodes) -> None:
        self._known[site] = known
        path = self._folder(site) / FILE
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = path.with_suffix(".new")
            fresh.write_text(known.model_dump_json())
            fresh.replace(path)
        except OSError as error:
            log.warning("What test jobs said of %s is not kept over a restart: %s", site, error)


def _attributes(known: TestedNodes) -> dict[str, Any]:
    found = {
        SEES_DIRECTORY: known.shared,
        "GlueHostNetworkAdapterOutboundIP": known.outbound,
        SPEED: known.speed,
        OVERLAY: known.overlay,
    }
    return {name: value for name, value in found.items() if value is not None}


def with_tested(facts: Facts, known: TestedNodes) -> Facts:
    """What a site publishes, with what its test jobs said."""
    found = _attributes(known) | _of_nodes(facts, known.words)
    if not found:
        return facts
    return replace(
        facts, attributes=dict(facts.attributes) | found, static=facts.static | (found.keys() - CHANGING)
    )


def _of_nodes(facts: Facts, words: Mapping[str, str]) -> dict[str, Any]:
    """What the tested node is, in place of what the login host is; what the batch system tells counts more.

    Where all nodes are alike they are all as the tested one; else nothing says which of them that was.
    """
    kinds = [one for one in facts.attributes.get(NODE_TYPES) or () if isinstance(one, Mapping)]
    reported = {key for one in kinds for key in one}
    found: dict[str, Any] = {}
    alike = {"Machine": "machine", "Model": "model", "System": "named"}
    for word, (name, key) in _PUBLISHED.items():
        if word in words and key not in reported:
            found[name] = words[word]
    if len(kinds) == 1 and (
        more := {key: words[word] for key, word in alike.items() if word in words and key not in reported}
    ):
        found[NODE_TYPES] = [dict(kinds[0]) | more]
    return found
