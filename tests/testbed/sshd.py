"""A real OpenSSH server with its own folder, port, host key and authorized keys.

Needs the packages openssh-server and openssh-client of Debian, and root. The system's own server is not
touched.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.testbed.accounts import ORDINARY, account
from tests.testbed.guardian import Guardian
from tests.testbed.ports import free_port
from tests.waiting import wait_until

PACKAGES = ("openssh-server", "openssh-client")
USERS = ("root", ORDINARY)
_TRIES = 5
_CONF = """
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile none
AuthorizedKeysCommand /bin/cat {folder}/authorized/%u
AuthorizedKeysCommandUser root
StrictModes no
UsePAM no
PasswordAuthentication {password}
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UseDNS no
MaxSessions {sessions}
MaxStartups 100
PrintMotd no
Subsystem sftp internal-sftp
"""


class Sshd:
    """One server process; its port stays when it is started again."""

    def __init__(
        self,
        folder: Path,
        *,
        users: Sequence[str] = USERS,
        environment: Mapping[str, str] | None = None,
        address: str = "127.0.0.1",
        prefix: Sequence[str] = (),
        password: bool = False,
        sessions: int = 200,
        port: int = 0,
    ) -> None:
        """Not started yet.

        `users`: accounts that the client's key opens; the ordinary one is made if it is missing.
        `environment`: set in every session, e.g. SLURM_CONF. `prefix`: words before its command, e.g. to
        enter a network namespace, where `address` must be one of that namespace's. `password`: accounts
        that have one can be entered by it. `sessions`: most sessions of one connection.
        """
        if shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
            raise RuntimeError(f"OpenSSH is missing; apt-get install {' '.join(PACKAGES)}")
        self.folder = folder
        self.address = address
        self.port = port
        self.users = tuple(users)
        self._environment = dict(environment or {})
        self._prefix = tuple(prefix)
        self._settings = {"password": "yes" if password else "no", "sessions": sessions}
        self._process: subprocess.Popen[bytes] | None = None
        self._logged = 0
        (folder / "authorized").mkdir(parents=True)
        self._guardian = Guardian(folder)
        self.key = folder / "id_ed25519"
        """Private key of the client, without a passphrase."""
        make_key(self.key)
        self.known_hosts = folder / "known_hosts"
        """The server's own line, as a user's file has it who trusts it; follows `new_host_key`."""
        self.new_host_key()
        for user in users:
            self.authorize(user, self.key)

    def authorize(self, user: str, key: Path) -> None:
        """Let a key open an account, beside those that do."""
        if user == ORDINARY:
            account()
        with (self.folder / "authorized" / user).open("a") as file:
            file.write(key.with_name(f"{key.name}.pub").read_text())

    def new_host_key(self, kind: str = "ed25519") -> None:
        """Make another host key; a running server must be started again to use it."""
        make_key(self.folder / "host_key", kind=kind)
        self._write_known_hosts()

    @property
    def fingerprint(self) -> str:
        """Of the host key, as `SHA256:...`."""
        words = ["ssh-keygen", "-lf", str(self.folder / "host_key.pub")]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[1]

    def start(self, *, more: str = "") -> Sshd:
        """Start it and wait until it listens. `more`: further lines of its configuration."""
        chosen = self.port
        for _ in range(_TRIES):
            if not chosen:
                self.port = free_port()  # another program may take the port before sshd does
            if self._spawn(more):
                self._write_known_hosts()
                return self
        raise AssertionError(f"sshd ends: {self.log()[-2000:]}")

    def alias(self, name: str, user: str = "root", *, more: Sequence[str] = ()) -> str:
        """A section of `~/.ssh/config` for this server; `more`: further lines of it."""
        lines = [f"Hostname {self.address}", f"Port {self.port}", f"User {user}", f"IdentityFile {self.key}"]
        return "\n  ".join([f"Host {name}", *lines, "IdentitiesOnly yes", *more]) + "\n"

    def log(self) -> str:
        """What it said so far."""
        log = self.folder / "log"
        return log.read_text() if log.exists() else ""

    def signal(self, number: signal.Signals) -> None:
        """Stop, continue or kill the server with all its connections, but not the users' commands."""
        for pid in self._processes():
            os.kill(pid, number)

    def kill(self) -> None:
        """End it at once with all its connections; commands of its sessions go on."""
        if self._process is not None:
            self.signal(signal.SIGKILL)
            self._process.wait(60)
            self._process = None

    def close(self) -> None:
        """End it for good; harmless when it has ended."""
        self.kill()
        self._guardian.close()

    def _spawn(self, more: str) -> bool:
        Path("/run/sshd").mkdir(parents=True, exist_ok=True)
        conf = self.folder / "sshd_config"
        text = _CONF.format(port=self.port, address=self.address, folder=self.folder, **self._settings)
        # With this level bash takes itself for a shell inside another, and leaves start-up files out.
        environment = {"SHLVL": "9", **self._environment}
        text += "SetEnv " + " ".join(f'"{name}={value}"' for name, value in environment.items())
        conf.write_text(f"{text}\n{more}")
        self._logged = len(self.log())
        words = [*self._prefix, "/usr/sbin/sshd", "-D", "-e", "-f", str(conf)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return wait_until(self._is_settled, what=f"sshd listens ({shlex.join(words)})") == "listens"

    def _is_settled(self) -> str:
        assert self._process is not None
        if self._process.poll() is not None:
            return "ended"
        said = self.log()[self._logged :]
        return "listens" if f"Server listening on {self.address} port {self.port}" in said else ""

    def _processes(self) -> list[int]:
        """The server and its connections: all below it but the users' own commands."""
        assert self._process is not None
        found, last = [self._process.pid], [self._process.pid]
        while last := [pid for one in last for pid in _children(one) if _is_sshd(pid)]:
            found += last
        return found

    def _write_known_hosts(self) -> None:
        key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        self.known_hosts.write_text(f"{known_name(self.address, self.port)} {key}\n")


def own_home(folder: Path) -> dict[str, str]:
    """Environment of sessions whose home is empty and goes with the test; its host has four processors.

    The queue of a host is in the home: in the account's own one, tests that run at the same time would wait
    for each other's jobs.
    """
    home = folder / "home-there"
    home.mkdir(parents=True, exist_ok=True)
    return {"HOME": str(home), "CROSSDESK_SLOTS": "4"}


def known_name(host: str, port: int) -> str:
    """How a file of known hosts names a server."""
    return host if port == 22 else f"[{host}]:{port}"


def make_key(path: Path, *, passphrase: str = "", kind: str = "ed25519") -> Path:
    """Make a key pair, replacing what is there; returns the private key's path."""
    path.unlink(missing_ok=True)
    words = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "testbed", "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _is_sshd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").resolve().name == "sshd"
    except OSError:
        return False
