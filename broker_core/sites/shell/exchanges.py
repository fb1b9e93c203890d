"""Running scripts in the broker's directory at a site, never too late and never in the wrong place."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.sites.shell.files import NO_FILE
from broker_core.sites.shell.workspace import AWAY, STALE, SiteUnfit, SiteWorkspace, Workspace, words_of
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Reply, Transport

_ROUNDS = 5


class ShellExchanges:
    """One site's exchanges. A directory that has gone, or another host, is found out and met again."""

    def __init__(self, site: str, transport: Transport, home: SiteWorkspace) -> None:
        self._site, self._transport, self._home = site, transport, home

    async def run(
        self, script: Callable[[Workspace], str], stdin: bytes = b"", deadline: float = DEADLINE
    ) -> Reply:
        """Run a script; raises LinkLost and SiteUnfit."""
        for _ in range(_ROUNDS):
            home = await self._home.get()
            text = home.guarded(deadline) + script(home)
            reply = await self._transport.run(text, stdin=stdin, deadline=deadline)
            if reply.status not in (AWAY, STALE):
                return reply
            self._home.forget()
        raise self._vanishing()

    async def stream(self, script: str, lines: bytes, write: Callable[[bytes], None]) -> int:
        """Exit status, 0 or NO_FILE, of a script that reads `lines` and whose output goes to `write`."""
        for _ in range(_ROUNDS):
            home = await self._home.get()
            # The lines go in the script itself: a long answer is received, not sent for.
            end = "END-OF-LINES"
            text = f"{home.guarded(DEADLINE)}{{\n{script}\n}} <<'{end}'\n{lines.decode()}{end}\n"
            reply = await self._transport.receive(text, write)
            if reply.status in (0, NO_FILE):
                return reply.status
            if reply.status not in (AWAY, STALE):
                raise LinkLost(f"The transfer was cut off: {words_of(reply.err)}.", place=self._site)
            self._home.forget()
        raise self._vanishing()

    def _vanishing(self) -> SiteUnfit:
        return SiteUnfit("The directory of this broker vanishes again and again.", place=self._site)
