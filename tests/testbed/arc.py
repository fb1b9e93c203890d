"""A real ARC computing element: A-REX with its REST interface, and an authority of its own.

Needs root and the packages nordugrid-arc-arex, nordugrid-arc-hed and nordugrid-arc-plugins-needed of Debian.
The system's own service, if any, is not touched: each has its own folder and port. Jobs are forked on this
machine, or go to a Slurm cluster; they belong to an ordinary account, which has to be able to reach `folder`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from broker_core.sites.arc.client import verifying
from tests.leaks import lasting
from tests.testbed.accounts import ORDINARY, account
from tests.testbed.certificates import Authority
from tests.testbed.daemons import pause
from tests.testbed.guardian import Guardian
from tests.testbed.ports import free_port
from tests.testbed.slurm import Completed
from tests.waiting import wait_until

PACKAGES = ("nordugrid-arc-arex", "nordugrid-arc-hed", "nordugrid-arc-plugins-needed")
_PROGRAMS = Path("/usr/share/arc")
_DAEMONS = ("arc-arex-start", "arc-arex-ws-start")
_TRIES = 5
_CONF = """\
[common]
hostname = localhost
x509_host_key = {host.key}
x509_host_cert = {host.certificate}
x509_cert_dir = {authority.directory}

[authgroup:all]
file = {folder}/subjects

[mapping]
map_to_user = all {owner}:{owner}

[lrms]
lrms = {lrms}
{more}
[arex]
controldir = {folder}/control
sessiondir = {folder}/session
logfile = {folder}/log/arex.log
joblog = {folder}/log/jobs.log
pidfile = {folder}/run/arex.pid
runtimedir = {folder}/run
tmpdir = {folder}/tmp
wakeupperiod = 1
infoproviders_timelimit = 60

[arex/ws]
wsurl = https://localhost:{port}/arex
logfile = {folder}/log/ws.log
pidfile = {folder}/run/ws.pid

[arex/ws/jobs]
allowaccess = all

[infosys]
logfile = {folder}/log/infosys.log
validity_ttl = 600

[infosys/glue2]

[infosys/cluster]
alias = testbed

[queue:{queue}]
"""

_OVER = """\
SELECT JobID, InfoValue, Status.Name,
       EXISTS (SELECT 1 FROM JobEvents WHERE JobEvents.RecordID = AAR.RecordID AND EventKey = 'INLRMS')
FROM AAR JOIN Status ON Status.ID = StatusID
     JOIN JobExtraInfo ON JobExtraInfo.RecordID = AAR.RecordID AND InfoKey = 'jobname'
WHERE EndTime > 0 ORDER BY AAR.RecordID"""


class ARex:
    """One computing element: `start`, use `url` with `user`, `close`."""

    def __init__(self, folder: Path, *, slurm: Mapping[str, str] | None = None) -> None:
        """`slurm`: environment of a Slurm cluster to send the jobs to; None: they are forked."""
        missing = [name for name in _DAEMONS if not (_PROGRAMS / name).is_file()]
        if missing:
            raise RuntimeError(f"{missing[0]} is missing; apt-get install {' '.join(PACKAGES)}")
        account(ORDINARY)
        self.folder, self._slurm = folder, slurm
        self._guardian: Guardian | None = None
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port = 0
        self.authority = Authority(folder / "authority")
        self._host = self.authority.host()
        self.user = self.authority.user("alice")
        """May submit jobs."""
        self.stranger = self.authority.user("mallory")
        """Of the same authority, but not known to the site."""
        self.queue = "fork" if slurm is None else "main"

    @property
    def url(self) -> str:
        """Base URL of the service."""
        return f"https://localhost:{self.port}/arex"

    def session(self, id: str) -> Path:
        """Session directory of a job."""
        return self.folder / "session" / id

    def jobs_named(self, name: str) -> list[str]:
        """Ids of the jobs with a name, by A-REX's own records."""
        return [id for id, one in self._records().items() if f"\njobname={name}\n" in one.read_text()]

    @property
    def published_version(self) -> str:
        """The version that the site tells of itself: ARC 7 tells none."""
        told = subprocess.run(["arched", "--version"], check=True, capture_output=True, text=True).stdout
        version = told.split()[-1]
        return version if version.startswith("6.") else ""

    def waits_for_files(self, id: str) -> bool:
        """True while A-REX processes a job, by the folder in which its state stands."""
        return any((self.folder / "control" / "processing").glob(f"*{id}.status"))

    def _records(self) -> dict[str, Path]:
        """A-REX's own record of each job: `job.ID.local`, from ARC 7 on `jobs/` and the id cut up."""
        control = self.folder / "control"
        found = {path.name.split(".")[1]: path for path in control.glob("job.*.local")}
        newer = control / "jobs"
        for path in newer.glob("*/*/*/*/local"):
            found["".join(path.parent.relative_to(newer).parts)] = path
        return found

    def present(self) -> dict[str, str]:
        """Id of each job that A-REX has, over or not, to its name; what was cleaned away is not there."""
        found: dict[str, str] = {}
        for id, path in self._records().items():
            with suppress(FileNotFoundError):  # it is cleaned away just now
                lines = path.read_text().splitlines()
                names = (line.partition("=")[2] for line in lines if line.startswith("jobname="))
                found[id] = next(names, "")
        return found

    def completed(self) -> list[Completed]:
        """All jobs that are over by A-REX's accounting, oldest first; also those that were cleaned away."""
        path = self.folder / "control" / "accounting" / "accounting.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(":memory:")) as accounting:
            accounting.deserialize(wait_until(lambda: _between_transactions(path), what="A-REX's accounting"))
            return [Completed(*row[:3], bool(row[3])) for row in accounting.execute(_OVER)]

    @contextmanager
    def writing_anew(self, id: str) -> Iterator[None]:
        """As if A-REX were writing its own record of a job anew, which it does whenever a state ends."""
        record = self._records()[id]
        before = record.read_bytes()
        record.write_bytes(b"")
        try:
            yield
        finally:
            record.write_bytes(before)

    @contextmanager
    def moving(self, id: str) -> Iterator[None]:
        """As if A-REX were moving the state of a job from one of its folders to another, again and again: it
        removes the old file before it makes the new one."""
        (state,) = (self.folder / "control").glob(f"*/*{id}.status")
        away, over = self.folder / "tmp" / state.name, threading.Event()

        def move() -> None:
            while not over.wait(0.001):
                state.rename(away)
                over.wait(0.001)
                away.rename(state)

        mover = threading.Thread(target=move)
        mover.start()
        try:
            yield
        finally:
            over.set()
            mover.join()

    @contextmanager
    def unnamed(self, id: str) -> Iterator[None]:
        """As if A-REX had written only a part of its own record of a job, without the job's name."""
        record = self._records()[id]
        before = record.read_text()
        record.with_name(record.name.replace("local", "xml")).unlink(missing_ok=True)
        record.write_text("".join(line for line in before.splitlines(True) if "jobname=" not in line))
        try:
            yield
        finally:
            record.write_text(before)

    @contextmanager
    def losing_removals(self) -> Iterator[None]:
        """A-REX takes orders to remove jobs, and does not carry them out: it throws away those that it finds
        for a job whose state it cannot read just then."""
        manager = self._processes[0]
        pause(manager)
        try:
            yield
            for order in (self.folder / "control" / "accepting").glob("*clean"):
                order.unlink()
        finally:
            manager.send_signal(signal.SIGCONT)

    def send_part(self, id: str, name: str, content: bytes, part: int) -> None:
        """Send the first bytes of a file of a job's session, and then cut the connection.

        What is there of the file goes first: A-REX would write over it, but not make it shorter.
        """
        file = self.session(id) / name
        file.unlink(missing_ok=True)
        path = f"/arex/rest/1.0/jobs/{id}/session/{name}"
        head = f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n\r\n"
        with self._connection() as channel:
            channel.sendall(head.encode() + content[:part])
        wait_until(lambda: file.is_file() and file.stat().st_size == part, what="a part arrives")

    def start(self) -> ARex:
        """Start the daemons and wait until they answer."""
        self._guardian = Guardian(self.folder)
        for name in ("control", "session", "log", "run", "tmp"):
            (self.folder / name).mkdir()
        for name in ("session", "tmp"):
            (self.folder / name).chmod(0o1777)
        self._share_parameters()
        (self.folder / "subjects").write_text(f'"{self.user.subject}"\n')
        for _ in range(_TRIES):
            self.port = free_port()  # another program may take it before the service does
            self._configure()
            if self.resume():
                return self
            self.kill()
        raise AssertionError(f"A-REX does not start: {(self.folder / 'log/out').read_text()[-2000:]}")

    def resume(self) -> bool:
        """Start the daemons, again after `kill`, and wait until they answer; False if they ended instead."""
        with (self.folder / "log" / "out").open("ab") as log:
            self._processes = [self._spawn(name, log) for name in _DAEMONS]
        return wait_until(self._is_settled, what="A-REX answers") == "answers"

    def kill(self) -> None:
        """End the daemons as a crash would; jobs that run go on."""
        for process in self._processes:
            process.kill()
            process.wait(60)
        self._processes.clear()

    def close(self) -> None:
        """End the daemons and all that they started."""
        self.kill()
        if self._guardian is not None:
            self._guardian.close()

    def _spawn(self, name: str, log: BinaryIO) -> subprocess.Popen[bytes]:
        environment = {"PATH": f"{os.defpath}:/usr/sbin", "ARC_CONFIG": f"{self.folder}/arc.conf"}
        return subprocess.Popen(
            [str(_PROGRAMS / name), "-f"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment | dict(self._slurm or {}),
            start_new_session=True,
        )

    def _share_parameters(self) -> None:
        """Diffie-Hellman parameters of a standard group: the service looks for its own for minutes, at full
        load, where there are none."""
        words = "openssl genpkey -quiet -genparam -algorithm DH -pkeyopt group:ffdhe4096 -out"
        subprocess.run([*words.split(), str(self.folder / "control" / "dhparam.pem")], check=True)

    def _configure(self) -> None:
        lrms = "fork" if self._slurm is None else "slurm"
        text = _CONF.format(
            folder=self.folder,
            authority=self.authority,
            host=self._host,
            owner=ORDINARY,
            lrms=lrms,
            more="" if self._slurm is None else "slurm_use_sacct = no\nslurm_wakeupperiod = 2\n",
            port=self.port,
            queue=self.queue,
        )
        (self.folder / "arc.conf").write_text(text)

    def _is_settled(self) -> str:
        """`answers` or `ended`; empty while neither is so."""
        if any(process.poll() is not None for process in self._processes):
            return "ended"
        request = b"GET /arex/rest/1.0/info HTTP/1.0\r\nHost: localhost\r\n\r\n"
        try:
            with self._connection() as channel:
                channel.sendall(request)
                return "answers" if b" 200 " in channel.recv(64) else ""
        except OSError:
            return ""

    @contextmanager
    def _connection(self) -> Iterator[ssl.SSLSocket]:
        """A connection of the user's; raises OSError."""
        context = verifying(cafile=str(self.authority.file))
        context.load_cert_chain(self.user.certificate, self.user.key)
        with (
            socket.create_connection(("localhost", self.port), 5.0) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as channel,
        ):
            yield channel


@contextmanager
def running_arex() -> Iterator[ARex]:
    """A computing element in a folder that other accounts can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="cd-arc-"))
    folder.chmod(0o755)
    site = ARex(folder)
    try:
        with lasting():
            site.start()
        yield site
    finally:
        site.close()
        shutil.rmtree(folder, ignore_errors=True)


def _between_transactions(database: Path) -> bytes | None:
    """A database of SQLite's as it is while nobody writes it; None: ask again.

    To open it would lock it for a moment. A transaction that A-REX commits in just that moment is one that it
    neither repeats nor gives up: from then on it holds the lock for ever.
    """
    content = database.read_bytes()
    if database.with_name(f"{database.name}-journal").exists():
        return None
    return content if database.read_bytes() == content else None
