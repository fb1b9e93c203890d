"""Making an SSH connection by the user's SSH configuration, over jump hosts, each step with a deadline."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.sites.link import Question
from broker_core.sites.transport.address import Address, SshFiles
from broker_core.sites.transport.contract import LinkLost, Reply
from broker_core.sites.transport.envelope import Parcel
from broker_core.sites.transport.failures import step_words, words_of
from broker_core.sites.transport.known_hosts import STANDARD_PORT, Known, KnownHosts
from broker_core.sites.transport.login import Login, Target
from broker_core.sites.transport.patience import Patience
from broker_core.sites.transport.questions import Answers, Asks, Refused
from broker_core.sites.transport.session import carry
from broker_core.sites.transport.traffic import Traffic

MOST_JUMPS = 8
_DEFAULT_KEYS = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa")
_JUMP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?P<host>\[[^\]]+\]|[^:]+)(?::(?P<port>\d+))?/?\Z")

_THREADS = ThreadPoolExecutor(4, thread_name_prefix="ssh-configuration")
"""Of its own: what hangs here must not keep the broker's other threads busy."""

asyncssh.set_log_level("WARNING")  # at INFO it writes every command into the log


class Line:
    """A connection with those that it goes through."""

    def __init__(self, login: Login, hops: Sequence[Line], patience: Patience) -> None:
        assert login.connection is not None
        self.connection = login.connection
        self._lost = login.lost
        self._hops = tuple(hops)
        self._patience = patience

    async def carry(self, parcel: Parcel, chunks: AsyncIterator[bytes], traffic: Traffic) -> Reply:
        """Run a script; raises LinkLost and TooManySessions."""
        return await carry(self.connection, parcel, chunks, traffic, self._patience.channel)

    async def lost(self) -> Exception | None:
        """Wait until it is gone; why, or None where it was closed."""
        return await asyncio.shield(self._lost)

    def close(self) -> None:
        """Give it up at once, without a word to a server that may not listen."""
        self.connection.abort()
        for hop in self._hops:
            hop.close()


@dataclass(frozen=True, slots=True)
class _Settings:
    """What the SSH configuration says about one address."""

    target: Target
    jumps: tuple[Address, ...]
    keys: list[str]
    known: Known
    hosts: KnownHosts
    config: list[str] | None
    more: dict[str, object]
    """Further arguments of the connection."""


class Dialer:
    """Makes connections to one address."""

    def __init__(
        self,
        files: SshFiles,
        answers: Answers,
        patience: Patience,
        tell: Callable[[str], None],
        ask: Callable[[Question], Awaitable[None]],
    ) -> None:
        """`tell` takes a line for the link's log; `ask` shows a question while the server waits for it."""
        self._files, self._answers, self._patience = files, answers, patience
        self._tell, self._ask = tell, ask

    async def dial(self, address: Address) -> Line:
        """Connect; raises Asks, Refused, and LinkLost where another try may go well."""
        return await self._reach(address, ())

    async def _reach(self, address: Address, way: tuple[Address, ...]) -> Line:
        if len(way) > MOST_JUMPS or address in way:
            raise Refused(f"The way to {address.host} goes over too many jump hosts, or in a circle.")
        try:
            settings = await self._read(address)
        except (ValueError, OSError) as error:
            raise Refused(
                f"The SSH configuration cannot be used: {error}.", place=str(self._files.config)
            ) from error
        hops: list[Line] = []
        try:
            for jump in settings.jumps:
                hops.append(await self._hop(jump, hops, (*way, address)))
            return await self._log_in(settings, hops)
        except BaseException:
            for hop in hops:
                hop.close()
            raise

    async def _hop(self, jump: Address, before: Sequence[Line], way: tuple[Address, ...]) -> Line:
        """The first jump host may have a way of its own; a later one is reached through those before it."""
        if not before:
            return await self._reach(jump, way)
        settings = await self._read(jump)
        return await self._log_in(settings, before[-1:])

    async def _log_in(self, settings: _Settings, hops: Sequence[Line]) -> Line:
        target = settings.target
        self._tell(f"connecting to {target}" + (" through the jump host" if hops else ""))
        login: Login | None = None
        try:
            async with asyncio.timeout(self._patience.connect) as limit:
                login = Login(
                    target,
                    settings.known,
                    settings.hosts,
                    self._answers,
                    patience=self._patience,
                    limit=limit,
                    tell=self._tell,
                    ask=self._ask,
                )
                await self._connect(settings, login, hops)
        except (TimeoutError, OSError, ValueError, asyncssh.Error) as error:
            assert login is not None
            if login.waits:
                self._tell(f"{target} did not wait for the answer; it is used for the next try")
            raise _failure(error, login, target, self._patience) from error
        self._tell(f"logged in at {target}")
        return Line(login, hops, self._patience)

    async def _connect(self, settings: _Settings, login: Login, hops: Sequence[Line]) -> None:
        target, patience = settings.target, self._patience
        tunnel = hops[-1].connection if hops else None
        await asyncssh.connect(
            target.alias,
            target.port,
            username=target.user,
            config=settings.config,
            client_factory=lambda: login,
            known_hosts=lambda _host, _address, _port: settings.known.trusted,
            host_key_alias=target.key_name,
            client_keys=settings.keys,
            ignore_encrypted=True,
            passphrase=login.passphrase,
            connect_timeout=None,
            login_timeout=0,
            keepalive_interval=patience.alive,
            keepalive_count_max=patience.silent,
            tunnel=tunnel,
            **settings.more,
        )

    async def _read(self, address: Address) -> _Settings:
        """The settings as they are now; in a thread, since `Match exec` runs commands and files may hang."""
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(_THREADS, self._resolve, address)
        try:
            return await asyncio.wait_for(reading, self._patience.connect)
        except TimeoutError as error:
            raise LinkLost(
                f"{self._files.config} could not be read within {self._patience.connect:g} s.",
                remedy="Look whether your home directory or a command of the configuration hangs.",
            ) from error

    def _resolve(self, address: Address) -> _Settings:
        config = [str(self._files.config)] if self._files.config.is_file() else None
        options = asyncssh.SSHClientConnectionOptions(
            host=address.host,
            port=address.port or (),
            username=address.user or (),
            config=config,
            client_keys=None,
            known_hosts=None,
        )
        host, port = options.host, options.port
        alias = options.host_key_alias
        target = Target(
            address.host, host, port, options.username, alias or host, STANDARD_PORT if alias else port
        )
        hosts = self._known_hosts(options)
        known = hosts.look_up(target.key_name, target.key_port)
        more: dict[str, object] = {"proxy_command": None} if address.jump else {}
        if known.algorithms:
            more["server_host_key_algs"] = known.algorithms
        jumps = _jumps(address.jump, options)
        return _Settings(target, jumps, self._keys(options), known, hosts, config, more)

    def _known_hosts(self, options: asyncssh.SSHClientConnectionOptions) -> KnownHosts:
        if self._files.known_hosts is not None:
            return KnownHosts(self._files.known_hosts)
        named = options.config.get("UserKnownHostsFile")
        own = [Path(str(one)).expanduser() for one in named] if isinstance(named, list) else []
        first, *more = own or [self._files.config.parent / "known_hosts"]
        shared = options.config.get("GlobalKnownHostsFile")
        if isinstance(shared, list):
            return KnownHosts(first, (*more, *(Path(str(one)) for one in shared)))
        return KnownHosts(first) if not more else KnownHosts(first, more)

    def _keys(self, options: asyncssh.SSHClientConnectionOptions) -> list[str]:
        """Private keys to try, those that are there."""
        named = options.config.get("IdentityFile")
        paths = [Path(str(one)).expanduser() for one in named] if isinstance(named, list) else []
        paths = paths or [self._files.config.parent / name for name in _DEFAULT_KEYS]
        return [str(path) for path in paths if path.is_file() and _is_private_key(path, self._tell)]


def _is_private_key(path: Path, tell: Callable[[str], None]) -> bool:
    """False for what ssh would not use either, which is told."""
    try:
        asyncssh.read_private_key(path)
    except asyncssh.KeyImportError as error:
        if not str(error).startswith("Passphrase"):
            tell(f"{path} is not used: {error}")
            return False
    except (OSError, ValueError) as error:
        tell(f"{path} is not used: {error}")
        return False
    return True


def _jumps(asked: str, options: asyncssh.SSHClientConnectionOptions) -> tuple[Address, ...]:
    named = asked or options.config.get("ProxyJump") or "none"
    if named == "none":
        return ()
    return tuple(_jump(one.strip()) for one in str(named).split(",") if one.strip())


def _jump(text: str) -> Address:
    found = _JUMP.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no jump host")
    return Address(found["host"].strip("[]"), int(found["port"] or 0), found["user"] or "")


def _failure(error: Exception, login: Login, target: Target, patience: Patience) -> CrossDeskError:
    """What a failed try means for the link."""
    if login.question is not None:
        return Asks(login.question)
    if login.trouble:
        return Refused(login.trouble, place=str(target))
    if isinstance(error, TimeoutError) and login.stage != "connect":
        version = login.connection.get_extra_info("server_version") if login.connection else None
        return step_words(login.stage, target, patience, named=bool(version))
    return words_of(error, target, patience)
