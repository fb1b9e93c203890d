"""The accounting database of test clusters: a MariaDB and a slurmdbd of their own, on the loopback.

Needs the packages slurmdbd and mariadb-server of Debian, and root.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.testbed.daemons import found_program, spawn
from tests.testbed.ports import free_port
from tests.waiting import wait_until

PACKAGES = ("slurmdbd", "mariadb-server")
_DAEMON = """
AuthType=auth/munge
AuthInfo=socket={munge}
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={storage}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_accounts
"""
_SETTINGS = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={munge}
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
"""
_USER = "CREATE USER slurm@localhost IDENTIFIED BY 'slurm'; GRANT ALL ON slurm_accounts.* TO slurm@localhost;"


class Accounting:
    """Started before the controllers of its clusters, which register there by themselves."""

    def __init__(self, folder: Path, munge: Path) -> None:
        missing = [name for name in ("slurmdbd", "mariadbd", "sacctmgr") if not found_program(name)]
        if missing:
            raise RuntimeError(f"{missing[0]} is missing; apt-get install {' '.join(PACKAGES)}")
        self.folder = folder
        folder.mkdir()
        self._munge, self._port, self._storage = munge, free_port(), free_port()
        self._daemons: list[subprocess.Popen[bytes]] = []

    @property
    def settings(self) -> str:
        """Lines for slurm.conf of its clusters."""
        return _SETTINGS.format(port=self._port, munge=self._munge)

    def start(self) -> None:
        """Start both daemons and wait until they answer."""
        data = self.folder / "data"
        words = ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root"]
        words.append("--auth-root-authentication-method=normal")
        subprocess.run(words, check=True, capture_output=True, timeout=120)
        words = ["mariadbd", "--no-defaults", f"--datadir={data}", "--user=root", "--bind-address=127.0.0.1"]
        words += [f"--socket={self.folder}/sql", f"--port={self._storage}", "--innodb-buffer-pool-size=32M"]
        self._daemons.append(spawn(words, self.folder / "mariadb.out"))
        wait_until(lambda: self._sql("SELECT 1").returncode == 0, what="MariaDB answers")
        assert self._sql(_USER).returncode == 0, self._sql(_USER).stderr
        (self.folder / "slurm.conf").write_text(f"ClusterName=none\nSlurmctldHost=localhost\n{self.settings}")
        settings = self.folder / "slurmdbd.conf"
        settings.touch(0o600)
        settings.write_text(
            _DAEMON.format(munge=self._munge, port=self._port, storage=self._storage, folder=self.folder)
        )
        variables = {"SLURM_CONF": f"{self.folder}/slurm.conf"}
        self._daemons.append(spawn(["slurmdbd", "-D"], self.folder / "slurmdbd.out", variables))
        wait_until(self._answers, what=lambda: f"slurmdbd answers: {self._complaints()}")

    def manage(self, *words: str) -> str:
        """What sacctmgr prints for a change; it has to succeed, or to find that nothing changes."""
        done = self._manager(*words)
        assert done.returncode == 0 or "Nothing" in done.stdout, (words, done.stdout, done.stderr)
        return done.stdout

    def close(self) -> None:
        """End the daemons."""
        for daemon in reversed(self._daemons):
            daemon.kill()
            daemon.wait(60)
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    def _answers(self) -> bool:
        return self._manager("show", "cluster").returncode == 0

    def _complaints(self) -> str:
        log = self.folder / "slurmdbd.log"
        return log.read_text()[-1000:] if log.exists() else ""

    def _manager(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sacctmgr", "-i", "-n", "-P", *words],
            env={"PATH": "/usr/bin:/bin", "SLURM_CONF": f"{self.folder}/slurm.conf"},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def _sql(self, statement: str) -> subprocess.CompletedProcess[str]:
        words = ["mariadb", "--no-defaults", f"--socket={self.folder}/sql", "--user=root", "-e", statement]
        return subprocess.run(words, capture_output=True, text=True, timeout=60)
