"""Agents and input files that a site keeps by their hash: sent once, and looked at before they are used."""

from __future__ import annotations

import asyncio
import re
import secrets
import shlex
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.adapter import Launch
from broker_core.sites.contract import InputFile, SiteRefused
from broker_core.sites.link import TransferProgress
from broker_core.sites.shell.workspace import AWAY, STALE, SiteWorkspace, Workspace, words_of
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Reply, Transport

_LOOKING = 120.0
"""Seconds that a slow disk may take to read content for its hash."""
_AGENT = "the agent of interactive jobs"
_SLOWEST = 5.0
"""MB a second that a slow disk reads."""
_PART = 1 << 18
_LACKING, _LACKING_PLAIN = 3, 4
"""Exit status of a look where content is not there; the second one: and it has to come as it is."""
_STAMP = re.compile(r"(?P<now>[0-9]+)\n(?P<stamp>[0-9]+ [0-9]+ [0-9]+ (?P<changed>[0-9]+))\n\Z")
_LEVEL = 6
_GZIP = 31
_ROUNDS = 5
WORTH_KEEPING = 16 << 10
"""Bytes of an input file from which on it is kept: a smaller one is sent sooner than copied there."""
# The time of the last use is that of the file: what nobody used for long goes (workspace.py, leftovers.py).
_CHECK = """
stamp() {{ stat -c '%i %s %Y %Z' {place} 2>/dev/null; }}
if [ -z "{stamp}" ] || [ "$(stamp)" != "{stamp}" ]; then
    [ -f {place} ] && [ "$(sha256sum <{place})" = "{sum}  -" ] || {{
        command -v gzip >/dev/null 2>&1 || exit {plain}
        exit {lacking}
    }}
fi
[ -z "$(find {place} -mtime +0)" ] || touch -c {place}
date +%s
stamp || :
"""
_SETTLED = 2
"""Seconds after which a change would have changed the times that a file has: they are whole ones."""
# In place by one rename, and only whole: who uses the one before has it still.
_KEEP = """
mkdir -p {folder} && mkdir incoming/{part} || exit
{unpack} >incoming/{part}/content && [ "$(sha256sum <incoming/{part}/content)" = "{sum}  -" ] || {{
    rm -rf incoming/{part}
    exit {lacking}
}}
cd incoming/{part} && chmod {mode} content && mv -f content ../../{place} && rmdir ../{part}
"""


@dataclass(frozen=True, slots=True)
class CachedContent:
    """Content and where a site keeps it."""

    remote_path: str
    """Below the broker's directory there; tells the content."""
    path: Path
    """On the broker's machine."""
    sha256: str
    mode: str
    title: str
    """For people."""
    packs: bool = False
    """It is sent by gzip where the site has that."""

    @property
    def looking(self) -> float:
        """Seconds that a look at it may take."""
        return _LOOKING + self.path.stat().st_size / (_SLOWEST * 1e6)


def program_content(program: CachedProgram) -> CachedContent:
    """A program, which can be run where it is kept."""
    remote_path = f"programs/{program.cached_name}"
    return CachedContent(remote_path, program.path, program.sha256, "700", _AGENT, packs=True)


def input_content(file: InputFile) -> CachedContent:
    """An input file. Attempts get copies, so nobody writes there."""
    title = f"the input file {file.name}"
    return CachedContent(f"files/{file.sha256}", file.path, file.sha256, "600", title)


def is_cached(file: InputFile) -> bool:
    """True for an input file that goes to a site once, and not with each job. Raises OSError."""
    return bool(file.sha256) and file.path.stat().st_size >= WORTH_KEEPING


class ContentCache:
    """One site's content besides the programs that every job needs."""

    def __init__(self, site: str, transport: Transport) -> None:
        self._site, self._transport = site, transport
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Place to the turn of those who look at it: what two miss at once is sent once."""
        self._home: Workspace | None = None
        self._seen: set[str] = set()
        """Places in that directory at which this broker found or put the right content."""
        self._stamps: dict[str, str] = {}
        """The same to what `stat` says of them while they are what they were then."""

    async def have(self, home: Workspace, content: CachedContent, users: Sequence[str] = ()) -> bool:
        """Have it there whole: looked at, and sent if need be. False where the directory is another one.

        `users`: tags of the attempts that wait for it. Raises SiteRefused where it cannot be kept, and
        LinkLost.
        """
        async with self._turns.setdefault(content.remote_path, asyncio.Lock()):
            script = home.guarded(content.looking) + _filled(_CHECK, content, stamp=self.stamp(content))
            reply = await self._transport.run(script, deadline=content.looking)
            self._learn(content, reply)
            if reply.status in (_LACKING, _LACKING_PLAIN):
                packed = content.packs and reply.status == _LACKING
                return await self._send(home, content, users, packed=packed)
            return reply.status not in (AWAY, STALE)

    async def have_once(self, home: Workspace, content: CachedContent, users: Sequence[str] = ()) -> bool:
        """The same, looking no second time while the directory is the same; see `forget`."""
        if home != self._home:
            self._home, self._seen = home, set()
        if content.remote_path not in self._seen:
            if not await self.have(home, content, users):
                return False
            if home == self._home:
                self._seen.add(content.remote_path)
        return True

    def forget(self) -> None:
        """Something was not where it should be: look again."""
        self._seen.clear()
        self._stamps.clear()

    def stamp(self, content: CachedContent) -> str:
        """Inode, size and times of content that was looked at, by which it is known again; empty: none."""
        return self._stamps.get(content.remote_path, "")

    def _learn(self, content: CachedContent, reply: Reply) -> None:
        self._stamps.pop(content.remote_path, None)
        found = _STAMP.search(reply.out.decode("ascii", "replace"))
        if reply.status == 0 and found and int(found["now"]) - int(found["changed"]) >= _SETTLED:
            self._stamps[content.remote_path] = found["stamp"]

    async def _send(
        self, home: Workspace, content: CachedContent, users: Sequence[str], *, packed: bool
    ) -> bool:
        script = home.guarded(DEADLINE) + _filled(_KEEP, content, unpack="gzip -dc" if packed else "cat")
        sent = 0

        async def counted() -> AsyncIterator[bytes]:
            nonlocal sent
            packing = zlib.compressobj(_LEVEL, wbits=_GZIP)
            async for piece in _pieces(content.path):
                if part := await asyncio.to_thread(packing.compress, piece) if packed else piece:
                    yield part
                sent += len(piece)
            if packed:
                yield packing.flush()

        progress = TransferProgress(True, content.path.stat().st_size, lambda: sent)
        transfers = self._transport.link.transfers
        transfers |= dict.fromkeys(users, progress)
        try:
            reply = await self._transport.send(script, counted(), deadline=content.looking)
        finally:
            for tag in users:
                transfers.pop(tag, None)
        if reply.status in (AWAY, STALE):
            return False
        if reply.status == _LACKING and not reply.err:
            raise LinkLost("A file arrived damaged; it is sent again.", place=self._site)
        if reply.status:
            raise SiteRefused(
                f"The site cannot keep {content.title}: {words_of(reply.err)}.",
                place=home.path,
                remedy="Free some space there, or name another directory in the settings of the site.",
            )
        return True


def _filled(script: str, content: CachedContent, *, stamp: str = "", unpack: str = "") -> str:
    return script.format(
        place=shlex.quote(content.remote_path),
        folder=shlex.quote(content.remote_path.partition("/")[0]),
        sum=content.sha256,
        lacking=_LACKING,
        plain=_LACKING_PLAIN,
        stamp=stamp,
        unpack=unpack,
        part=f"k{secrets.token_hex(6)}",
        mode=content.mode,
    )


class ContentDelivery:
    """Brings what launches need besides their orders: agents, and the input files that a site keeps."""

    def __init__(self, cache: ContentCache, home: SiteWorkspace, machine: Callable[[], str]) -> None:
        """`machine`: kind of the login host; empty: not known."""
        self._cache, self._home, self._machine = cache, home, machine

    async def bring(self, launches: Sequence[Launch]) -> dict[str, SiteRefused]:
        """Have it there; those that cannot be equipped, by tag. Raises LinkLost."""
        users: dict[CachedContent, list[str]] = {}
        for one in launches:
            agents = (program_content(agent) for agent in one.order.agents if self._may_run(agent))
            inputs = (input_content(file) for file in one.order.inputs if is_cached(file))
            for content in (*agents, *inputs):
                users.setdefault(content, []).append(one.order.attempt.tag)
        ways = (self._refusal(content, users[content]) for content in users)
        found = zip(users.values(), await asyncio.gather(*ways), strict=True)
        return {tag: refused for tags, refused in found if refused is not None for tag in tags}

    async def keep(self, program: CachedProgram) -> None:
        """Have a program there before a launch asks for it. Raises SiteRefused and LinkLost."""
        if self._may_run(program):
            await self._bring(program_content(program), ())

    async def _refusal(self, content: CachedContent, users: Sequence[str]) -> SiteRefused | None:
        try:
            await self._bring(content, users)
        except SiteRefused as refused:
            return refused
        return None

    async def _bring(self, content: CachedContent, users: Sequence[str]) -> None:
        have = self._cache.have if content.remote_path.startswith("programs/") else self._cache.have_once
        for _ in range(_ROUNDS):
            if await have(await self._home.get(), content, users):
                return
            self._home.forget()

    def _may_run(self, program: CachedProgram) -> bool:
        """False for a program of another kind of machine than the login host; nodes look for themselves."""
        machine = self._machine()
        return not machine or machine == "x86_64" or "x86_64" not in program.name


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PART):
            yield piece
