"""Looking what is at a URL before it becomes a site."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from broker_core.errors import BadRequest
from broker_core.jobs.placement import THIS_MACHINE
from broker_core.resources.facts import Facts
from broker_core.sites.arc.information import published
from broker_core.sites.arc.rest import Rest
from broker_core.sites.link import Link, LinkState
from broker_core.sites.transport.contract import LinkLost
from broker_core.wire.site_states import DetectionState
from broker_core.wire.sites import SITE_KINDS, Detection, DetectRequest, QueueFound, SiteSpec, SystemFound

_OPEN = "production"
_SOFTWARE = "GLUE2ApplicationEnvironmentAppName"
_NO_LIMIT = 999_999_999


class ArcLook:
    """One look at one computing element; questions come by `link.question`."""

    def __init__(self, request: DetectRequest) -> None:
        self.link = Link(lambda _: self._stirred.set())
        self._request = request
        self._declined = False
        self._stirred = asyncio.Event()
        self._rest = Rest(_spec(request, "look"), self.link)

    def answer(self, id: str, value: str) -> None:
        """The user's answer; empty: declined, and the look fails. Raises NotFound where it is not asked."""
        self._rest.answer(id, value)
        self._declined = not value
        self._stirred.set()

    async def found(self) -> Detection:
        """What is there; raises LinkLost, SourceFailed for what is no computing element, and BadRequest."""
        if not self._request.url.strip():
            raise BadRequest("No URL is given.", remedy="Give the URL of the computing element.")
        self._rest.keeper.open()
        await self._connected()
        facts = published(await self._rest.information())
        queues = [_queue(one) for one in facts]
        version = str(facts[0].attributes.get("GLUE2EndpointImplementationVersion", "")) if facts else ""
        system = SystemFound(kind="arc", title=SITE_KINDS["arc"], version=version, queues=queues)
        if not any(queue.open for queue in queues):
            system.trouble = "It has no queue that takes jobs; ask the site's administrator for one."
        return Detection(
            id="",
            state=DetectionState.FOUND,
            reason=system.trouble,
            host=self._rest.host,
            user=self._rest.subject,
            systems=[system],
            modules=sorted({name for one in facts for name in one.attributes.get(_SOFTWARE, ())}),
            suggestion=None if system.trouble else self._suggestion(),
        )

    async def close(self) -> None:
        """Give the connection up."""
        await self._rest.close()

    async def _connected(self) -> None:
        """Return when the site has answered; raises LinkLost where no answer of the user would help."""
        while self.link.state is not LinkState.CONNECTED:
            asking = self.link.state is LinkState.NEEDS_CREDENTIALS and not self._declined
            if self.link.state is not LinkState.CONNECTING and not asking:
                raise LinkLost(self.link.reason)
            self._stirred.clear()
            await self._stirred.wait()

    def _suggestion(self) -> SiteSpec:
        name = re.sub(r"[^a-z0-9.-]+", "-", self._rest.host.lower()).strip(".-")[:64].strip(".-")
        found = _spec(self._request, name if name not in ("", THIS_MACHINE) else "arc-site")
        return found.model_copy(update={"proxy": self._rest.named, "url": self._rest.service})


def _spec(request: DetectRequest, name: str) -> SiteSpec:
    return SiteSpec(
        name=name,
        kind="arc",
        url=request.url,
        proxy=request.proxy,
        trust=request.trust,
        environment=request.environment,
    )


def _queue(facts: Facts) -> QueueFound:
    found = facts.attributes
    total = _number(found, "GLUE2ComputingManagerTotalSlots") or _number(
        found, "GLUE2ComputingManagerTotalLogicalCPUs"
    )
    return QueueFound(
        name=str(found.get("GLUE2ComputingShareMappingQueue", "")),
        total_cpus=total,
        free_cpus=_number(found, "GLUE2ComputingShareFreeSlots"),
        wall_limit=_number(found, "GLUE2ComputingShareMaxWallTime") or None,
        memory=_number(found, "GLUE2ExecutionEnvironmentMainMemorySize"),
        open=str(found.get("GLUE2ComputingShareServingState", "")).lower() == _OPEN,
    )


def _number(attributes: Mapping[str, Any], name: str) -> int:
    """A figure; 0 where there is none, or one that stands for no limit."""
    value = attributes.get(name, 0)
    return value if isinstance(value, int) and value < _NO_LIMIT else 0
