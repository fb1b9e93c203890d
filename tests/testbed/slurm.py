"""Real Slurm clusters on this host: several slurmd for each, with more processors than the host has.

Needs the packages slurm-wlm, slurm-wlm-basic-plugins and munge of Debian, and root. Each test bed has its own
folder, ports and munge; the system's own Slurm, if any, is not touched. There is no accounting database,
unless `slurm_accounting` is used beside: what ended is in the file that Slurm's completion plug-in writes.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import stat
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.daemons import found_program, pause, spawn
from tests.testbed.guardian import Guardian
from tests.testbed.ports import free_port
from tests.waiting import wait_until

PACKAGES = ("slurm-wlm", "slurm-wlm-basic-plugins", "munge")
QUEUES = ("main", "short")
_TRIES = 5
_CONF = """
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=pmi2
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,bf_interval=2,batch_sched_delay=0,default_queue_depth=1000,max_rpc_cnt=0
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=60
InactiveLimit=0
KillWait=2
MinJobAge=300
MaxJobCount=30000
MaxArraySize={most_tasks}
MailProg=/bin/true
PropagateResourceLimits=NONE
"""
_LOOPBACK = "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"
_NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} Boards=1"
    " SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory={memory} State=UNKNOWN{more}\n"
)
_QUEUE = "PartitionName={name} Nodes=ALL {more} State=UP OverSubscribe=NO\n"
_CGROUP = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\n"


@dataclass(frozen=True, slots=True)
class Completed:
    """One job (or array task) that is over by Slurm's own record."""

    id: str
    """An array task carries its number: `12_3`."""
    name: str
    state: str
    """`COMPLETED`, `CANCELLED`, `FAILED`, `TIMEOUT` ..."""
    started: bool
    """It was given a node."""


class Munge:
    """The daemon that signs what the parts of Slurm say to each other."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o711)
        self.socket = folder / "socket"
        key = folder / "key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        words = ["munged", "-F", "--force", f"--key-file={key}", f"--socket={self.socket}"]
        words += [f"--pid-file={folder}/pid", f"--seed-file={folder}/seed", f"--log-file={folder}/log"]
        self._process = spawn(words, folder / "out")

    def ready(self) -> bool:
        """True if it answers."""
        done = subprocess.run(["munge", "-n", "-S", str(self.socket)], capture_output=True)
        return done.returncode == 0

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait(60)


LIMITING = (
    "TaskPlugin=task/cgroup\nProctrackType=proctrack/cgroup\n"
    "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n"
)
"""For `Cluster.settings`: with LIMITING_CGROUP jobs get no more memory than they asked for."""
LIMITING_CGROUP = (
    "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\n"
    "ConstrainRAMSpace=yes\nConstrainSwapSpace=no\n"
)


class Cluster:
    """One cluster: a controller and some nodes, with the queues of QUEUES."""

    def __init__(self, folder: Path, name: str, munge: Path, nodes: int, cpus: int) -> None:
        self.name = name
        self.folder = folder
        self.nodes = nodes
        self.cpus = cpus
        """Processors of each node, as Slurm believes."""
        self.most_tasks = 10001
        """Of an array; 0: no arrays. What is set before `begin` counts."""
        self.settings = "AccountingStorageType=accounting_storage/none\n"
        """More lines for slurm.conf; what is set before `begin` counts."""
        self.cgroup = _CGROUP
        """The text of cgroup.conf, likewise."""
        self.within: tuple[str, ...] = ()
        """Words that run the daemons of nodes as they are to be, likewise."""
        self._equipment: dict[int, str] = {}
        self._gpus: list[str] = []
        self._munge = munge
        self._controller: subprocess.Popen[bytes] | None = None
        self._slurmds: list[subprocess.Popen[bytes]] = []
        for part in ("state", "spool"):
            (folder / part).mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which all Slurm commands speak to this cluster."""
        return {"SLURM_CONF": f"{self.folder}/slurm.conf"}

    def equip(self, node: int, model: str, gpus: int, *features: str) -> None:
        """Give a node GPUs and features before `begin`; devices that nothing opens stand in for GPUs."""
        devices = self.folder / "dev"
        devices.mkdir(exist_ok=True)
        for number in range(gpus):
            os.mknod(devices / f"{model}-{node}-{number}", stat.S_IFCHR | 0o666, os.makedev(195, number))
        self._equipment[node] = f" Gres=gpu:{model}:{gpus} Feature={','.join(features) or 'plain'}"
        files = f"{devices}/{model}-{node}-[0-{gpus - 1}]"
        self._gpus.append(f"NodeName={self.name}{node} Name=gpu Type={model} File={files}\n")

    def begin(self) -> None:
        """Start all daemons on ports that are free now; returns at once."""
        self._configure()
        self.start_controller()
        for number in range(1, self.nodes + 1):
            words = ["slurmd", "-D", "-N", f"{self.name}{number}", "-f", self.environment["SLURM_CONF"]]
            self._slurmds.append(spawn([*self.within, *words], self.folder / "out"))

    def start_controller(self) -> None:
        """Start the controller, again after `kill_controller`."""
        words = ["slurmctld", "-D", *([] if any(self.folder.joinpath("state").iterdir()) else ["-i"])]
        self._controller = spawn([*words, "-f", self.environment["SLURM_CONF"]], self.folder / "out")

    def kill_controller(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the controller; jobs go on. SIGTERM lets it save its state first."""
        assert self._controller is not None
        self._controller.send_signal(how)
        self._controller.wait(60)

    def pause_controller(self, *, on: bool) -> None:
        """Let the controller accept connections and never answer, or go on."""
        assert self._controller is not None
        if on:
            pause(self._controller)
        else:
            self._controller.send_signal(signal.SIGCONT)

    def ready(self) -> bool:
        """True if all nodes can take jobs."""
        done = self.run("sinfo", "-h", "-N", "-p", "main", "-t", "idle,mix,alloc", "-o", "%N", check=False)
        return len(done.split()) == self.nodes

    def require_ready(self) -> None:
        """Fail with Slurm's own reason where a test before this one has left nodes that take no jobs."""
        try:
            wait_until(self.ready)
        except AssertionError:
            nodes = self.run("sinfo", "-h", "-N", "-o", "%N %T %E", check=False)
            raise AssertionError(f"cluster {self.name} takes no jobs: {nodes.strip()}") from None

    def broken(self) -> bool:
        """True if a daemon has ended by itself, e.g. because another program took its port."""
        return any(one.poll() is not None for one in (self._controller, *self._slurmds) if one is not None)

    def run(self, *words: str, check: bool = True, stdin: str = "") -> str:
        """Output of a Slurm command for this cluster."""
        done = subprocess.run(
            words,
            env=os.environ | self.environment,
            input=stdin,
            text=True,
            capture_output=True,
            timeout=60,
        )
        assert not check or done.returncode == 0, (words, done.stderr)
        return done.stdout

    def present(self) -> dict[str, str]:
        """Id of each job (and array task) that is not over to its name."""
        lines = self.run("squeue", "-h", "-r", "-o", "%i|%j").splitlines()
        return dict(line.split("|", 1) for line in lines)

    def completed(self) -> list[Completed]:
        """All jobs that are over, oldest first, of all the cluster's life."""
        log = self.folder / "jobcomp.log"
        # The name of a job may go on in the next line.
        records = re.split(r"\n(?=JobId=)", log.read_text()) if log.exists() else []
        return [_completed(record) for record in records if "JobState=" in record]

    def all_completed(self) -> list[Completed]:
        """Like `completed`, once nothing is left: Slurm may hear of an end after the broker did."""
        wait_until(lambda: not self.present(), what="all jobs of the cluster end")
        return self.completed()

    def end_jobs(self) -> None:
        """Cancel everything and wait until nothing is left."""
        self.run("scancel", "--user=root", check=False)
        wait_until(lambda: not self.present(), what="all jobs of the cluster end")

    def end(self) -> None:
        """End the daemons."""
        for process in (self._controller, *self._slurmds):
            if process is not None:
                process.kill()
                process.wait(60)
        self._controller, self._slurmds = None, []

    def _configure(self) -> None:
        host = socket.gethostname().partition(".")[0]
        text = _CONF.format(
            name=self.name,
            host=host,
            port=free_port(),
            munge=self._munge,
            folder=self.folder,
            most_tasks=self.most_tasks,
        )
        if _is_loopback(host):
            text += _LOOPBACK
        for number in range(1, self.nodes + 1):
            text += _NODE.format(
                name=f"{self.name}{number}",
                host=host,
                port=free_port(),
                cpus=self.cpus,
                memory=self.cpus * 200,
                more=self._equipment.get(number, ""),
            )
        text += _QUEUE.format(name="main", more="Default=YES MaxTime=4:00:00")
        text += _QUEUE.format(name="short", more="MaxTime=0:10:00 PriorityTier=10")
        text += self.settings + ("GresTypes=gpu\n" if self._gpus else "")
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text("".join(self._gpus))
        (self.folder / "cgroup.conf").write_text(self.cgroup)


class Slurm:
    """Independent clusters, by name, that share one munge."""

    def __init__(self, folder: Path, names: Sequence[str] = ("a",), nodes: int = 2, cpus: int = 16) -> None:
        missing = [word for word in ("slurmctld", "slurmd", "sbatch", "munged") if not found_program(word)]
        if missing:
            raise RuntimeError(f"{missing[0]} is missing; apt-get install {' '.join(PACKAGES)}")
        self.folder = folder
        folder.mkdir(parents=True)
        self._guardian = Guardian(folder)
        self._munge = Munge(folder / "munge")
        self.munge = self._munge.socket
        """Socket by which all daemons and commands are sure of each other."""
        self.clusters = {
            name: Cluster(folder / name, name, self._munge.socket, nodes, cpus) for name in names
        }

    def start(self) -> Slurm:
        """Start all clusters and wait until they take jobs."""
        wait_until(self._munge.ready, what="munge answers")
        for cluster in self.clusters.values():
            cluster.begin()
        for cluster in self.clusters.values():
            self._settle(cluster)
        return self

    def close(self) -> None:
        """End all jobs and daemons, and whatever they left."""
        for cluster in self.clusters.values():
            cluster.end()
        self._munge.close()
        self._guardian.close()

    def _settle(self, cluster: Cluster) -> None:
        for _ in range(_TRIES):
            if wait_until(lambda: cluster.broken() or cluster.ready(), what="the nodes are up") and (
                not cluster.broken()
            ):
                return
            cluster.end()
            cluster.begin()
        raise AssertionError(f"Slurm does not start: {(cluster.folder / 'out').read_text()[-2000:]}")


def _is_loopback(host: str) -> bool:
    try:
        return socket.gethostbyname(host) == "127.0.0.1"
    except OSError:
        return False


def _completed(line: str) -> Completed:
    fields = dict(re.findall(r"(\w+)=(\S*)", line))
    task = f"{fields['ArrayJobId']}_{fields['ArrayTaskId']}" if "ArrayTaskId" in fields else ""
    started = fields.get("NodeList", "(null)") not in ("(null)", "")
    return Completed(task or fields["JobId"], fields["Name"], fields["JobState"], started)
