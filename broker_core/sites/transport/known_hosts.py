"""The files of known hosts: which keys a server may have, and how one is added when the user trusts it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

STANDARD_PORT = 22
_SYSTEM = Path("/etc/ssh/ssh_known_hosts")

Matched = tuple[Sequence[object], ...]
"""Host keys, authorities, revoked keys, and the same three of X.509, as asyncssh takes them."""


def name_of(host: str, port: int) -> str:
    """How the files name a server."""
    return host if port == STANDARD_PORT else f"[{host}]:{port}"


@dataclass(frozen=True, slots=True)
class Known:
    """What the files say about one server."""

    name: str
    keys: tuple[asyncssh.SSHKey, ...]
    """Keys under the server's own name and port; another one is a changed key."""
    trusted: Matched
    """All that is accepted, with what is said of the host whatever the port."""

    @property
    def algorithms(self) -> list[str]:
        """Algorithms to ask the server for, those of its known keys first; empty: any."""
        known = [name for key in self.trusted[0] if isinstance(key, asyncssh.SSHKey) for name in _names(key)]
        if not known and not self.trusted[1]:
            return []
        certified = get_default_certificate_algs() if self.trusted[1] else []
        usual = [name.decode() for name in (*certified, *get_default_public_key_algs())]
        first = [name for name in usual if name in known or "-cert-" in name]
        return [*first, *(name for name in usual if name not in first)]


def _names(key: asyncssh.SSHKey) -> list[str]:
    return [name.decode() for name in key.sig_algorithms]


class KnownHosts:
    """The user's own file, to which is added, and those that are only read."""

    def __init__(self, own: Path, more: Sequence[Path] = (), system: Sequence[Path] = ()) -> None:
        """`more`: other files of the user. `system`: files of the machine; empty: the usual one."""
        self.own = own
        self._others = (*more, *(system or (_SYSTEM,)))

    def look_up(self, host: str, port: int) -> Known:
        """What is known about a server; lines that cannot be read count as not there.

        Raises OSError for the user's own file: a changed key would be taken for that of a new host.
        """
        found = asyncssh.SSHKnownHosts()
        for path in (self.own, *self._others):
            _load(found, path, needed=path == self.own)
        name = name_of(host, port)
        exact: Matched = found.match(name, "", None)
        trusted = exact
        if port != STANDARD_PORT:
            plain: Matched = found.match(host, "", None)
            trusted = tuple([*one, *other] for one, other in zip(exact, plain, strict=True))
        keys = tuple(key for key in exact[0] if isinstance(key, asyncssh.SSHKey))
        return Known(name, keys, trusted)

    def add(self, name: str, key: asyncssh.SSHKey) -> None:
        """Trust a key from now on; raises OSError."""
        self.own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = f"{name} {_text(key)}\n".encode()
        handle = os.open(self.own, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with open(handle, "r+b") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line)

    def replace(self, name: str, key: asyncssh.SSHKey) -> None:
        """Trust a key instead of all others that the user's file has for the server; raises OSError."""
        old = self.own.read_bytes() if self.own.exists() else b""
        new = b"".join(_without(line, name) for line in old.splitlines(keepends=True))
        if new != old:
            _replace_file(self.own.resolve(), new)
        self.add(name, key)


def _load(found: asyncssh.SSHKnownHosts, path: Path, *, needed: bool) -> None:
    try:
        text = path.read_text(errors="replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return
    except OSError:
        if needed:
            raise
        return  # as ssh does: those of others may be closed to us
    for line in text.splitlines():
        try:
            found.load(line)
        except ValueError:
            continue  # as ssh does: one bad line does not take the others away


def _without(line: bytes, name: str) -> bytes:
    """A line without the server's own name; marked lines and patterns, which mean others too, stay."""
    hosts, _, rest = line.partition(b" ")
    if hosts.startswith(b"|"):
        return b"" if _matches(line, name) else line
    names = hosts.split(b",")
    left = [one for one in names if one != name.encode()]
    if left == names:
        return line
    return b",".join(left) + b" " + rest if left else b""


def _matches(line: bytes, name: str) -> bool:
    try:
        return bool(asyncssh.import_known_hosts(line.decode(errors="replace")).match(name, "", None)[0])
    except ValueError:
        return False


def _replace_file(path: Path, content: bytes) -> None:
    mode = path.stat().st_mode & 0o777
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _text(key: asyncssh.SSHKey) -> str:
    return " ".join(key.export_public_key().decode().split()[:2])
