"""`crossdesk job ssh`, `ssh-config` and what they run: any SSH client reaches a running job."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shlex
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.forward import beside
from broker_core.command_line.job.forward_forms import DirectPorts
from broker_core.command_line.job.ids import Job, resolve
from broker_core.errors import BadRequest, CrossDeskError, NotFound
from broker_core.interactive.sessions.secret_file import kept_secret
from broker_core.jobs.states import JobState
from broker_core.system.paths import places

_BLOCK = """\
Host {host}
    HostName {host}
    HostKeyAlias {host}
    User job
    IdentityFile "{key}"
    IdentitiesOnly yes
    IdentityAgent none
    PreferredAuthentications publickey
    UserKnownHostsFile "{hosts}"
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    UpdateHostKeys no
    CheckHostIP no
    ServerAliveInterval 0
    ProxyCommand {proxy}
"""
"""Without signs of life: a client that waits for them would give up over a cut that the session outlives."""
_CONFIG, _HOSTS = ".conf", ".hosts"
_MOST_READ = 1 << 16


class SshClientFiles:
    """What SSH clients of this desk need to reach jobs, in the state directory; only its owner reads it."""

    def __init__(self, state_dir: Path | None) -> None:
        self._state = places(state_dir).state
        self._folder = self._state / "ssh"
        self._jobs = self._folder / "jobs"

    @property
    def included(self) -> str:
        """The line by which another configuration takes all jobs in."""
        return f'Include "{self._jobs}/*{_CONFIG}"'

    def prepare(self, job: str) -> Path:
        """Have key and configuration for a job; returns the file of the latter. Raises CrossDeskError."""
        try:
            self._jobs.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._key()
            path = self._jobs / f"{job}{_CONFIG}"
            _write(path, self.block(job))
        except OSError as error:
            raise CrossDeskError(
                f"The files for SSH cannot be written: {error.strerror}.", place=str(self._folder)
            ) from error
        return path

    def block(self, job: str) -> str:
        """The part of a configuration that is about one job."""
        # Without -P a folder `app` where the client is started would be taken for ours.
        words = [sys.executable, "-P", "-m", "app.launch", "job", "ssh-proxy"]
        proxy = shlex.join([*words, "--state-dir", str(self._state), "--", job])
        paths = {"key": _escaped(self._key()), "hosts": _escaped(self._jobs / f"{job}{_HOSTS}")}
        return _BLOCK.format(host=host_of(job), proxy=proxy.replace("%", "%%"), **paths)

    def public_key(self) -> str:
        """The key that clients of this desk log in with, as one line of OpenSSH."""
        import asyncssh

        return asyncssh.read_private_key(str(self._key())).export_public_key().decode().strip()

    def trust(self, job: str, host_key: str) -> None:
        """Have clients know the server of a job by this key, and by no other."""
        _write(self._jobs / f"{job}{_HOSTS}", f"{host_of(job)} {host_key}\n")

    async def clear(self, client: BrokerClient) -> None:
        """Forget jobs that have ended."""
        for path in sorted(self._jobs.glob(f"*{_CONFIG}")):
            if await _is_over(client, path.stem):
                path.unlink(missing_ok=True)
                path.with_suffix(_HOSTS).unlink(missing_ok=True)

    def _key(self) -> Path:
        import asyncssh

        path = self._folder / "id_ed25519"
        kept_secret(path, lambda: asyncssh.generate_private_key("ssh-ed25519").export_private_key())
        return path


def ssh(
    job: Job,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Command for the node's shell; none: a shell.", metavar="COMMAND"),
    ] = None,
    terminal: Annotated[bool, typer.Option("-t", help="Give the command a terminal.")] = False,
    state_dir: StateDir = None,
) -> int:
    """Reach a running job with the SSH client of this machine; a shell or a command in its directory.

    Also into batch jobs: an agent is brought there, which takes a few seconds. Over a cut network the
    session stays. For scp, rsync, editors and options of ssh use `crossdesk job ssh-config`.
    """
    program = shutil.which("ssh")
    if program is None:
        raise BadRequest("There is no ssh here.", remedy="Use `crossdesk job exec`.", code="no_ssh")
    path, whole = with_client(lambda client: _prepared(client, job))
    given = words[1:] if words and words[0] == "--" else words or []
    options = ["-t"] if terminal else []
    sys.stdout.flush()
    os.execv(program, [program, "-F", str(path), *options, host_of(whole), *given])  # noqa: S606 - no shell is meant


def ssh_config(
    job: Job,
    add: Annotated[
        bool, typer.Option("--add", help="Have ~/.ssh/config take in all jobs that were prepared so.")
    ] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Print what an SSH client needs to reach a running job: ssh, scp, sftp, rsync, VS Code, JetBrains.

    Use it as `ssh -F FILE`, append it to ~/.ssh/config, or have that done by --add. Keys are made by
    themselves; nothing of it is of use on another machine.
    """
    path, whole = with_client(lambda client: _prepared(client, job))
    files = SshClientFiles(session().state_dir)
    if add:
        _include(Path.home() / ".ssh" / "config", files.included)
    if session().json:
        output.as_json({"host": host_of(whole), "file": str(path), "config": files.block(whole)})
    else:
        for one in files.block(whole).splitlines():
            output.line(one)
        output.say(f"Host {host_of(whole)}: ssh -F {shlex.quote(str(path))} {host_of(whole)}")
    return Exit.OK


def ssh_proxy(job: Job, direct_ports: DirectPorts = "", state_dir: StateDir = None) -> int:
    """Carry the bytes of an SSH client to a job; run by the client itself."""

    async def work(client: BrokerClient) -> int:
        from broker_core.interactive.shadow.tunnel import DeskTunnel

        loop = asyncio.get_running_loop()
        # The client closes our input before it sends this; the job is to hear of the end.
        loop.add_signal_handler(signal.SIGHUP, lambda: None)
        files = SshClientFiles(session().state_dir)
        whole = (await resolve(client, [job]))[0]
        async with beside(client, whole, direct_ports) as opened:
            tunnel = DeskTunnel(opened, files.public_key(), lambda key: files.trust(whole, key))
            reader, writer = await _own_streams()
            await tunnel.carry(reader, writer)
        return Exit.OK

    return with_client(work)


def host_of(job: str) -> str:
    """The name by which SSH clients know a job: they tell no capitals from small letters."""
    return f"crossdesk-{job[:8].lower()}-{hashlib.sha256(job.encode()).hexdigest()[:6]}"


async def _prepared(client: BrokerClient, job: str) -> tuple[Path, str]:
    whole = (await resolve(client, [job]))[0]
    row = (await client.job(whole)).row
    if JobState(row["state"]).ended:
        raise BadRequest(
            "The job has ended.", place=whole, remedy="`crossdesk job get-output` has its files."
        )
    files = SshClientFiles(session().state_dir)
    path = await asyncio.to_thread(files.prepare, whole)
    await files.clear(client)
    return path, whole


async def _is_over(client: BrokerClient, job: str) -> bool:
    try:
        return JobState((await client.job(job)).row["state"]).ended
    except (NotFound, BadRequest):
        return True


async def _own_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Our input and output, which are those of the client."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_MOST_READ)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(0), "rb", 0))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(os.dup(1), "wb", 0)
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


def _include(config: Path, line: str) -> None:
    """Have a configuration begin with this line; raises CrossDeskError."""
    try:
        with suppress(FileExistsError):
            config.parent.mkdir(mode=0o700)
        text = config.read_text() if config.exists() else ""
        if line not in text.splitlines():
            _write(config, f"{line}\n{text}")
    except (OSError, UnicodeDecodeError) as error:
        raise CrossDeskError(
            f"The configuration of SSH cannot be changed: {error}.",
            place=str(config),
            remedy=f"Write this line at its beginning: {line}",
        ) from error


def _write(path: Path, text: str) -> None:
    """Write a file whole, for its owner alone."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path.resolve())


def _escaped(path: Path) -> str:
    """A path in a configuration of SSH, in which % begins other things."""
    return str(path).replace("%", "%%")
