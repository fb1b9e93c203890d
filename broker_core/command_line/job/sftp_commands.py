"""The commands of `crossdesk job sftp`, as users of sftp know them."""

from __future__ import annotations

import os
import shlex
import stat
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from broker_core.command_line import output
from broker_core.command_line.invocation import session
from broker_core.errors import BadRequest, CrossDeskError

if TYPE_CHECKING:
    import asyncssh
_MANY = 1000


class Files:
    """Both directories of a session, and what may be done between them."""

    def __init__(self, there: asyncssh.SFTPClient) -> None:
        self._there = there

    async def do(self, name: str, words: Sequence[str]) -> None:
        """Carry out one command; raises BadRequest and CrossDeskError."""
        import asyncssh  # takes long to load, and other commands do not need it

        known = COMMANDS.get(name)
        if known is None:
            raise BadRequest(f"There is no command {name!r}.", remedy="Try help.", code="usage")
        form, least, most, act = known
        if not least <= len(words) <= most:
            raise BadRequest(f"It is written: {form}", code="usage")
        try:
            await act(self, list(words))
        except (OSError, asyncssh.Error) as error:
            told = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error)
            raise CrossDeskError(f"{name}: {told}.", place=", ".join(words)) from error

    async def ls(self, words: list[str]) -> None:
        """List a directory, or what a name with wildcards means."""
        long = "-l" in words
        paths = [word for word in words if word != "-l"] or ["."]
        shown: list[tuple[str, asyncssh.SFTPAttrs]] = []
        for path in paths:
            shown += await self._found(path)
        if session().json:
            output.as_json([{"name": name, "size": attributes.size} for name, attributes in shown])
            return
        for name, attributes in shown:
            output.line(_long(name, attributes) if long else f"{attributes.size or 0:>14,}  {name}")

    async def get(self, words: list[str]) -> None:
        """Fetch: the last of several names that is no name there is where to."""
        names, here = _ends(words)
        for name in names:
            if _wild(name):
                await self._there.mget(name, here or ".", recurse=True)
            else:
                await self._there.get(name, here or PurePosixPath(name).name, recurse=True)

    async def put(self, words: list[str]) -> None:
        """Send."""
        names, there = _ends(words)
        for name in names:
            if _wild(name):
                await self._there.mput(name, there or ".", recurse=True)
            else:
                await self._there.put(name, there or Path(name).name, recurse=True)

    async def rm(self, words: list[str]) -> None:
        """Remove files."""
        for word in words:
            for name in await self._there.glob(word) if _wild(word) else [word]:
                await self._there.remove(name)

    async def mkdir(self, words: list[str]) -> None:
        """Make directories."""
        for word in words:
            await self._there.mkdir(word)

    async def rmdir(self, words: list[str]) -> None:
        """Remove empty directories."""
        for word in words:
            await self._there.rmdir(word)

    async def rename(self, words: list[str]) -> None:
        """Call a file otherwise."""
        await self._there.posix_rename(*words)

    async def cd(self, words: list[str]) -> None:
        """Go to another directory there."""
        await self._there.chdir(words[0] if words else "/")

    async def pwd(self, words: list[str]) -> None:
        """Say where we are there."""
        output.line(str(await self._there.getcwd()))

    async def lcd(self, words: list[str]) -> None:
        """Go to another directory here."""
        os.chdir(words[0] if words else Path.home())

    async def lpwd(self, words: list[str]) -> None:
        """Say where we are here."""
        output.line(str(Path.cwd()))

    async def help(self, words: list[str]) -> None:
        """Say what there is."""
        for form, _, _, _ in COMMANDS.values():
            output.line(form)

    async def _found(self, path: str) -> list[tuple[str, asyncssh.SFTPAttrs]]:
        """Names with what is known of them."""
        if _wild(path):
            return [
                (str(name), await self._there.stat(name)) for name in sorted(await self._there.glob(path))
            ]
        if not await self._there.isdir(path):
            return [(path, await self._there.stat(path))]
        found = [(str(one.filename), one.attrs) async for one in self._there.scandir(path)]
        return sorted((one for one in found if one[0] not in (".", "..")), key=lambda one: one[0])


Act = Callable[[Files, list[str]], Awaitable[None]]
COMMANDS: dict[str, tuple[str, int, int, Act]] = {
    "ls": ("ls [-l] [PATH]...", 0, _MANY, Files.ls),
    "get": ("get NAME... [HERE]", 1, _MANY, Files.get),
    "put": ("put HERE... [NAME]", 1, _MANY, Files.put),
    "rm": ("rm NAME...", 1, _MANY, Files.rm),
    "mkdir": ("mkdir NAME...", 1, _MANY, Files.mkdir),
    "rmdir": ("rmdir NAME...", 1, _MANY, Files.rmdir),
    "rename": ("rename OLD NEW", 2, 2, Files.rename),
    "cd": ("cd [PATH]", 0, 1, Files.cd),
    "pwd": ("pwd", 0, 0, Files.pwd),
    "lcd": ("lcd [PATH]", 0, 1, Files.lcd),
    "lpwd": ("lpwd", 0, 0, Files.lpwd),
    "help": ("help", 0, 0, Files.help),
}
"""Name to its form, the least and the most words behind it, and what it does."""


def words_of(line: str) -> list[str]:
    """A line as words, quoted as in a shell; nothing of a remark. Raises BadRequest."""
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise BadRequest(f"The line is not complete: {error}.", place=line.strip(), code="usage") from error


def _ends(words: list[str]) -> tuple[list[str], str]:
    """What is carried, and where to if that was said."""
    words = [word for word in words if word not in ("-r", "-R")]
    return (words[:-1], words[-1]) if len(words) > 1 else (words, "")


def _wild(name: str) -> bool:
    return any(letter in name for letter in "*?[")


def _long(name: str, attributes: asyncssh.SFTPAttrs) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(attributes.mtime or 0))
    return f"{stat.filemode(attributes.permissions or 0)} {attributes.size or 0:>14,} {when}  {name}"
