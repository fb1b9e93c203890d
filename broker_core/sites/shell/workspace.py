"""The broker's own directory at a site: made once, with the programs that are shipped there."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import shlex
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from broker_core.errors import CrossDeskError
from broker_core.sites.transport.contract import Transport
from broker_core.worker.script import (
    box_path,
    boxing_archive,
    mpi_start_path,
    overlay_files,
    publish_files,
    runner_path,
    shipped_name,
    software_path,
    starter_path,
    use_path,
    warm_start_path,
)
from broker_core.worker.scripts.payloads.compiled import COMPILE

STALE = 93
"""Exit status of a script that came to another host, after a restart of it, or too late."""
UNWRITABLE = 94
"""Exit status of a script that could not write there."""
AWAY = 90
"""Exit status of a script that found no directory of this broker."""
POOR = 95
"""Exit status of a script that found no tar and find with what it takes to bring files."""
_SHELL = re.compile(
    r"^\S*sh: (?:eval: )?(?:line )?\d+: (?:eval: )?(?:(?:cannot create )?incoming/probe\.\d+: )?"
)
"""Where in a script its shell complains, and of which file made for that, says nothing to people."""
_ARCHIVE = "boxing"
_TOOLS = f"""
: | tar -h --hard-dereference --no-recursion --null -cf /dev/null -T - >/dev/null 2>&1 &&
    find / -prune -printf '' >/dev/null 2>&1 || exit {POOR}
"""
_HELLO = """
umask 077
# Whoever owns it, or may write there, could put another program in the place of the Job Starter.
mkdir -p "$home" || exit 1
[ -O "$home" ] || { echo "$home belongs to another user" >&2; exit 1; }
chmod go-rwx "$home" || exit 1
for part in attempts files groups incoming locks news programs; do mkdir -p "$home/$part" || exit 1; done
cd "$home" && home=$(pwd -P) || exit 1
printf x >incoming/probe.$$ && rm -f incoming/probe.$$ || exit 1
boot=
[ ! -r /proc/sys/kernel/random/boot_id ] || read -r boot </proc/sys/kernel/random/boot_id
up=
[ ! -r /proc/uptime ] || read -r up rest </proc/uptime
printf '%s\\n%s\\n%s\\036\\n' "$boot" "$up" "$home"
# Programs that were not used for long, and that no job here is to be run with.
find programs/* -prune -mtime +30 2>/dev/null | while read -r old; do
    find attempts groups -maxdepth 2 \\( -name order -o -name run \\) -exec grep -lF "$old" {} + |
        grep -q . || rm -rf "$old"
done
ls programs
# What exchanges left that were cut off, and groups of attempts that are all gone; nothing takes a day.
find incoming/* locks/* -prune -mtime +0 -exec rm -rf {} + 2>/dev/null
find groups/* -prune -mtime +0 2>/dev/null | while read -r group; do
    left=
    [ ! -r "$group/list" ] || while read -r tag; do
        if [ -d "attempts/$tag" ]; then left=1; break; fi
    done <"$group/list"
    [ -n "$left" ] || rm -rf "$group"
done
:
"""
_SHIP = """
umask 077
cd "$home" && mkdir incoming/$1 && tar -xf - -C incoming/$1 || exit
mv -f incoming/$1/* programs/ && rmdir incoming/$1 || exit
"""
_COMPILE = f"""
[ ! -x /usr/bin/python3 ] ||
    /usr/bin/python3 -I -S -c {shlex.quote(COMPILE)} "programs/$2" </dev/null >/dev/null 2>&1
:
"""
"""Else all glideins that begin first would do it at once, on nodes that mostly have the same Python."""
WRITES = f"""
printf x >incoming/probe.$$ && rm -f incoming/probe.$$ || exit {UNWRITABLE}
"""
"""Goes behind `Workspace.guarded`; ends the script with UNWRITABLE where no file can be written."""
# Too late means: the broker has given up waiting, and may have done the same again meanwhile.
_GUARD = """
cd {home} || exit {away}
umask 077
if [ -r /proc/uptime ] && [ -r /proc/sys/kernel/random/boot_id ]; then
    read -r boot </proc/sys/kernel/random/boot_id
    read -r up rest </proc/uptime
    [ "$boot" = {boot} ] && [ "${{up%.*}}" -le {until} ] || exit {stale}
fi
"""


class SiteUnfit(CrossDeskError):
    """The site answers, but cannot be used as it is."""

    code = "site_unfit"
    status = 502


@dataclass(frozen=True, slots=True)
class Workspace:
    """The directory, and by which clock scripts know that they come too late."""

    path: str
    boot: str
    """Of the host that answered; empty where it does not tell."""
    uptime: float
    seen: float
    """By this machine's monotonic clock, when `uptime` was read at the earliest."""

    def guarded(self, within: float) -> str:
        """Shell text that goes into the directory, but not after `within` seconds from now.

        It ends the script with AWAY or STALE otherwise.
        """
        until = self.uptime + (time.monotonic() - self.seen) + within
        boot = shlex.quote(self.boot)
        return _GUARD.format(home=shlex.quote(self.path), away=AWAY, boot=boot, until=int(until), stale=STALE)


class SiteWorkspace:
    """Finds or makes the directory, and keeps what was found until it proves wrong."""

    def __init__(self, transport: Transport, directory: str, mark: str) -> None:
        """`directory`: absolute, or in the home directory with or without `~/`; empty: `.crossdesk` there."""
        self._transport = transport
        self._place = _place_of(directory or ".crossdesk")
        self._mark = mark
        self._home: Workspace | None = None
        self.shown = f"{directory or '~/.crossdesk'}/{mark}"
        """Where it is, for people."""
        self._turn = asyncio.Lock()
        shipped = (starter_path(), runner_path(), software_path(), use_path(), box_path(), warm_start_path())
        programs = [_Program(path.stem, [path.read_bytes()]) for path in shipped]
        folders = {"mpi_start": [mpi_start_path(), *overlay_files()], "publish": publish_files()}
        for key, paths in folders.items():
            names = [path.name for path in paths]
            programs.append(_Program(key, [path.read_bytes() for path in paths], names))
        programs.append(_Program(_ARCHIVE, [boxing_archive()]))
        self.programs = {one.key: one for one in programs}

    async def get(self) -> Workspace:
        """The directory; raises SiteUnfit where it cannot be made or written, and LinkLost.

        The link tells whether that is in the way.
        """
        async with self._turn:
            if self._home is None:
                try:
                    self._home = await self._make()
                except SiteUnfit as unfit:
                    self._transport.link.hinder(str(unfit))
                    raise
                self._transport.link.hinder("")
            return self._home

    def forget(self) -> None:
        """It has gone, or another host answers: look again before the next use."""
        self._home = None

    def program(self, home: Workspace, name: str) -> str:
        """Path of a shipped program."""
        return f"{home.path}/programs/{self.programs[name].name}"

    async def _make(self) -> Workspace:
        seen = time.monotonic()
        script = f"{_TOOLS}home={self._place}/{shlex.quote(self._mark)}\n{_HELLO}"
        reply = await self._transport.run(script)
        if reply.status == POOR:
            raise SiteUnfit(
                "Its commands tar and find are not those of GNU, without which no output comes back.",
                remedy="Have the packages tar and findutils installed there, or set PATH in the site's "
                "environment to where they are.",
            )
        if reply.status:
            raise SiteUnfit(
                f"The directory for jobs cannot be used: {words_of(reply.err)}.",
                remedy="Make room or give the account the right to write there, or name another directory in "
                "the settings of the site.",
            )
        head, _, there = reply.out.decode("utf-8", "surrogateescape").partition("\x1e\n")
        boot, uptime, path = head.split("\n", 2)
        home = Workspace(path, boot, float(uptime or 0), seen)
        missing = [one for one in self.programs.values() if one.name not in there.split("\n")]
        if missing:
            await self._ship(home, missing)
        return home

    async def _ship(self, home: Workspace, programs: list[_Program]) -> None:
        folder = "ship" + hashlib.sha256(f"{time.monotonic_ns()}".encode()).hexdigest()[:12]
        archive = self.programs[_ARCHIVE]
        script = f"set -- {folder} {archive.name}\nhome={shlex.quote(home.path)}\n{_SHIP}"
        script += _COMPILE if archive in programs else ""
        reply = await self._transport.run(script, stdin=_packed(programs))
        if reply.status:
            raise SiteUnfit(f"The Job Starter cannot be written: {words_of(reply.err)}.", place=home.path)


class _Program:
    """One shipped script, or a folder of some, under a name that tells its content."""

    def __init__(self, key: str, content: Sequence[bytes], names: Sequence[str] = ()) -> None:
        """`names`: those of the files in a folder; empty: it is a file itself."""
        self.key = key
        self.name = shipped_name(key, b"".join(content))
        paths = [f"{self.name}/{name}" for name in names] or [self.name]
        self.files = dict(zip(paths, content, strict=True))


def _packed(programs: list[_Program]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in (item for program in programs for item in program.files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o700
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def _place_of(directory: str) -> str:
    """As a word of the shell. Where a script happens to begin tells nothing: the home directory counts."""
    if directory.startswith("/"):
        return shlex.quote(directory)
    below = "." if directory == "~" else directory.removeprefix("~/")
    return f'"$HOME"/{shlex.quote(below)}'


def words_of(err: bytes) -> str:
    """The last line that a command printed to complain, as part of a sentence.

    Of what tar says the first line, from which the others follow.
    """
    lines = err.decode("utf-8", "replace").strip().splitlines() or ["no reason was given"]
    first = next((line for line in lines if line.startswith("tar: ")), lines[-1])
    told = first if lines[-1].startswith("tar: ") else lines[-1]
    return _SHELL.sub("", told).rstrip(".")


def is_tag(name: str) -> bool:
    """True for what can be a tag, and is safe in paths."""
    return re.fullmatch(r"[A-Za-z0-9_-]+(\.[0-9]+){1,2}", name) is not None
