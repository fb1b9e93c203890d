"""Pairs of connections: who waits under which token, and bytes from one to the other (CB-GCB-01)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter, defaultdict
from typing import cast

from broker_core.interactive.channel.rendezvous import AGENT, DESK, GO, LINE, WAIT, read_hello, refusal
from broker_core.interactive.relay.settings import RelaySettings

log = logging.getLogger("crossdesk.relay")


class Pairs:
    """All connections of a relay. It reads the first line of each, and nothing behind it."""

    def __init__(self, settings: RelaySettings) -> None:
        self.settings = settings
        self.waiting: dict[tuple[str, str], list[Leg]] = defaultdict(list)
        """Role and token to those who wait, the newest last."""
        self.legs: set[Leg] = set()
        self.paired = 0
        """Pairs that are forwarded now."""
        self.carried = 0
        """Bytes forwarded so far."""
        self.addresses: Counter[str] = Counter()

    def leg(self) -> Leg:
        """A connection that begins."""
        return Leg(self)

    def refused(self, leg: Leg, role: str, token: str) -> str:
        """Why a connection may not wait, or nothing."""
        settings = self.settings
        if sum(map(len, self.waiting.values())) >= settings.waiting or self.paired >= settings.pairs:
            return "the relay is full, try again later"
        if self.addresses[leg.address] > settings.from_one_address:
            return "too many connections from this address"
        if len(self.waiting.get((role, token), ())) >= settings.for_one_token:
            return "too many wait under this token"
        return ""

    def arrived(self, leg: Leg, role: str, token: str) -> None:
        """Pair a connection with the newest that waits for it (older ones may be dead), or let it wait."""
        other_role = DESK if role == AGENT else AGENT
        others = self.waiting.get((other_role, token))
        if others:
            other = others[-1]
            self.leave(other)
            leg.pair(other)
            return
        self.waiting[role, token].append(leg)
        leg.wait(self.settings.desk_time if role == DESK else 0.0)

    def leave(self, leg: Leg) -> None:
        """A connection waits no longer."""
        found = self.waiting.get(leg.key)
        if found and leg in found:
            found.remove(leg)
            if not found:
                del self.waiting[leg.key]


class Leg(asyncio.Protocol):
    """One connection."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self._line = b""
        self._timer: asyncio.TimerHandle | None = None
        self._life: asyncio.TimerHandle | None = None
        self.key = ("", "")
        self.other: Leg | None = None
        self.moved = False
        """A byte came since the silence was last looked at."""
        self.address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first line."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=self._pairs.settings.buffer)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        self._pairs.legs.add(self)
        self._pairs.addresses[self.address] += 1
        self._after(self._pairs.settings.hello_time, "it did not say who it is in time")

    def data_received(self, data: bytes) -> None:
        """Forward what belongs to the other; before that only the first line is read."""
        if self.other is not None:
            self.moved = True
            self._pairs.carried += len(data)
            self.other.transport.write(data)
            return
        self._line += data
        if self.key[0]:
            self.dismiss("nothing may be said before the other side is here")
        elif b"\n" in self._line or len(self._line) > LINE:
            self._greet()

    def pause_writing(self) -> None:
        """We take nothing more for now: the other has to stop sending."""
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """The other may send again."""
        if self.other is not None and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        """The other has nobody to speak with any more; what is on its way still arrives."""
        self._stop_timers()
        self._pairs.leave(self)
        self._pairs.legs.discard(self)
        self._pairs.addresses[self.address] -= 1
        if not self._pairs.addresses[self.address]:
            del self._pairs.addresses[self.address]
        other, self.other = self.other, None
        if other is not None and other.other is self:
            self._pairs.paired -= 1
            other.other = None
            other.key = ("gone", "")
            other._stop_timers()
            other.transport.close()

    def wait(self, limit: float) -> None:
        """Stay until the other side comes, `limit` seconds at most."""
        self._stop_timers()
        self._after(limit, "the other side did not come in time")
        self._live()

    def pair(self, other: Leg) -> None:
        """Forward bytes between this one and another from now on."""
        log.info("Pair under %s: %s and %s", _short(self.key[1]), self.address, other.address)
        self._pairs.paired += 1
        for leg, partner in ((self, other), (other, self)):
            leg._stop_timers()
            leg.other = partner
            leg.transport.write(GO)
        self._watch_silence()

    def dismiss(self, reason: str) -> None:
        """Say why, and close."""
        self._stop_timers()
        self._pairs.leave(self)
        self.transport.write(refusal(reason))
        self.transport.close()

    def _greet(self) -> None:
        said = read_hello(self._line)
        if said is None:
            self.dismiss("this is a relay of CrossDesk, which speaks another protocol")
            return
        role, token = said
        if reason := self._pairs.refused(self, role, token):
            log.warning("Refused %s from %s: %s", role, self.address, reason)
            self.dismiss(reason)
            return
        self.key = said
        self._pairs.arrived(self, role, token)

    def _watch_silence(self) -> None:
        """Cut a pair in which nothing has moved for the time set."""
        silence, other = self._pairs.settings.silence, self.other
        if not silence or other is None:
            return
        if self._timer is not None and not (self.moved or other.moved):
            self.transport.close()
            return
        self.moved = other.moved = False
        self._timer = asyncio.get_running_loop().call_later(silence, self._watch_silence)

    def _live(self) -> None:
        self.transport.write(WAIT)
        loop = asyncio.get_running_loop()
        self._life = loop.call_later(self._pairs.settings.sign_of_life, self._live)

    def _after(self, seconds: float, reason: str) -> None:
        if seconds:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.dismiss, reason)

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._life):
            if timer is not None:
                timer.cancel()
        self._timer = self._life = None


def _short(token: str) -> str:
    """A name for a token that gives nothing away."""
    return hashlib.sha256(token.encode()).hexdigest()[:8]
