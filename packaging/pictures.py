"""Make the pictures of the README and the help anew, of a desk with two real Slurm clusters and real jobs.

`python -m packaging.pictures [FOLDER]`, from the root of a checkout after `packaging/test.sh`; as root, since
the clusters are those of the tests. FOLDER (resources/help/images) gets the pictures.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.console.shell_view import ShellView
from app.console.terminal.view import TerminalView
from app.shell.toasts import Toast
from app.theme.tokens import Mode
from broker_core.client.interactive import register_desk
from broker_core.wire.sites import SiteSpec
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.running import RunningBroker
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

IMAGES = Path(__file__).resolve().parents[1] / "resources" / "help" / "images"
SIZE = 1280, 800
_CLUSTERS = ("altair", "vega")
_PICKY = "Requirements = other.GlueCEInfoTotalCPUs >= 8 && other.GlueCEPolicyMaxWallClockTime >= 60;"
_POINTS = 8
_SAMPLES = ("sweep-200", "data-reduction", "fails", "killed", "heat-image", "neural-net")
_WORK = """[
  Executable    = "/bin/sh";
  Arguments     = "-c 'for i in $(seq 400); do echo step $i of 400, residual 0.$((9999/i)); sleep 1; done'";
  StdOutput     = "std.out";
  OutputSandbox = { "std.out" };
  CPUNumber     = %d;
  %s
]"""
_AT_SLURM = 'Requirements = other.GlueCEInfoLRMSType == "slurm"; Rank = other.GlueCEStateFreeCPUs;'


class Album:
    """Takes the pictures, one after the other."""

    def __init__(self, on: Stage, folder: Path, bed: Slurm) -> None:
        self.on, self.folder, self.bed = on, folder, bed

    async def make(self) -> None:
        """Everything that is shown is real: it is run first."""
        self.on.window.resize(*SIZE)
        await self.on.ready()
        await self._sites()
        jobs = {name: await self.on.finished(name) for name in _SAMPLES}
        far = await self._far()
        await self._take("desk", Mode.LIGHT, jobs["neural-net"], "story")
        await self._take("desk-dark", Mode.DARK, far, "logs")
        await self._take("output", Mode.LIGHT, jobs["heat-image"], "output")
        await self._console()
        await self._description()
        await self._place("statistics", "view.statistics")
        await self._crowd()
        self.on.context.trigger("view.inspector")
        await self._place("sites", "view.sites")

    async def _sites(self) -> None:
        for name, cluster in self.bed.clusters.items():
            spec = SiteSpec(name=name, kind="slurm", environment=cluster.environment)
            await self.on.context.client.add_site(spec)
        sites = self.on.context.sites
        await eventually(lambda: all((one := sites.named(name)) and one.ces for name in _CLUSTERS), 60)

    async def _far(self) -> str:
        """Some work at the clusters; the id of the last one when all of it runs."""
        names = ("wing-flow", "wing-mesh", "spectra", "lattice-32", "lattice-64")
        jobs = [
            (await self._submitted(SubmissionItem(description=_WORK % (1 + number, _AT_SLURM), name=name)))[0]
            for number, name in enumerate(names)
        ]
        rows = self.on.context.jobs
        await eventually(
            lambda: all((row := rows.row(job)) and row["state"] == "Running" for job in jobs), 60
        )
        return jobs[-1]

    async def _description(self) -> None:
        """A description in the editor, and where it could run."""
        sample = IMAGES.parents[1] / "samples" / "data-reduction" / "job.jdl"
        text = sample.read_text()
        self.on.context.trigger("view.inspector")
        self.on.context.open_editor(text, sample)
        await self._save("editor")
        editor = self.on.window.tabs.currentWidget()
        editor.set_text(text.replace("[", f"[\n  {_PICKY}", 1))
        self.on.context.trigger("view.match")
        page = self.on.window.tabs.currentWidget()
        await eventually(lambda: page.match.report is not None, 30)
        await self._save("where")
        self.on.context.trigger("view.inspector")

    async def _crowd(self) -> None:
        """Queues at the clusters, long enough for their plots."""
        text = f'Executable = "/bin/sleep"; Arguments = "_PARAM_"; {_AT_SLURM}'
        values = [str(5 + number * 7 % 60) for number in range(120)]
        await self._submitted(SubmissionItem(description=text, name="crowd", values=values))
        sites = self.on.context.sites
        await eventually(lambda: all(len(sites.named(name).times) > _POINTS for name in _CLUSTERS), 900)

    async def _submitted(self, item: SubmissionItem, site: str = "") -> list[str]:
        one = Submission(key=f"pictures-of-{item.name}", items=[item], site=site)
        return list((await self.on.context.client.submit(one)).ids)

    async def _take(self, name: str, mode: Mode, job: str, tab: str) -> None:
        self.on.context.theme.wear(mode=mode)
        self.on.context.trigger("view.jobs")
        self.on.window.show_job(job, tab)
        await self._save(name)

    async def _place(self, name: str, action: str) -> None:
        self.on.context.theme.wear(mode=Mode.LIGHT)
        self.on.context.trigger(action)
        await self._save(name)

    async def _console(self) -> None:
        """A job that is talked to at a cluster, in a tab: a monitor of the node beside its shell."""
        self.on.context.trigger("view.jobs")
        await register_desk(self.on.context.client)
        [job] = await self._submitted(_shell(), site=_CLUSTERS[0])
        await eventually(lambda: self.on.context.jobs.row(job), 20)
        self.on.window.open_job(job)
        page = self.on.window.tabs.currentWidget()
        page.show_tab("console")
        pane = page.panes["console"]
        await eventually(lambda: pane.views, 60)
        [view] = pane.views.values()
        await self._typed(
            view.terminal, "ls --color /usr", "python3 -q", "import cmath", "cmath.exp(1j * cmath.pi)"
        )
        view.split_asked.emit("shell", Qt.Orientation.Horizontal)
        await eventually(lambda: self.on.window.findChildren(ShellView), 20)
        [shell] = self.on.window.findChildren(ShellView)
        await self._typed(shell.terminal, "htop")
        self.on.context.trigger("view.inspector")
        await self._save("console")
        self.on.context.trigger("view.inspector")
        await self.on.context.client.cancel([job])

    async def _typed(self, terminal: TerminalView, *lines: str) -> None:
        """Type lines once there is a prompt."""
        text = terminal.terminal.text
        await eventually(lambda: text().rstrip().endswith(("$", "#")), 60, "the prompt of the shell")
        for line in lines:
            QTest.keyClicks(terminal, line)
            QTest.keyClick(terminal, Qt.Key.Key_Return)
            await turns(300)

    async def _save(self, name: str) -> None:
        await turns(400)
        for toast in self.on.window.findChildren(Toast):
            toast.hide()
        assert self.on.window.grab().save(str(self.folder / f"{name}.png"))


def _shell() -> SubmissionItem:
    text = 'Executable = "/bin/bash"; Arguments = "--norc"; Interactive = true;'
    return SubmissionItem(description=text, name="shell-at-altair")


def main() -> None:
    """Make all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cd-pictures-") as base:
        os.environ |= {
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_RUNTIME_DIR": base,
            "CROSSDESK_STATE_DIR": f"{base}/state",
        }
        for variable in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[variable] = f"{base}/home"
        Path(base, "home").mkdir()
        bed, broker = Slurm(Path(base, "bed"), _CLUSTERS, nodes=2, cpus=8), RunningBroker(Path(base, "state"))
        try:
            bed.start()
            broker.start()
            play(QApplication([]), broker.state_dir, lambda on: Album(on, folder, bed).make())
        finally:
            broker.close()
            bed.close()


if __name__ == "__main__":
    main()
