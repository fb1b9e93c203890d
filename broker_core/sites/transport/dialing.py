"""Making an SSH connection by the user's SSH configuration, over jump hosts, each step with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.sites.link import Question
from broker_core.sites.transport.address import SshAddress, SshFiles
from broker_core.sites.transport.contract import LinkLost, Reply
from broker_core.sites.transport.failures import step_words, words_of
from broker_core.sites.transport.login import Login
from broker_core.sites.transport.questions import AnswerStore, Asks, QuestionDeclined
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.sites.transport.script_io import ScriptIO
from broker_core.sites.transport.session import carry
from broker_core.sites.transport.shell_wrapper import WrappedScript
from broker_core.sites.transport.ssh_settings import Kerberos, SshSettings, read_settings

MOST_JUMPS = 8

asyncssh.set_log_level("WARNING")  # at INFO it writes every command into the log


class SshRoute:
    """A connection with those that it goes through."""

    def __init__(self, login: Login, hops: Sequence[SshRoute], patience: RetryPolicy) -> None:
        assert login.connection is not None
        self.connection = login.connection
        self._lost = login.lost
        self._hops = tuple(hops)
        self._patience = patience
        self._back: list[asyncssh.SSHListener] = []

    async def carry(self, parcel: WrappedScript, chunks: AsyncIterator[bytes], traffic: ScriptIO) -> Reply:
        """Run a script; raises LinkLost and TooManySessions."""
        return await carry(self.connection, parcel, chunks, traffic, self._patience.channel)

    async def lead_back(self, host: str, port: int, target: tuple[str, int]) -> int:
        """Have a port there that leads to `target` here; returns it, or 0 where the server forbids it.

        `host`: address that it is to have there, if the server lets it; `port`: 0 for any. Raises LinkLost.
        """
        for address in dict.fromkeys((host, "localhost")):
            if (listener := await self._listen(address, port, target)) is not None:
                self._back.append(listener)
                return listener.get_port()
        return 0

    async def lead_nowhere(self) -> None:
        """Give the ports up that led back."""
        for listener in self._back:
            listener.close()
            await listener.wait_closed()
        self._back.clear()

    async def _listen(self, host: str, port: int, target: tuple[str, int]) -> asyncssh.SSHListener | None:
        try:
            async with asyncio.timeout(self._patience.channel):
                return await self.connection.forward_remote_port(host, port, *target)
        except asyncssh.ChannelListenError:
            return None
        except (OSError, TimeoutError, asyncssh.Error) as error:
            raise LinkLost(f"The site makes no way back: {error or 'no answer'}.") from error

    async def lost(self) -> Exception | None:
        """Wait until it is gone; why, or None where it was closed."""
        return await asyncio.shield(self._lost)

    def close(self) -> None:
        """Give it up at once, without a word to a server that may not listen."""
        self.connection.abort()
        for hop in self._hops:
            hop.close()


class SshDialer:
    """Makes connections to one address."""

    def __init__(
        self,
        files: SshFiles,
        answers: AnswerStore,
        patience: RetryPolicy,
        tell: Callable[[str], None],
        ask: Callable[[Question], Awaitable[None]],
        meet: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`tell` takes a line for the link's log; `ask` shows a question while the server waits for it.

        `meet` hears of each host on the way.
        """
        self._files, self._answers, self._patience = files, answers, patience
        self._tell, self._ask, self._meet = tell, ask, meet

    async def dial(self, address: SshAddress) -> SshRoute:
        """Connect; raises Asks, Refused, and LinkLost where another try may go well."""
        return await self._reach(address, ())

    async def _reach(self, address: SshAddress, way: tuple[SshAddress, ...]) -> SshRoute:
        if len(way) > MOST_JUMPS or address in way:
            raise QuestionDeclined(
                f"The way to {address.host} goes over too many jump hosts, or in a circle."
            )
        settings = await self._read(address)
        hops: list[SshRoute] = []
        try:
            for jump in settings.jumps:
                hops.append(await self._hop(jump, hops, (*way, address)))
            return await self._log_in(settings, hops)
        except BaseException:
            for hop in hops:
                hop.close()
            raise

    async def _hop(
        self, jump: SshAddress, before: Sequence[SshRoute], way: tuple[SshAddress, ...]
    ) -> SshRoute:
        """The first jump host may have a way of its own; a later one is reached through those before it."""
        if not before:
            return await self._reach(jump, way)
        settings = await self._read(jump)
        return await self._log_in(settings, before[-1:])

    async def _read(self, address: SshAddress) -> SshSettings:
        return await read_settings(self._files, address, self._tell, self._patience.connect)

    async def _log_in(self, settings: SshSettings, hops: Sequence[SshRoute]) -> SshRoute:
        target = settings.target
        self._meet(target.host)
        self._tell(f"connecting to {target}" + (" through the jump host" if hops else ""))
        login: Login | None = None
        try:
            async with asyncio.timeout(self._patience.connect) as limit:
                login = Login(
                    settings,
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
            raise _failure(error, login, settings, self._patience) from error
        self._tell(f"logged in at {target}")
        return SshRoute(login, hops, self._patience)

    async def _connect(self, settings: SshSettings, login: Login, hops: Sequence[SshRoute]) -> None:
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
            # Without keys asyncssh looks for some, and must not ask for theirs.
            passphrase=login.passphrase if settings.keys else None,
            connect_timeout=None,
            login_timeout=0,
            keepalive_interval=patience.alive,
            keepalive_count_max=patience.silent,
            tunnel=tunnel,
            **settings.more,
        )


def _failure(error: Exception, login: Login, settings: SshSettings, patience: RetryPolicy) -> CrossDeskError:
    """What a failed try means for the link."""
    target = settings.target
    if question := login.host.question or login.question:
        return Asks(question)
    if login.host.trouble:
        return QuestionDeclined(login.host.trouble)
    if isinstance(error, asyncssh.PermissionDenied) and login.declined:
        return QuestionDeclined(
            f"There is no login at {target} without {login.declined}, which you did not give.",
            remedy="Connect it again to be asked.",
        )
    if isinstance(error, asyncssh.PermissionDenied) and settings.kerberos is not Kerberos.UNWANTED:
        what = "no key of yours" if settings.kerberos.hindrance else "neither your Kerberos ticket nor a key"
        return QuestionDeclined(
            f"{target} accepts {what}. {settings.kerberos.hindrance}".rstrip(),
            remedy=settings.kerberos.remedy,
        )
    if isinstance(error, TimeoutError) and login.stage != "connect":
        version = login.connection.get_extra_info("server_version") if login.connection else None
        return step_words(login.stage, target, patience, named=bool(version))
    return words_of(error, target, patience)
