"""Requests to A-REX over HTTPS, each with a deadline, as many at once as the site's settings allow."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from broker_core.sites.arc.client import ArcClient
from broker_core.sites.arc.connector import ArcConnector
from broker_core.sites.arc.trouble import not_admitted, translated
from broker_core.sites.link import Link
from broker_core.sites.transport.contract import DEADLINE, LinkLost, NotSent
from broker_core.wire.sites import SiteSpec

_SLOWEST = 64 * 1024.0
"""Bytes a second that a transfer makes at least; slower ones are given up."""
_LARGEST = 64 << 20
"""Bytes of an answer that is read into memory."""
_PROBE = "/jobs?state=ACCEPTING"
_HTTPS = 443
_INTERFACE = "/rest/1.0"
_GONE = (401, 403)
_UNMAPPED = "User can't be assigned configuration"
"""What ARC 7 answers, with status 500, to one whom it maps to no account."""
Content = Callable[[], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class RestResponse:
    """What the site answered."""

    status: int
    reason: str
    """The status in the site's words."""
    body: bytes = b""

    @property
    def good(self) -> bool:
        """True for what was done as asked."""
        return 200 <= self.status < 300


class Rest:
    """The REST interface of one computing element."""

    def __init__(self, spec: SiteSpec, link: Link) -> None:
        self.base = base_of(spec.url)
        self.host = urlsplit(self.base).hostname or ""
        self._channel = ArcClient(spec, link)
        self._places = asyncio.Semaphore(spec.at_once)
        self._link = link
        self.keeper = ArcConnector(link, self._probe)

    @property
    def path(self) -> str:
        """Path of the interface's URL."""
        return urlsplit(self.base).path

    @property
    def service(self) -> str:
        """URL of the service."""
        return self.base.removesuffix(_INTERFACE)

    @property
    def subject(self) -> str:
        """Who the site sees; empty before the first request."""
        return self._channel.subject

    @property
    def named(self) -> str:
        """File of the credential that the settings or the user named; empty: found by itself."""
        return self._channel.named

    @property
    def port(self) -> int:
        """Where the service listens."""
        return urlsplit(self.base).port or _HTTPS

    async def information(self) -> bytes:
        """What the site publishes about itself; raises LinkLost."""
        answer = await self.ask("GET", "/info")
        if not answer.good:
            raise LinkLost(f"{self.host} does not describe itself: {answer.status} {answer.reason}.")
        return answer.body

    async def close(self) -> None:
        """Give all connections up."""
        await self.keeper.close()
        await self._channel.renew()

    def answer(self, id: str, value: str) -> None:
        """The user's answer to the link's question; raises NotFound where it is not open."""
        self._channel.answer(id, value)
        self.keeper.open()

    async def ask(
        self,
        method: str,
        path: str,
        *,
        content: bytes = b"",
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
        repeat: bool = True,
        deadline: float = DEADLINE,
    ) -> RestResponse:
        """One request; `path` is below the interface's URL. `repeat`: doing it twice does no harm.

        Raises LinkLost, also where the site says that it cannot answer now.
        """
        given = {"Accept": "application/json", **(headers or {})}
        if content:
            given["Content-Type"] = kind
        async with self._way(deadline):
            answer = await self._tried(method, path, content, given, repeat=repeat)
        if answer.status >= 500 or answer.status in _GONE:
            raise LinkLost(f"{self.host} refuses {method} {path.partition('?')[0]}: {answer.reason}.")
        return answer

    async def send(
        self, path: str, content: Content, size: int, *, deadline: float = DEADLINE
    ) -> RestResponse:
        """PUT a file of which the size is known; raises LinkLost, and what `content` raises."""
        headers = {"Content-Length": str(size)}
        limit = httpx.Timeout(deadline)
        async with (
            self._way(deadline + size / _SLOWEST),
            self._translating(),
            self._channel.client() as client,
        ):
            found = await client.put(self.base + path, content=content(), headers=headers, timeout=limit)
        self.keeper.heard()
        return RestResponse(found.status_code, found.reason_phrase)

    @contextlib.asynccontextmanager
    async def receiving(
        self, path: str, start: int, *, deadline: float = DEADLINE
    ) -> AsyncIterator[httpx.Response]:
        """GET a file from byte `start` on, to be read piece by piece; the deadline is that of silence.

        Raises LinkLost, also inside the block.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        async with self._way(None), self._translating(), self._channel.client() as client:
            limit = httpx.Timeout(deadline)
            async with client.stream("GET", self.base + path, headers=headers, timeout=limit) as found:
                self.keeper.heard()
                yield found

    @contextlib.asynccontextmanager
    async def _way(self, deadline: float | None) -> AsyncIterator[None]:
        """Wait for the link, then for a place; the deadline (None: none) is that of what follows."""
        try:
            async with asyncio.timeout(DEADLINE):
                await self.keeper.ready()
        except TimeoutError as error:
            raise NotSent(self._link.reason or f"{self.host} has not answered yet.") from error
        losses = self.keeper.losses
        async with self._places:
            if self.keeper.losses != losses:
                raise NotSent(self._link.reason or f"The connection to {self.host} was lost.")
            try:
                async with asyncio.timeout(deadline):
                    yield
            except TimeoutError as error:
                raise self._lost(error) from error

    async def _tried(
        self, method: str, path: str, content: bytes, headers: Mapping[str, str], *, repeat: bool
    ) -> RestResponse:
        """A connection that A-REX closed while it was idle looks like a lost answer: then once more."""
        async with self._translating():
            try:
                return await self._once(method, path, content, headers)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                if not repeat:
                    raise
            return await self._once(method, path, content, headers)

    async def _once(self, method: str, path: str, content: bytes, headers: Mapping[str, str]) -> RestResponse:
        async with (
            self._channel.client() as client,
            client.stream(
                method, self.base + path, content=content, headers=dict(headers), timeout=httpx.Timeout(None)
            ) as found,
        ):
            body = bytearray()
            async for piece in found.aiter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    raise LinkLost(f"The answer of {self.host} is larger than {_LARGEST >> 20} MiB.")
        self.keeper.heard()
        return RestResponse(found.status_code, found.reason_phrase, bytes(body))

    @contextlib.asynccontextmanager
    async def _translating(self) -> AsyncIterator[None]:
        """Turn errors of the request into LinkLost, and tell the link."""
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, TimeoutError) as error:
            raise self._lost(error) from error
        except LinkLost as error:
            self.keeper.lost(error)
            raise

    def _lost(self, error: Exception) -> LinkLost:
        lost = translated(error, self.host, self.subject)
        self.keeper.lost(lost)
        return lost

    async def _probe(self) -> None:
        """One try to reach the site."""
        try:
            async with self._translating(), asyncio.timeout(DEADLINE):
                answer = await self._once("GET", _PROBE, b"", {"Accept": "application/json"})
        except (OSError, ValueError) as error:
            raise LinkLost(f"{self.host} cannot be asked: {error}.") from error
        if answer.status in _GONE or answer.reason == _UNMAPPED:
            raise not_admitted(self.host, self.subject, answer.reason)
        if not answer.good:
            raise LinkLost(f"{self.host} answers {answer.status} {answer.reason}.")


async def all_done(calls: Iterable[Awaitable[object]]) -> None:
    """Await calls side by side until none is under way any more; raises the first of their errors."""
    for found in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(found, BaseException):
            raise found


def base_of(url: str) -> str:
    """URL of the REST interface for what the user gave: a host, or the URL of the service."""
    text = url.strip().rstrip("/")
    if "://" not in text:
        text = f"https://{text}"
    if not urlsplit(text).path:
        text += "/arex"
    head, _, _ = text.partition("/rest")
    return head + _INTERFACE
