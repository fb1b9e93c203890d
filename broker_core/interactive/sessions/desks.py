"""The desks of each user: whose public keys the agents of their jobs accept."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from broker_core.bookkeeping.store import Store
from broker_core.errors import BadRequest, CrossDeskError, NotFound
from broker_core.system.clock import now
from broker_core.wire.interactive import DeskView, NewDesk, vouched_text

FRESH = 600.0
"""Seconds that a desk's word counts: one that was overheard cannot be used later."""
_KEY_BYTES = 32
log = logging.getLogger("crossdesk.sessions")
DOCUMENT, FORGOTTEN = "desks.registered", "desks.forgotten"
MOST = 50
"""Desks of one user."""
MOST_FORGOTTEN = 500
LOGIN = "login at the broker"
"""The kernel, or the user's certificate, told the broker whose desk it is."""


def vouched(desk: NewDesk, desks: Sequence[DeskView]) -> str:
    """Who added a desk, in words for the record; raises BadRequest where the signature proves nothing."""
    by = next((one for one in desks if one.fingerprint == desk.by), None)
    if by is None:
        raise BadRequest("The desk that adds another one is not registered itself.", place=desk.by)
    if abs(now().wall - desk.time) > FRESH:
        raise BadRequest(
            "The word of the desk is too old.", place=desk.by, remedy="Compare the clocks, then try again."
        )
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(by.key.split()[1])[-_KEY_BYTES:])
        public.verify(base64.b64decode(desk.signature), vouched_text(desk.key, desk.time))
    except (InvalidSignature, ValueError) as error:
        raise BadRequest("The signature is not that of the desk.", place=desk.by) from error
    return f"desk {by.name or by.fingerprint}"


class DeskForgotten(CrossDeskError):
    """A desk that was forgotten does not come back by itself."""

    code = "desk_forgotten"
    status = 403


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of a registration."""

    desks: list[DeskView]
    changed: bool
    """There is one more desk than before."""


class Desks:
    """Registered desks, and the fingerprints of forgotten ones, kept as documents of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = asyncio.Lock()
        """For changes, which read the list and write it."""

    async def of(self, owner: str) -> list[DeskView]:
        """The desks of a user, the oldest first."""
        text = await self._store.document(owner, DOCUMENT)
        return [DeskView.model_validate(one) for one in orjson.loads(text)] if text else []

    async def add(self, owner: str, desk: NewDesk) -> Registered:
        """Register a desk, or renew name and door of one that is registered.

        Raises BadRequest for too many and for a word that proves nothing, DeskForgotten for a desk that
        comes back by itself.
        """
        async with self._turn:
            return await self._add(owner, desk)

    async def _add(self, owner: str, desk: NewDesk) -> Registered:
        desks = await self.of(owner)
        known = fingerprint(desk.key)
        found = next((one for one in desks if one.fingerprint == known), None)
        if found is not None:
            await self._renew(owner, desks, found, desk)
            return Registered(desks, changed=False)
        how = await self._proof(owner, desks, desk, known)
        if len(desks) >= MOST:
            remedy = "Forget one: crossdesk desk remove."
            raise BadRequest(f"There are {MOST} desks already.", remedy=remedy)
        desks.append(
            DeskView(
                key=desk.key,
                name=desk.name,
                door=desk.door,
                fingerprint=known,
                added=now().wall,
                added_by=how,
            )
        )
        await self._keep(owner, desks)
        log.info("Desk %s (%s) of %s was registered: %s", known, desk.name, owner, how)
        return Registered(desks, changed=True)

    async def remove(self, owner: str, known: str) -> list[DeskView]:
        """Forget a desk by its fingerprint; it does not come back by itself. Raises NotFound."""
        async with self._turn:
            return await self._remove(owner, known)

    async def _remove(self, owner: str, known: str) -> list[DeskView]:
        desks = await self.of(owner)
        left = [one for one in desks if one.fingerprint != known]
        if len(left) == len(desks):
            raise NotFound("There is no such desk.", place=known)
        forgotten = [*await self._forgotten(owner), known][-MOST_FORGOTTEN:]
        await self._store.save_document(owner, FORGOTTEN, orjson.dumps(forgotten).decode())
        await self._keep(owner, left)
        log.info("Desk %s of %s was removed", known, owner)
        return left

    async def _proof(self, owner: str, desks: list[DeskView], desk: NewDesk, known: str) -> str:
        """How a desk proved whose it is; raises BadRequest and DeskForgotten."""
        if desk.by:
            return vouched(desk, desks)
        if not desk.again and known in await self._forgotten(owner):
            raise DeskForgotten(
                "This desk was forgotten.",
                place=known,
                remedy="Add it again from a registered desk, or here: crossdesk desk add.",
            )
        return LOGIN

    async def _renew(self, owner: str, desks: list[DeskView], found: DeskView, desk: NewDesk) -> None:
        fresh = found.model_copy(update={"door": desk.door})
        if fresh != found and not desk.by:
            desks[desks.index(found)] = fresh
            await self._keep(owner, desks)

    async def _forgotten(self, owner: str) -> list[str]:
        text = await self._store.document(owner, FORGOTTEN)
        return [str(one) for one in orjson.loads(text)] if text else []

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
