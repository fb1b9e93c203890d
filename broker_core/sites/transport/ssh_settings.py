"""What the user's SSH configuration says about a host, read anew for each connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path

import asyncssh
from asyncssh.gss import gss_available

from broker_core.sites.shortage import is_shortage
from broker_core.sites.transport.address import SshAddress, SshFiles
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.known_hosts import STANDARD_PORT, Known, KnownHosts
from broker_core.sites.transport.login_agent import LOGIN_AGENT, VARIABLE
from broker_core.sites.transport.questions import QuestionDeclined

_DEFAULT_KEYS = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa")
_JUMP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?P<host>\[[^\]]+\]|[^:]+)(?::(?P<port>\d+))?/?\Z")
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="ssh-configuration")
"""Of its own: what hangs here must not keep the broker's other threads busy."""


@dataclass(frozen=True, slots=True)
class Target:
    """One server and account, as the SSH configuration resolves them."""

    alias: str
    """As it was asked for."""
    host: str
    port: int
    user: str
    key_name: str
    """Name under which its key is known; the host's own, or its HostKeyAlias."""
    key_port: int

    @property
    def place(self) -> str:
        """Where it is, with the alias that the user knows it by."""
        where = f"port {self.port}" if self.alias == self.host else f"{self.host}, port {self.port}"
        return f"{self.alias} ({where})"

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" + ("" if self.port == STANDARD_PORT else f":{self.port}")


class Kerberos(Enum):
    """Whether a login by a Kerberos ticket (GSSAPI) is tried; why not, and what helps."""

    UNWANTED = ("", "")
    """The SSH configuration does not ask for it; where there is a ticket it may be tried all the same."""
    TRIED = ("", "Look whose ticket it is (klist); kinit gets another. Then connect again.")
    NO_TICKET = ("There is no Kerberos ticket.", "Get a Kerberos ticket (kinit), then connect again.")
    EXPIRED = ("Your Kerberos ticket has expired.", "Get a Kerberos ticket (kinit), then connect again.")
    NO_LIBRARY = (
        "The Python package gssapi is missing.",
        (
            "Install it into the environment of CrossDesk (pip install gssapi, which takes a C compiler and "
            "the headers of Kerberos, libkrb5-dev in Debian), and start the broker again."
        ),
    )

    def __init__(self, hindrance: str, remedy: str) -> None:
        self.hindrance = hindrance
        """A sentence; empty: none."""
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class SshSettings:
    """How one address is reached."""

    target: Target
    jumps: tuple[SshAddress, ...]
    keys: list[str]
    """Private keys to try."""
    hosts: KnownHosts
    known: Known
    config: list[str] | None
    more: dict[str, object]
    """Further arguments of the connection."""
    kerberos: Kerberos


async def read_settings(
    files: SshFiles, address: SshAddress, tell: Callable[[str], None], deadline: float
) -> SshSettings:
    """The settings as they are now; `tell` hears of keys that cannot be used. Raises Refused and LinkLost.

    In a thread, because files may hang and `Match exec` runs commands; `deadline`: seconds for that.
    """
    reading = asyncio.get_running_loop().run_in_executor(_THREADS, _resolve, files, address)
    try:
        async with asyncio.timeout(deadline):
            settings, complaints = await reading
    except TimeoutError as error:
        raise LinkLost(
            f"{files.config} could not be read within {deadline:g} s.",
            remedy="Look whether your home directory or a command of the configuration hangs.",
        ) from error
    except (ValueError, OSError) as error:
        if is_shortage(error):
            raise LinkLost(f"The SSH configuration cannot be read now: {error}.") from error
        raise QuestionDeclined(
            f"The SSH configuration cannot be used: {error}.", place=str(files.config)
        ) from error
    for complaint in complaints:
        tell(complaint)
    return settings


def _resolve(files: SshFiles, address: SshAddress) -> tuple[SshSettings, list[str]]:
    config = [str(files.config)] if files.config.is_file() else None
    options = asyncssh.SSHClientConnectionOptions(
        host=address.host,
        port=address.port or (),
        username=address.user or (),
        config=config,
        client_keys=None,
        known_hosts=None,
    )
    host, port, alias = options.host, options.port, options.host_key_alias
    target = Target(
        address.host, host, port, options.username, alias or host, STANDARD_PORT if alias else port
    )
    hosts = _known_hosts(files, options)
    known = hosts.look_up(target.key_name, target.key_port)
    more: dict[str, object] = {}
    if known.algorithms and not options.config.get("HostKeyAlgorithms"):
        more["server_host_key_algs"] = known.algorithms
    jumps = _jumps(address.jump or str(options.config.get("ProxyJump") or "none"))
    keys, complaints = _keys(files, options)
    more |= _agent(options, complaints)
    if address.jump:
        more["proxy_command"] = None
    kerberos = _kerberos(options)
    if kerberos.hindrance:
        complaints.append(f"no Kerberos login is tried. {kerberos.hindrance} {kerberos.remedy}")
    return SshSettings(target, jumps, keys, hosts, known, config, more, kerberos), complaints


def _kerberos(options: asyncssh.SSHClientConnectionOptions) -> Kerberos:
    if not options.config.get("GSSAPIAuthentication"):
        return Kerberos.UNWANTED
    return _ticket() if gss_available else Kerberos.NO_LIBRARY


def _ticket() -> Kerberos:
    """What there is for a login; asyncssh leaves it out without a word where there is nothing."""
    library = import_module("gssapi")
    try:
        lifetime = library.Credentials(usage="initiate").lifetime
    except library.exceptions.ExpiredCredentialsError:
        return Kerberos.EXPIRED
    except library.exceptions.GSSError:
        return Kerberos.NO_TICKET
    return Kerberos.TRIED if lifetime is None or lifetime > 0 else Kerberos.EXPIRED


def _known_hosts(files: SshFiles, options: asyncssh.SSHClientConnectionOptions) -> KnownHosts:
    if files.known_hosts is not None:
        return KnownHosts(files.known_hosts)
    named = _paths(options, "UserKnownHostsFile") or [files.config.parent / "known_hosts"]
    return KnownHosts(named[0], named[1:], _paths(options, "GlobalKnownHostsFile"))


def _keys(files: SshFiles, options: asyncssh.SSHClientConnectionOptions) -> tuple[list[str], list[str]]:
    """Private keys that are there, and why others cannot be used."""
    paths = _paths(options, "IdentityFile") or [files.config.parent / name for name in _DEFAULT_KEYS]
    troubles = {path: _trouble(path) for path in paths if path.is_file()}
    complaints = [f"{path} is not used: {trouble}" for path, trouble in troubles.items() if trouble]
    return [str(path) for path, trouble in troubles.items() if not trouble], complaints


def _agent(options: asyncssh.SSHClientConnectionOptions, complaints: list[str]) -> dict[str, object]:
    """The agent to ask: what the configuration names for the host, else that of the user's login.

    A command that makes the connection (ProxyCommand) has it in its environment, as with ssh.
    """
    if options.config.get("IdentityAgent", ()) != ():
        return {}  # `none` is there too, as None
    if LOGIN_AGENT.is_gone:
        complaints.append("the ssh-agent is not asked: its login has ended; `Connect now` from another")
    path = LOGIN_AGENT.path
    found: dict[str, object] = {"agent_path": path or None}
    if path and options.proxy_command:
        found["proxy_command"] = ["env", f"{VARIABLE}={path}", *options.proxy_command]
    return found


def _paths(options: asyncssh.SSHClientConnectionOptions, option: str) -> list[Path]:
    named = options.config.get(option)
    return [Path(str(one)).expanduser() for one in named] if isinstance(named, list) else []


def _trouble(path: Path) -> str:
    """Why a key cannot be used; empty: it can, be it with a passphrase."""
    try:
        asyncssh.read_private_key(path)
    except (OSError, ValueError) as error:
        if not str(error).startswith("Passphrase"):
            return str(error)
        return (
            ""
            if _has_public_part(path)
            else (f"it is encrypted, and there is no {path.name}.pub (make it with ssh-keygen -y)")
        )
    return ""


def _has_public_part(path: Path) -> bool:
    """True where the public key can be read without the passphrase."""
    for place in (path.with_name(f"{path.name}.pub"), path):
        try:
            asyncssh.read_public_key(place)
        except (OSError, ValueError):
            continue
        return True
    return False


def _jumps(text: str) -> tuple[SshAddress, ...]:
    return () if text == "none" else tuple(_jump(one.strip()) for one in text.split(",") if one.strip())


def _jump(text: str) -> SshAddress:
    found = _JUMP.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no jump host")
    return SshAddress(found["host"].strip("[]"), int(found["port"] or 0), found["user"] or "")
