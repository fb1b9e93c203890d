"""What is typed in a session, on its way over one link after another, and the end of it."""

from __future__ import annotations

from broker_core.channel.stream_link import StreamLink
from broker_core.shadow.desk_input import DeskInput, LineInput

END_KEY = b"\x04"
"""Ctrl-D: what ends the input at a terminal."""


class SessionInput:
    """Kept until the program has it, or another desk takes the input over."""

    def __init__(self) -> None:
        self.line = LineInput()
        """What waits for Enter where the program reads lines."""
        self._bytes = DeskInput()
        self._link: StreamLink | None = None
        self._by_lines = False
        self._writes = False
        """The program gets it from this desk."""
        self._held = False
        """The program reads nothing for now."""
        self._ends = self._marked = self._told = False
        """No input follows; the last bytes say so or are complete; the agent was told on this link."""

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
        self._ends = True
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
        self._held = self._told = False
        if self._ends:
            self._mark()

    def news(self, *, writes: bool) -> None:
        """Whether the program gets its input from this desk."""
        if writes != self._writes:
            self._writes, self._held, self._told = writes, False, False
        if not writes:
            # Also what was typed while there was no connection: it must not arrive at some later time.
            self._bytes.drop()
        self._send()

    def hold(self, held: bool) -> None:
        """The program reads nothing for now, or something again."""
        self._held = held
        self._send()

    def confirm(self, place: int) -> None:
        """The agent has what is below `place`."""
        self._bytes.confirm(place)

    def restart(self) -> None:
        """Another program has nothing yet, and gets nothing that was meant for the one before."""
        self._bytes, self._writes, self._marked = DeskInput(), False, False
        self.line.rest()

    def _mark(self) -> None:
        if not self._marked:
            self._marked = True
            self._bytes.add(self.line.rest() if self._by_lines else END_KEY, always=True)

    def _send(self) -> None:
        if self._link is None or not self._writes or self._held:
            return
        place, data = self._bytes.next()
        if data:
            self._link.type(place, data)
        if self._marked and self._by_lines and not self._told:
            self._told = True
            self._link.say("eof")
