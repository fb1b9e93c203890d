"""Requests over the broker's socket: errors, retries over a restart, streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import orjson

from broker_core.client.answers import refusal
from broker_core.client.start import READY_WITHIN
from broker_core.errors import BrokerStopped, Busy, SiteSilent, Unreachable
from broker_core.system.paths import Paths, places

PATIENCE = READY_WITHIN
"""Seconds during which a request is sent again while the broker is away: as long as one may take to start."""

_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4)
_NO_ANSWER = (httpx.TransportError, httpx.StreamError)
_JSON = {"content-type": "application/json"}
T = TypeVar("T")
Query = Mapping[str, str | int | list[str]]


class BrokerTransport:
    """One pool of connections to the broker of one state directory.

    `revive` is awaited when nothing answers, and may start a broker; it raises if none can be had.
    """

    def __init__(
        self,
        state_dir: Path | str | None,
        *,
        patience: float = PATIENCE,
        revive: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._places: Paths = places(state_dir)
        self._patience = patience
        self._revive = revive
        self._reviving = asyncio.Lock()
        self._socket = self._places.socket
        self._http = _pool(self._socket)
        self.stopped: BrokerStopped | None = None
        """Set once the broker said that it stops on purpose: requests without an answer raise it."""

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        again: bool = True,
    ) -> httpx.Response:
        """Send a request and return the whole answer; `body` is bytes, or a value sent as JSON.

        Raises the error that the broker names, or Unreachable. With `again` a request that got no answer is
        repeated for up to `patience` seconds, so it must be one that may arrive twice.
        """
        sent = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        told = {**_JSON, **(headers or {})} if sent is not None else headers
        return await self.repeat(lambda: self._once(method, path, sent, query, told), again=again)

    async def repeat(self, work: Callable[[], Awaitable[T]], *, again: bool = True) -> T:
        """Await `work()`, and again while the broker is not reached or busy, and patience lasts."""
        deadline = time.monotonic() + self._patience
        tried = 0
        while True:
            try:
                return await work()
            except SiteSilent:
                raise
            except (Unreachable, Busy) as error:
                pause = _PAUSES[min(tried, len(_PAUSES) - 1)]
                if self._http.is_closed or not again or time.monotonic() + pause > deadline:
                    raise
                if isinstance(error, Unreachable):
                    await self._recover()
                await asyncio.sleep(pause)
                tried += 1

    async def _once(
        self, method: str, path: str, body: Any, query: Query | None, headers: Mapping[str, str] | None
    ) -> httpx.Response:
        if self._http.is_closed:
            raise Unreachable("The connection to the broker was closed.", place=str(self._socket))
        try:
            answer = await self._http.request(method, path, content=body, params=query, headers=headers)
        except _NO_ANSWER as error:
            raise self._unreachable(error) from error
        if answer.status_code >= 400:
            raise refusal(answer.status_code, answer.content)
        return answer

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        content: AsyncIterator[bytes] | None = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> AsyncIterator[httpx.Response]:
        """An answer whose body is read as it comes; errors as with `ask`, but sent once.

        `patient` sets no limit to the silence between two parts (event streams have their own).
        """
        limit = httpx.Timeout(60.0, connect=10.0) if not patient else httpx.Timeout(10.0, read=45.0)
        try:
            async with self._http.stream(
                method, path, content=content, params=query, headers=headers, timeout=limit
            ) as answer:
                if answer.status_code >= 400:
                    raise refusal(answer.status_code, await answer.aread())
                yield answer
        except _NO_ANSWER as error:
            raise self._unreachable(error) from error

    async def recover(self) -> None:
        """Do what can be done so that something answers again; raises if nothing will."""
        await self._recover()

    def tell_stopped(self) -> None:
        """It is away on purpose, by its own word or by the mark that it left: nobody starts another."""
        self.stopped = BrokerStopped(
            "The broker was stopped.", remedy="Start it with `crossdesk broker start`."
        )

    async def _recover(self) -> None:
        if self._revive is not None and self._places.stopped.exists():
            self.tell_stopped()
        if self.stopped is not None:
            raise self.stopped
        async with self._reviving:
            if self._revive is not None:
                await self._revive()
            now = self._places.socket
            if now != self._socket:
                old, self._http, self._socket = self._http, _pool(now), now
                await old.aclose()

    def _unreachable(self, error: Exception) -> Unreachable:
        broke_off = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
        return Unreachable(
            "The broker ended amid its answer." if broke_off else "The broker does not answer.",
            place=f"{self._socket} ({str(error) or type(error).__name__})",
            remedy="Start it with `crossdesk broker start`; `crossdesk broker logs` tells why it ended.",
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _pool(socket: Path) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=30.0)
    carrier = httpx.AsyncHTTPTransport(uds=str(socket), limits=limits, verify=False)
    return httpx.AsyncClient(
        transport=carrier,
        base_url="http://broker/v1",
        timeout=httpx.Timeout(120.0, connect=10.0),
        trust_env=False,
    )
