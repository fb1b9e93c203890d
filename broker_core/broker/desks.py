"""The desks of each user: whose public keys the agents of their jobs accept."""

from __future__ import annotations

import base64
import hashlib
import logging

import orjson

from broker_core.bookkeeping.store import Store
from broker_core.broker.clock import now
from broker_core.errors import BadRequest, NotFound
from broker_core.wire.interactive import DeskKey, DeskView

log = logging.getLogger("crossdesk.sessions")
DOCUMENT = "desks.registered"
MOST = 50
"""Desks of one user."""
LOGIN = "login at the broker"
"""The kernel, or the user's certificate, told the broker whose desk it is."""


class Desks:
    """Registered desks, kept as documents of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def of(self, owner: str) -> list[DeskView]:
        """The desks of a user, the oldest first."""
        text = await self._store.document(owner, DOCUMENT)
        return [DeskView.model_validate(one) for one in orjson.loads(text)] if text else []

    async def add(self, owner: str, desk: DeskKey, how: str = LOGIN) -> list[DeskView]:
        """Register a desk; one that is registered stays as it is. Raises BadRequest for too many."""
        desks = await self.of(owner)
        known = fingerprint(desk.key)
        if any(one.fingerprint == known for one in desks):
            return desks
        if len(desks) >= MOST:
            remedy = "Forget one: crossdesk broker forget-desk."
            raise BadRequest(f"There are {MOST} desks already.", remedy=remedy)
        view = DeskView(key=desk.key, name=desk.name, fingerprint=known, added=now().wall, added_by=how)
        desks.append(view)
        await self._keep(owner, desks)
        log.info("Desk %s (%s) of %s was registered: %s", known, desk.name, owner, how)
        return desks

    async def remove(self, owner: str, known: str) -> list[DeskView]:
        """Forget a desk by its fingerprint; raises NotFound. Agents that run know it until they end."""
        desks = await self.of(owner)
        left = [one for one in desks if one.fingerprint != known]
        if len(left) == len(desks):
            raise NotFound("There is no such desk.", place=known)
        await self._keep(owner, left)
        log.info("Desk %s of %s was removed", known, owner)
        return left

    async def _keep(self, owner: str, desks: list[DeskView]) -> None:
        body = orjson.dumps([one.model_dump() for one in desks]).decode()
        await self._store.save_document(owner, DOCUMENT, body)


def fingerprint(key: str) -> str:
    """As OpenSSH shows it; raises BadRequest for what is no key."""
    try:
        raw = base64.b64decode(key.split()[1], validate=True)
    except (ValueError, IndexError) as error:
        raise BadRequest("This is no public key.", place=key[:40]) from error
    return "SHA256:" + base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")
