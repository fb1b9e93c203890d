"""How a host is looked at before it becomes a site: by the same ways by which it would be used."""

from __future__ import annotations

from broker_core.broker.detections import Look
from broker_core.errors import CrossDeskError
from broker_core.sites.arc.detection import ArcLook
from broker_core.sites.batch.detection import detect
from broker_core.sites.link import Link, LinkState
from broker_core.sites.transport.contract import Transport
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import Detection, DetectRequest, SiteSpec


class HostLook:
    """Looks over SSH, or at this machine."""

    def __init__(self, request: DetectRequest) -> None:
        self._request = request
        self.link = Link(lambda _: None)
        spec = SiteSpec(
            name="look",
            kind="shell",
            host=request.host,
            port=request.port,
            user=request.user,
            jump=request.jump,
            environment=request.environment,
        )
        self._transport: Transport = transport_for(spec, self.link)

    def answer(self, question: str, value: str) -> None:
        """Pass the user's answer on."""
        self._transport.answer(question, value)

    async def found(self) -> Detection:
        """What is there; raises CrossDeskError."""
        await self._transport.open()
        await self._connected()
        return await detect(self._transport, self._request)

    async def _connected(self) -> None:
        """Wait for the connection; at the first failure there is somebody who can correct what was typed."""
        while self.link.state is not LinkState.CONNECTED:
            asked = self.link.state is LinkState.NEEDS_CREDENTIALS and self.link.question is not None
            if not asked and self.link.state is not LinkState.CONNECTING:
                raise CrossDeskError(self.link.reason, place=self._request.host, code="no_connection")
            await self.link.news()

    async def close(self) -> None:
        """Give the connection up."""
        await self._transport.close()


def look_at(request: DetectRequest) -> Look:
    """The look that a request asks for."""
    return ArcLook(request) if request.url else HostLook(request)
