"""A real Son of Grid Engine cell on this machine.

Needs root and the packages gridengine-master, gridengine-exec and gridengine-client of Debian. Nothing of an
installed cell is used: each cell here has its own folder and ports. Its daemons listen on every address.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.testbed.guardian import Guardian
from tests.testbed.ports import free_port
from tests.waiting import wait_until

PACKAGES = ("gridengine-master", "gridengine-exec", "gridengine-client")
QUEUE = "main"
SHORT_QUEUE = "short"
"""A second queue, whose jobs may run for 600 s; it has no parallel environment."""
_TRIES = 5
_DAEMONS = Path("/usr/sbin")
_SPOOL = Path("/usr/lib/gridengine")
_SHARED = Path("/usr/share/gridengine")
_BOOTSTRAP = """\
admin_user              sgeadmin
default_domain          none
ignore_fqdn             false
spooling_method         berkeleydb
spooling_lib            libspoolb
spooling_params         {spool}/spooldb
binary_path             /usr/sbin
qmaster_spool_dir       {spool}/qmaster
security_mode           none
listener_threads        2
worker_threads          2
scheduler_threads       1
"""
_PARALLEL = """\
pe_name mpi
slots 9999
user_lists NONE
xuser_lists NONE
start_proc_args /bin/true
stop_proc_args /bin/true
allocation_rule $fill_up
control_slaves TRUE
job_is_first_task FALSE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
"""
_ONE_HOST = _PARALLEL.replace("pe_name mpi", "pe_name smp").replace("$fill_up", "$pe_slots")
_GLOBAL = {
    "min_uid": "0",
    "min_gid": "0",
    "load_report_time": "00:00:02",
    "mailer": "/bin/true",
    "reporting_params": "accounting=true reporting=false flush_time=00:00:01 "
    "accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00",
}


class GridEngine:
    """One cell with one execution host: `start`, use its commands with `environment`, `close`."""

    def __init__(self, slots: int = 8) -> None:
        missing = [name for name in ("sge_qmaster", "sge_execd") if not (_DAEMONS / name).is_file()]
        if missing:
            raise RuntimeError(f"{missing[0]} is missing; apt-get install {' '.join(PACKAGES)}")
        # Its administrator has to reach it, who may not enter the folders of tests.
        self._folder = Path(tempfile.mkdtemp(prefix="crossdesk-cell-"))
        self._folder.chmod(0o755)
        self._slots = slots
        self._root, self._spool = self._folder / "root", self._folder / "spool"
        self._host = socket.gethostname()
        self.environment = {"SGE_ROOT": str(self._root), "SGE_CELL": "default", "SGE_CLUSTER_NAME": "bed"}
        """To be set for its commands; the ports are in it after `start`."""
        self._guardian: Guardian | None = None
        self._daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Make the cell, start master and execution daemon, and wait until jobs can run."""
        self._guardian = Guardian(self._folder)
        self._lay_out()
        self._spool_defaults()
        self._begin_master()
        self._configure()
        assert self._begin("sge_execd", self._reports), self._told("sge_execd")

    def close(self) -> None:
        """Kill everything of the cell, jobs too, and remove it."""
        if self._guardian is not None:
            self._guardian.close()
        for daemon in self._daemons:
            daemon.wait(60)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, *words: str, stdin: str = "") -> str:
        """What a command of Grid Engine prints; it has to succeed."""
        done = self._asked(*words, stdin=stdin)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def _begin_master(self) -> None:
        """On other ports where another program took the first, also before the execution daemon has its."""
        for _ in range(_TRIES):
            self.environment |= {f"SGE_{name}_PORT": str(free_port()) for name in ("QMASTER", "EXECD")}
            if self._begin("sge_qmaster", self._answers):
                return
        raise AssertionError(f"Grid Engine does not start: {self._told('sge_qmaster')}")

    def _begin(self, program: str, answers: Callable[[], bool]) -> bool:
        """Start a daemon and wait until it answers; False if its port is taken, after which it may stay."""
        daemon = self._spawn(program)

        def taken() -> bool:
            return daemon.poll() is not None or "can't bind" in self._told(program)

        wait_until(lambda: taken() or answers(), what=lambda: f"{program} answers: {self._told(program)}")
        if taken():
            daemon.kill()
        return not taken()

    def _told(self, program: str) -> str:
        return (self._folder / f"{program}.log").read_text()[-2000:]

    def _asked(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        environment = os.environ | self.environment
        return subprocess.run(words, input=stdin, env=environment, capture_output=True, text=True)

    def _lay_out(self) -> None:
        common = self._root / "default" / "common"
        common.mkdir(parents=True)
        for name in ("qmaster/job_scripts", "spooldb", "execd"):
            (self._spool / name).mkdir(parents=True)
        for name in ("bin", "lib", "util", "utilbin"):
            (self._root / name).symlink_to(Path("/var/lib/gridengine", name).resolve())
        (common / "act_qmaster").write_text(f"{self._host}\n")
        (common / "cluster_name").write_text("bed\n")
        (common / "bootstrap").write_text(_BOOTSTRAP.format(spool=self._spool))
        # All names of the loopback address have to be one host to it.
        (common / "host_aliases").write_text(" ".join([self._host, *self._other_names()]) + "\n")
        for path in (self._root, *self._root.rglob("*"), self._spool, *self._spool.rglob("*")):
            if not path.is_symlink():
                shutil.chown(path, "sgeadmin", "sgeadmin")

    def _other_names(self) -> list[str]:
        names = ["localhost"]
        for line in Path("/etc/hosts").read_text().splitlines():
            address, *others = line.partition("#")[0].split() or [""]
            if address == "127.0.0.1":
                names += others
        return list(dict.fromkeys(name for name in names if name != self._host))

    def _spool_defaults(self) -> None:
        lines = (_SHARED / "default-configuration").read_text().splitlines()
        settings = _GLOBAL | {"execd_spool_dir": str(self._spool / "execd")}
        ours = [f"{key} {value}" for key, value in settings.items()]
        kept = [line for line in lines if line.split()[:1] and line.split()[0] not in settings]
        configuration = self._folder / "configuration"
        configuration.write_text("\n".join([*kept, *ours, ""]))
        configuration.chmod(0o644)
        resources = _SHARED / "util" / "resources"
        for words in (
            ("spoolinit", "berkeleydb", "libspoolb", str(self._spool / "spooldb"), "init"),
            ("spooldefaults", "configuration", str(configuration)),
            ("spooldefaults", "complexes", str(resources / "centry")),
            ("spooldefaults", "usersets", str(resources / "usersets")),
            ("spooldefaults", "managers", "root", "sgeadmin"),
        ):
            as_admin = ["setpriv", "--reuid", "sgeadmin", "--regid", "sgeadmin", "--init-groups"]
            self.run(*as_admin, str(_SPOOL / words[0]), *words[1:])

    def _spawn(self, program: str) -> subprocess.Popen[bytes]:
        """Start a daemon in the foreground."""
        environment = os.environ | self.environment | {"SGE_ND": "1"}
        with (self._folder / f"{program}.log").open("wb") as log:
            self._daemons.append(
                subprocess.Popen(
                    [_DAEMONS / program],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        return self._daemons[-1]

    def _configure(self) -> None:
        for option in ("-ah", "-as"):
            self._asked("qconf", option, self._host)  # the master is one already
        self._give("-Ap", _PARALLEL)
        self._give("-Ap", _ONE_HOST)
        template = self.run("qconf", "-sq")
        for queue, more in ((QUEUE, {"pe_list": "mpi smp"}), (SHORT_QUEUE, {"h_rt": "0:10:0"})):
            wanted = {"qname": queue, "hostlist": self._host, "slots": str(self._slots), "pe_list": "NONE"}
            self._give("-Aq", _with(template, wanted | {"load_thresholds": "NONE"} | more))
        quick = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}
        self._give("-Msconf", _with(self.run("qconf", "-ssconf"), quick))

    def _give(self, option: str, text: str) -> None:
        path = self._folder / "given"
        path.write_text(text)
        self.run("qconf", option, str(path))

    def _answers(self) -> bool:
        # Who has the port instead may never answer.
        return self._asked("timeout", "10", "qconf", "-sh").returncode == 0

    def _reports(self) -> bool:
        lines = self._asked("qhost", "-h", self._host).stdout.splitlines()
        return any(line.split()[3] != "-" for line in lines[3:] if len(line.split()) > 3)


def _with(text: str, values: dict[str, str]) -> str:
    """A configuration, a key and a value on each line, with some values put in place of others."""
    lines = [line for line in text.splitlines() if line.split() and line.split()[0] not in values]
    return "\n".join([*lines, *(f"{key} {value}" for key, value in values.items())]) + "\n"
