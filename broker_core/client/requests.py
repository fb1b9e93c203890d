"""How the client's methods ask: one request, one JSON value."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from broker_core.client.answers import value
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BadRequest


class Requests:
    """Sends requests and reads their answers."""

    def __init__(self, transport: BrokerTransport) -> None:
        self._transport = transport

    async def _get(self, path: str, **query: Any) -> Any:
        chosen = {name: wanted for name, wanted in query.items() if wanted not in ("", None, [])}
        return value((await self._transport.ask("GET", path, query=chosen or None)).content)

    async def _post(self, path: str, body: Any = None, *, again: bool = True) -> Any:
        answer = await self._transport.ask("POST", path, {} if body is None else body, again=again)
        return value(answer.content) if answer.content else None


def part(name: str) -> str:
    """A name as one part of a path; raises BadRequest for an empty one."""
    if not name:
        raise BadRequest("An empty name stands for nothing.", code="empty_name")
    return quote(name, safe="")
