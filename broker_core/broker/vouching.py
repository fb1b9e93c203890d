"""A registered desk adds another one: its signature is checked, and the record says who it was."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from broker_core.broker.clock import now
from broker_core.errors import BadRequest
from broker_core.wire.interactive import DeskView, NewDesk, vouched_text

FRESH = 600.0
"""Seconds that a desk's word counts: one that was overheard cannot be used later."""
_KEY_BYTES = 32


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
