"""What is typed in a session, on its way over one link after another, and the end of it."""

from __future__ import annotations

from enum import Enum, IntEnum

from broker_core.interactive.channel.stream_link import StreamLink

MOST = 1 << 20
"""Bytes of input that wait here; more is refused while there are any."""
END_KEY = b"\x04"
"""Ctrl-D: what ends the input at a terminal."""


class DeskInput:
    """Bytes by their place in what this desk has ever sent."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._start = 0
        """Place of the first byte that the agent does not have."""
        self._sent = 0
        """Place behind the last byte given to the present connection."""

    @property
    def confirmed(self) -> int:
        """Bytes that the agent has."""
        return self._start

    @property
    def unsent(self) -> int:
        """Bytes that the agent does not have yet, as far as we know."""
        return len(self._bytes)

    def add(self, data: bytes, *, always: bool = False) -> bool:
        """Take input; False if too much is waiting already, and it need not be taken `always`."""
        if self._bytes and len(self._bytes) + len(data) > MOST and not always:
            return False
        self._bytes += data
        return True

    def next(self) -> tuple[int, bytes]:
        """Place and bytes of what is to be sent now; it counts as sent."""
        place = self._sent
        data = bytes(memoryview(self._bytes)[place - self._start :])
        self._sent += len(data)
        return place, data

    def confirm(self, place: int) -> None:
        """The agent has all bytes below `place`."""
        have = max(0, min(place - self._start, len(self._bytes)))
        del self._bytes[:have]
        self._start += have

    def reconnect(self, place: int) -> None:
        """A new connection: the agent has what is below `place`, the rest is sent again."""
        self.confirm(place)
        self._sent = self._start

    def drop(self) -> None:
        """Another desk writes now: what waits is not sent any more."""
        self._bytes.clear()
        self._sent = self._start


class LineInput:
    """Input that goes out at Enter (CB-BYP-07)."""

    def __init__(self) -> None:
        self.line = b""
        """What was typed since the last Enter."""

    def type(self, data: bytes) -> bytes:
        """Add what was typed; returns the complete lines."""
        self.line += data
        whole, end, rest = self.line.rpartition(b"\n")
        self.line = rest
        return whole + end

    def rest(self) -> bytes:
        """What was typed without an Enter, because none will follow."""
        rest, self.line = self.line, b""
        return rest


class InputTurn(Enum):
    """Whose turn it is to write."""

    ELSEWHERE = "elsewhere"
    """The program does not get its input from this desk."""
    OPEN = "open"
    HELD = "held"
    """The program reads nothing for now."""


class InputEnd(IntEnum):
    """How far the end of the input has come, in its order."""

    NONE = 0
    WANTED = 1
    """No input follows."""
    MARKED = 2
    """The last bytes say so or are complete."""
    TOLD = 3
    """The agent was told on this link."""


class SessionInput:
    """Kept until the program has it, or another desk takes the input over."""

    def __init__(self) -> None:
        self.line = LineInput()
        """What waits for Enter where the program reads lines."""
        self._bytes = DeskInput()
        self._link: StreamLink | None = None
        self._by_lines = False
        self._turn = InputTurn.ELSEWHERE
        self._end = InputEnd.NONE

    @property
    def sent(self) -> int:
        """Bytes that the agent has."""
        return self._bytes.confirmed

    @property
    def unsent(self) -> int:
        """Bytes that wait here."""
        return self._bytes.unsent

    def write(self, data: bytes) -> bool:
        """Take input, which goes out at Enter where the program reads lines.

        False where too much is waiting already; nothing of it was taken then.
        """
        before = self.line.line
        if not self._bytes.add(self.line.type(data) if self._by_lines else data):
            self.line.line = before
            return False
        self._send()
        return True

    def end(self) -> None:
        """No input follows; what was typed of a line goes out first."""
        self._end = max(self._end, InputEnd.WANTED)
        if self._link is not None:
            self._mark()
            self._send()

    def linked(self, link: StreamLink) -> None:
        """A new link is there; nothing is sent before `welcome` and `news`."""
        self._link = link

    def lost(self) -> None:
        """It is no more; what is typed waits."""
        self._link = None

    def welcome(self, place: int, *, by_lines: bool) -> None:
        """The agent has what is below `place`; the rest is sent again."""
        self._by_lines = by_lines
        self._bytes.reconnect(place)
        if self._turn is InputTurn.HELD:
            self._turn = InputTurn.OPEN
        self._end = min(self._end, InputEnd.MARKED)
        self._mark()

    def news(self, *, writes: bool) -> None:
        """Whether the program gets its input from this desk."""
        if writes != (self._turn is not InputTurn.ELSEWHERE):
            self._turn = InputTurn.OPEN if writes else InputTurn.ELSEWHERE
            self._end = min(self._end, InputEnd.MARKED)
        if not writes:
            # Also what was typed while there was no connection: it must not arrive at some later time.
            self._bytes.drop()
        self._send()

    def hold(self, held: bool) -> None:
        """The program reads nothing for now, or something again."""
        if self._turn is not InputTurn.ELSEWHERE:
            self._turn = InputTurn.HELD if held else InputTurn.OPEN
        self._send()

    def confirm(self, place: int) -> None:
        """The agent has what is below `place`."""
        self._bytes.confirm(place)

    def restart(self) -> None:
        """Another program has nothing yet, and gets nothing that was meant for the one before."""
        self._bytes, self._turn = DeskInput(), InputTurn.ELSEWHERE
        self._end = min(self._end, InputEnd.WANTED)
        self.line.rest()

    def _mark(self) -> None:
        if self._end is InputEnd.WANTED:
            self._end = InputEnd.MARKED
            self._bytes.add(self.line.rest() if self._by_lines else END_KEY, always=True)

    def _send(self) -> None:
        if self._link is None or self._turn is not InputTurn.OPEN:
            return
        place, data = self._bytes.next()
        if data:
            self._link.type(place, data)
        if self._end is InputEnd.MARKED and self._by_lines:
            self._end = InputEnd.TOLD
            self._link.say("eof")
