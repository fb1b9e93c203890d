"""Programs that a site keeps by their hash: they travel once, and are looked at before each use."""

from __future__ import annotations

import asyncio
import secrets
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from broker_core.sites.adapter import Launch
from broker_core.sites.contract import CachedProgram, SiteRefused
from broker_core.sites.shell.workspace import AWAY, STALE, SiteWorkspace, Workspace, words_of
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Transport

_LOOKING = 120.0
"""Seconds that a slow disk may take to read a program for its hash."""
_PART = 1 << 18
_LACKING = 3
_ROUNDS = 5
# The time of the last use is that of the file: what nobody used for long goes (site_home).
_LOOK = """
[ -f programs/{name} ] && [ "$(sha256sum <programs/{name})" = "{sum}  -" ] || exit {lacking}
touch -c programs/{name}
"""
# In place by one rename, and only whole: who runs the one before runs on with it.
_KEEP = """
mkdir incoming/{folder} || exit
cat >incoming/{folder}/program && [ "$(sha256sum <incoming/{folder}/program)" = "{sum}  -" ] || {{
    rm -rf incoming/{folder}
    exit {lacking}
}}
cd incoming/{folder} && chmod 700 program && mv -f program ../../programs/{name} && rmdir ../{folder}
"""


def kept_name(program: CachedProgram) -> str:
    """Its name at the site, which tells its content."""
    return f"{program.name}.{program.sha256[:16]}"


class ProgramCache:
    """One site's programs besides those that every job needs."""

    def __init__(self, site: str, transport: Transport) -> None:
        self._site, self._transport = site, transport
        self._turn = asyncio.Lock()

    async def have(self, home: Workspace, program: CachedProgram) -> bool:
        """Have it there whole: looked at, and sent if need be. False where the directory is another one.

        Raises SiteRefused where it cannot be kept, and LinkLost.
        """
        async with self._turn:
            script = home.guarded(_LOOKING) + _filled(_LOOK, program)
            reply = await self._transport.run(script, deadline=_LOOKING)
            if reply.status == _LACKING:
                return await self._send(home, program)
            return reply.status not in (AWAY, STALE)

    async def equip(
        self, launches: Sequence[Launch], home: SiteWorkspace, probe: Mapping[str, Sequence[str]]
    ) -> dict[str, SiteRefused]:
        """Have the agents at the site that launches name; those that cannot be equipped, by tag.

        `probe`: what is known of the login host. Raises LinkLost.
        """
        refused: dict[str, SiteRefused] = {}
        wanted = {program for one in launches for program in one.order.agents if _may_run(program, probe)}
        for program in sorted(wanted, key=lambda one: one.name):
            try:
                for _ in range(_ROUNDS):
                    if await self.have(await home.get(), program):
                        break
                    home.forget()
            except SiteRefused as error:
                users = (one for one in launches if program in one.order.agents)
                refused |= {one.order.attempt.tag: error for one in users}
        return refused

    async def _send(self, home: Workspace, program: CachedProgram) -> bool:
        script = home.guarded(DEADLINE) + _filled(_KEEP, program, folder=f"k{secrets.token_hex(6)}")
        reply = await self._transport.send(script, _content(program.path))
        if reply.status in (AWAY, STALE):
            return False
        if reply.status == _LACKING and not reply.err:
            raise LinkLost("A program arrived damaged; it is sent again.", place=self._site)
        if reply.status:
            raise SiteRefused(
                f"The site cannot keep the agent of interactive jobs: {words_of(reply.err)}.",
                place=home.path,
                remedy="Free some space there, or name another directory in the settings of the site.",
            )
        return True


def _may_run(program: CachedProgram, probe: Mapping[str, Sequence[str]]) -> bool:
    """False for a program of another kind of machine than the login host; nodes look for themselves."""
    machine = probe.get("machine", [""])[0]
    return not machine or machine == "x86_64" or "x86_64" not in program.name


def _filled(script: str, program: CachedProgram, **more: str) -> str:
    name = shlex.quote(kept_name(program))
    return script.format(name=name, sum=program.sha256, lacking=_LACKING, **more)


async def _content(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PART):
            yield piece
