"""Connections between the programs of components, as a hub passes them on (CB-AL-10).

Where components have no packets, their carriers speak of connections. Each end says how many bytes it takes,
so that nothing is dropped here and what waits for a component is bounded; who sends more than that, or speaks
otherwise than the other end may expect, is hostile, and is sent away.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from broker_core.worker.scripts.overlay_link import (
    BROKEN,
    CREDIT,
    DATA,
    END,
    HEAD,
    MOST_WINDOW,
    NUMBER,
    OPEN,
    OPENED,
    OPENING,
    REASON,
    RESET,
    STREAM_HEAD,
    UNREACHABLE,
    stream_frame,
)

MOST_FLOWS = 16384
"""Connections that one component may have opened at a time."""
Key = tuple[bytes, bytes, int]
"""Address of who has opened it, that of the other end, and the number that the first one gave it."""
_SIZES = {OPEN: OPENING.size, OPENED: NUMBER.size, CREDIT: NUMBER.size, END: 0, RESET: REASON.size}


class FlowEnd(Protocol):
    """A component, as far as its connections matter."""

    address: bytes
    sent: int
    received: int

    @property
    def is_there(self) -> bool:
        """It has called, and has not ended."""

    def say(self, framed: bytes) -> None:
        """Send it a frame, if it is there."""


class Hostile(Exception):
    """What no carrier of this project says."""


@dataclass(slots=True)
class Flow:
    """One connection."""

    opener: FlowEnd
    called: FlowEnd
    credit: dict[FlowEnd, int]
    """Bytes that each end may send now."""
    is_open: bool = False
    ended: set[FlowEnd] = field(default_factory=set)
    """Ends that send no more."""

    def other(self, member: FlowEnd) -> FlowEnd:
        """The end that is not this one."""
        return self.called if member is self.opener else self.opener


class FlowTable:
    """The connections between all components of a job."""

    def __init__(self) -> None:
        self._flows: dict[Key, Flow] = {}
        self._opened: dict[FlowEnd, int] = {}

    def __len__(self) -> int:
        return len(self._flows)

    def pass_on(self, member: FlowEnd, framed: bytes, others: Mapping[bytes, FlowEnd]) -> None:
        """Take a frame of a component, and send it to the one that it concerns; raises Hostile."""
        try:
            what, address, by_opener, number = STREAM_HEAD.unpack_from(framed, HEAD.size)
        except struct.error as error:
            raise Hostile from error
        rest = framed[HEAD.size + STREAM_HEAD.size :]
        if by_opener > 1 or (not rest if what == DATA else _SIZES.get(what) != len(rest)):
            raise Hostile
        key = (member.address, address, number) if by_opener else (address, member.address, number)
        if what == OPEN:
            self._open(member, key, rest, others.get(address))
            return
        flow = self._flows.get(key)
        if flow is not None:  # else the other end has just given it up
            self._carry(member, flow, what, rest)
            flow.other(member).say(stream_frame(what, member.address, bool(by_opener), number, rest))
            if what == RESET or len(flow.ended) == 2:
                self._remove(key)

    def end(self, member: FlowEnd) -> None:
        """A component is gone: its connections are over for the others."""
        for key in [key for key, flow in self._flows.items() if member in flow.credit]:
            flow = self._flows[key]
            is_opener = member is flow.opener
            flow.other(member).say(
                stream_frame(RESET, member.address, is_opener, key[2], REASON.pack(BROKEN))
            )
            self._remove(key)

    def _open(self, member: FlowEnd, key: Key, rest: bytes, other: FlowEnd | None) -> None:
        _, _, room = OPENING.unpack(rest)
        if key[0] != member.address or key in self._flows or not 0 < room <= MOST_WINDOW:
            raise Hostile
        is_full = self._opened.get(member, 0) >= MOST_FLOWS
        if other is None or other is member or not other.is_there or is_full:
            member.say(stream_frame(RESET, key[1], False, key[2], REASON.pack(UNREACHABLE)))
            return
        self._flows[key] = Flow(member, other, {member: 0, other: room})
        self._opened[member] = self._opened.get(member, 0) + 1
        other.say(stream_frame(OPEN, member.address, True, key[2], rest))

    def _carry(self, member: FlowEnd, flow: Flow, what: int, rest: bytes) -> None:
        """What follows for the connection; raises Hostile for what its other end did not allow."""
        other = flow.other(member)
        if what == OPENED:
            if flow.is_open or member is flow.opener:
                raise Hostile
            flow.is_open = True
            self._allow(flow, other, rest)
        elif what == CREDIT:
            self._allow(flow, other, rest)
        elif what == DATA:
            if not flow.is_open or member in flow.ended or len(rest) > flow.credit[member]:
                raise Hostile
            flow.credit[member] -= len(rest)
            member.sent += len(rest)
            other.received += len(rest)
        elif what == END:
            if not flow.is_open or member in flow.ended:
                raise Hostile
            flow.ended.add(member)

    @staticmethod
    def _allow(flow: Flow, other: FlowEnd, rest: bytes) -> None:
        more = NUMBER.unpack(rest)[0]
        flow.credit[other] += more
        if not flow.is_open or not more or flow.credit[other] > MOST_WINDOW:
            raise Hostile

    def _remove(self, key: Key) -> None:
        self._opened[self._flows.pop(key).opener] -= 1
