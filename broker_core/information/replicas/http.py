"""A replica catalogue behind HTTP: `POST ADDRESS/locations` with names, answered with addresses of copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from broker_core.information.replicas.contract import checked, replica
from broker_core.information.updater import SourceFailed
from broker_core.resources.closeness import Replica

AT_ONCE = 1000
"""Names of one request."""
LARGEST = 20_000_000
"""Bytes of one answer."""


class HttpCatalog:
    """Sends {"names": [...]}; expects {"locations": {name: [address, ...]}}, unknown names left out."""

    def __init__(self, address: str, deadline: float = 10.0, token: str = "") -> None:
        """`token`: sent as a bearer token where it is given."""
        self._address = address.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.AsyncClient(timeout=deadline, headers=headers, follow_redirects=False)

    async def locations(self, names: Sequence[str]) -> Mapping[str, Replica]:
        """What the catalogue knows of the names; raises SourceFailed."""
        wanted = checked(names)
        found: dict[str, Replica] = {}
        for start in range(0, len(wanted), AT_ONCE):
            found |= await self._asked(wanted[start : start + AT_ONCE])
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _asked(self, names: Sequence[str]) -> dict[str, Replica]:
        try:
            said = await self._said(names)
        except (httpx.HTTPError, ValueError) as error:
            raise SourceFailed(
                f"The replica catalogue does not answer: {str(error) or type(error).__name__}.",
                place=self._address,
                remedy="Check its address in [replicas], and that it can be reached from here.",
            ) from error
        return {name: replica(name, addresses) for name, addresses in said.items() if name in names}

    async def _said(self, names: Sequence[str]) -> dict[str, list[str]]:
        body: dict[str, Any] = {"names": list(names)}
        async with self._client.stream("POST", f"{self._address}/locations", json=body) as answer:
            answer.raise_for_status()
            held = bytearray()
            async for part in answer.aiter_bytes():
                held += part
                if len(held) > LARGEST:
                    raise ValueError(f"the answer has more than {LARGEST:,} bytes")
        return _checked(httpx.Response(200, content=bytes(held)).json())


def _checked(document: object) -> dict[str, list[str]]:
    said = document.get("locations") if isinstance(document, dict) else None
    if not isinstance(said, dict):
        raise ValueError("the answer has no locations")
    for name, addresses in said.items():
        if not isinstance(addresses, list) or not all(isinstance(one, str) for one in addresses):
            raise ValueError(f"{name} has no list of addresses")
    return said
