"""What lasts in a glidein leaves the same records as `job_starter.sh`, whatever programs do."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from broker_core.jobs.placement import Component
from broker_core.sites.contract import InputFile, LaunchOrder
from broker_core.sites.glideins import SlotClaim
from broker_core.sites.shell.bundle import BundleContext, order_text
from broker_core.sites.shell.workspace import Workspace
from broker_core.worker.markers import ended_mark, started_mark
from broker_core.worker.script import publish_path, starter_path, use_path
from broker_core.worker.scripts.payloads.order_file import read_order
from broker_core.worker.scripts.payloads.outputs import is_soon_listed
from broker_core.worker.scripts.payloads.run import PlainAttempt, Termination
from broker_core.worker.scripts.plain.records import Order
from tests.running import processes_of
from tests.waiting import wait_until
from tests.worker.glidein_node import NAME, Node

_PLAIN = LaunchOrder(Component("x", 1), 1, "/bin/sh", "", (), "", "std.out", "std.err", (), ())
_FILES = "mkdir -p 'a b/c'; echo 1 >'a b/c/one'; echo 2 >'a b/two'; echo 3 >three.dat; echo 4 >'4\nand\\back'"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A glidein whose starter lasts; each test has jobs of its own."""
    made = Node(tmp_path_factory.mktemp("payloads") / "there")
    made.lasting = True
    made.start(boxes="possible")
    made.renew(1)
    yield made
    made.close()


@contextmanager
def without_starter(node: Node) -> Iterator[None]:
    """Shells run what is taken meanwhile."""
    hidden = (node.own / "starter").rename(node.own / "starter-hidden")
    yield
    hidden.rename(node.own / "starter")


class Run:
    """One attempt that is over."""

    def __init__(self, folder: Path, news: Path, status: int) -> None:
        self.folder, self.status = folder, status
        self.ended = ended_mark((folder / "ended").read_bytes(), 0.0)
        started = folder / "started"
        self.started = started_mark(started.read_bytes(), 0.0) if started.exists() else None
        listed = folder / "outputs"
        # The shell names a file twice that two names stand for.
        self.outputs = sorted(set(listed.read_text().splitlines())) if listed.exists() else None
        self.news = sorted(one.suffix for one in news.glob(f"{folder.name}.*"))
        self.files = sorted(str(one.relative_to(folder)) for one in (folder / "job").rglob("*"))
        self.left = sorted(one.name for one in folder.iterdir())

    def told(self) -> dict[str, object]:
        """All but moments and numbers of processes."""
        mark = self.ended
        assert mark is not None
        end = mark.exit_code, mark.signal, mark.failure, mark.reason, mark.missing, mark.terminated
        ran = self.started is not None and bool(self.started.pid and self.started.node)
        known = {"status": self.status, "end": end, "outputs": self.outputs, "news": self.news, "ran": ran}
        return {**known, "files": self.files, "left": [one for one in self.left if one != "beat"]}


def stage(
    node: Node,
    job: str,
    order: LaunchOrder,
    inputs: dict[str, str],
    results_max: int = 0,
    beat: int = 1,
    after: str = "",
) -> None:
    """What a submission brings, the inputs too. `beat`: seconds between looks at the job; `after`: the job
    that is ahead in line."""
    attempt = Component(node.attempt(job).removesuffix(".1"), 1)
    slot = SlotClaim(NAME, f"claim-{job}", 0, f"claim-{after}" if after else "")
    files = tuple(InputFile(name, Path("/dev/null"), executable=False) for name in inputs)
    own = replace(order, attempt=attempt, slot=slot, inputs=files)
    home = Workspace(str(node.root), "", 0.0, 0.0)
    place = BundleContext(
        home, str(starter_path()), "", "m", (), {"FROM_SITE": "yes"}, beat=beat, lease=0.0,
        use=str(use_path()), publish=str(publish_path()), results_max=results_max,
        box=f"{node.root}/programs/box", boxing=f"{node.root}/programs/boxing",
    )  # fmt: skip
    folder = node.root / "attempts" / attempt.tag
    (folder / "job").mkdir(parents=True)
    (folder / "order").write_text(order_text(own, place))
    for name, content in inputs.items():
        (folder / "job" / name).write_text(content)
    assert node.take(job, slot) == 0


def over(node: Node, job: str) -> Run:
    """Wait for the end of a job."""
    claim = f"claim-{job}"
    wait_until(lambda: node.status is not None and claim in node.status.over)
    assert node.status is not None
    return Run(node.root / "attempts" / node.attempt(job), node.root / "news", node.status.over[claim])


def script(text: str, *outputs: str, **more: object) -> LaunchOrder:
    """An order that has a shell run a text."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return replace(_PLAIN, arguments=f'-c "{quoted}"', outputs=outputs, **more)  # type: ignore[arg-type]


CASES = {
    "well": script("echo out; echo err >&2"),
    "status": script("exit 3"),
    "high-status": script("exit 126"),
    "higher-status": script("exit 222"),
    "killed": script("kill -9 $$"),
    "segfault": script("kill -11 $$"),
    "named": script(_FILES, "three.dat", "a b", "none", "*.dat", "no*"),
    "all": script(_FILES, "."),
    "all-within": script(f"{_FILES}; head -c 5000 /dev/zero >big", "."),
    "one-stream": script("echo out; echo err >&2", stdout="both", stderr="both"),
    "deep-stream": script("echo out", stdout="a/b/out"),
    "words": replace(_PLAIN, executable="/bin/echo", arguments="'a  b' \"c'd\" é *"),
    "variables": script("env | grep -E ^(MY|FROM_SITE|CROSSDESK) | sort | sed s/[-0-9a-f]*[.]1/TAG/g",
                        environment=(("MY_WORDS", "a  'b'"), ("MYé", "x"), ("MY_PATH", ""))),
    "links": script("ln -s /etc/passwd out1; ln -s std.out out2; mkdir d; ln -s /etc d/e", "out1", "out2",
                    "d"),
    "own-files": script("echo x >.crossdesk-services; echo y >.crossdesk-data", "none"),
    "modes": script("mkdir -p $TMPDIR x; chmod 0 x; echo a >/tmp/a; exit 1", environment=(("TMPDIR", "t"),)),
    "own-files-as-folders": script("mkdir .crossdesk-services .crossdesk-use .crossdesk-data", "."),
    "no-modes": script("echo a >a; mkdir d; echo b >d/b; ln -s /etc d/e; chmod 0 a; chmod 500 d", "."),
    "no-program": replace(_PLAIN, executable="nowhere-to-be-found"),
    "no-rights": replace(_PLAIN, executable="./data"),
    "no-input": replace(_PLAIN, executable="/bin/cat", stdin="nothing"),
    "input": replace(_PLAIN, executable="/bin/cat", stdin="data", outputs=(".",)),
    "late": script("exec sleep 60", wall_limit=0.5),
    "daemon": script("(sleep 300 >/dev/null 2>&1 &) ; setsid sleep 300 >/dev/null 2>&1 & exit 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_records_are_those_of_the_job_starter(shared: Node, case: str) -> None:
    inputs = {"data": "of the user\n"} if case in ("input", "no-rights", "all") else {}
    most = 3000 if case == "all-within" else 0
    job = re.sub(r"\W", "", case)
    # A look at its use is not the same for both, and the shell waits a second where a program was killed.
    stage(shared, job, CASES[case], inputs, most, beat=30)
    lasting = over(shared, job)
    assert shared.minder(f"claim-{job}")[1] == "lasting"
    with without_starter(shared):
        stage(shared, f"{job}-sh", CASES[case], inputs, most, beat=30)
        shell = over(shared, f"{job}-sh")
    assert shared.minder(f"claim-{job}-sh")[1] == ""
    assert lasting.told() == shell.told()
    assert shell.ended is not None


def test_the_records_of_a_line_are_those_of_single_programs(lasting: Node) -> None:
    """Those of one are written while the next one runs."""
    cases = {re.sub(r"\W", "", name): case for name, case in CASES.items() if name != "late"}
    wants = ("input", "norights", "all")
    inputs = {name: {"data": "of the user\n"} if name in wants else {} for name in cases}
    most = {name: 3000 if name == "allwithin" else 0 for name in cases}
    lasting.start(boxes="possible")
    lasting.renew(1)
    single = dict[str, dict[str, object]]()
    for name, case in cases.items():
        stage(lasting, name, case, inputs[name], most[name], beat=30)
        single[name] = over(lasting, name).told()
    stage(lasting, "gate", script("while [ ! -e go ]; do sleep 0.1; done"), {})
    ahead = "gate"
    for name, case in cases.items():
        stage(lasting, f"{name}-line", case, inputs[name], most[name], beat=30, after=ahead)
        ahead = f"{name}-line"
    (lasting.root / "attempts" / lasting.attempt("gate") / "job" / "go").touch()
    found = {name: over(lasting, f"{name}-line").told() for name in cases}
    assert found == single


def test_a_few_small_files_are_soon_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    order = cast(Order, {"inputs": ["data"], "outputs": []})
    (tmp_path / "std.out").write_text("x" * 1000)
    (tmp_path / "data").write_bytes(bytes(1 << 20))
    assert is_soon_listed(order), "what came with the job is not read"
    assert not is_soon_listed(cast(Order, {"inputs": ["data"], "outputs": [("data", "")]}))
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    assert not is_soon_listed(order)
    (tmp_path / "large").unlink()
    (tmp_path / "folder").mkdir()
    assert not is_soon_listed(order)
    (tmp_path / "folder").rmdir()
    for number in range(14):
        (tmp_path / f"{number}").touch()
    assert is_soon_listed(order)
    (tmp_path / "one more").touch()
    assert not is_soon_listed(order)


def test_who_cannot_go_to_the_directory_of_a_job_finds_no_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a program forbids it to others than root."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "attempts/x.1/claim").mkdir(parents=True)
    PlainAttempt(str(tmp_path), "x.1", "pid", Termination()).enter()
    assert Path.cwd() == tmp_path / "attempts/x.1/claim"


def test_what_lasts_longer_is_attended_as_by_the_job_starter(lasting: Node) -> None:
    """It gives signs of life, is measured, stands still and goes on, and ends when that is asked for."""
    lasting.start()
    lasting.renew(1)
    # It counts in a file: what stands still counts no further.
    stage(lasting, "long", script("while :; do echo x; sleep 0.05; done"), {})
    folder = lasting.root / "attempts" / lasting.attempt("long")
    printed = folder / "job" / "std.out"
    wait_until(lambda: (folder / "job" / ".crossdesk-use").exists() and (folder / "beat").exists())
    lasting.want("claim-long", "long 0 stop")
    wait_until(lambda: stands_still(folder))
    count = len(printed.read_bytes())
    beat = lasting.status.beat if lasting.status is not None else 0
    wait_until(lambda: lasting.status is not None and lasting.status.beat > beat + 2)
    assert len(printed.read_bytes()) == count
    lasting.want("claim-long", "long 0 run")
    wait_until(lambda: len(printed.read_bytes()) > count)
    lasting.want("claim-long", "long 5 run")
    wait_until(lambda: lasting.nice_of("long") == 5)
    lasting.want("claim-long", "long 5 end")
    run = over(lasting, "long")
    assert run.ended is not None
    assert (run.ended.failure, run.ended.reason) == ("killed", "Canceled as its owner asked.")
    assert (run.ended.memory or 0) > 0
    assert any(line.endswith("./.crossdesk-use") for line in run.outputs or ())


def test_what_attends_a_program_ends_with_it(lasting: Node) -> None:
    lasting.start()
    lasting.renew(1)
    stage(lasting, "some", script("sleep 2; echo done"), {})
    run = over(lasting, "some")
    assert (run.status, run.news) == (0, [".e", ".o", ".s"])
    assert (run.folder / "beat").exists(), "it was attended"
    wait_until(lambda: not processes_of(run.folder))


def test_nothing_is_left_of_a_shell_that_was_killed_before_it_told_its_end(lasting: Node) -> None:
    lasting.start()
    lasting.renew(1)
    stage(lasting, "special", script("sleep 600", "with\\back"), {})
    wait_until(lambda: lasting.pid_of("special") is not None)
    assert lasting.minder("claim-special")[1] == "lasting"
    leader = int((lasting.own / "taken" / "claim-special" / "pid").read_text())
    assert leader != lasting.minder("claim-special")[0]
    wait_until(lambda: len(members_of(leader)) > 2)
    os.kill(leader, signal.SIGKILL)
    wait_until(lambda: lasting.status is not None and lasting.status.over.get("claim-special") == 137)
    wait_until(lambda: not members_of(leader), 3)


def members_of(session: int) -> list[int]:
    """Its processes."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.getsid(int(name)) == session:
                found.append(int(name))
    return found


def stands_still(attempt: Path) -> bool:
    """True if a process of an attempt is stopped."""
    states = []
    for pid in processes_of(attempt / "job"):
        with suppress(OSError):
            states.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return "T" in states


def test_a_batch_system_that_asks_to_end_is_told_of(lasting: Node) -> None:
    glidein = lasting.start()
    lasting.renew(1)
    text = "trap 'echo heard; exit 7' TERM; echo began; while :; do sleep 0.05; done"
    stage(lasting, "asked", script(text), {})
    printed = lasting.root / "attempts" / lasting.attempt("asked") / "job" / "std.out"
    wait_until(lambda: printed.exists() and printed.read_text() == "began\n")
    minder, _ = lasting.minder("claim-asked")
    pid = lasting.pid_of("asked")
    # As batch systems do: to all processes.
    for process in (minder, *processes_of(printed.parent), pid, glidein.pid):
        assert process is not None
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    wait_until(lambda: (printed.parent.parent / "ended").exists())
    mark = ended_mark((printed.parent.parent / "ended").read_bytes(), 0.0)
    assert mark is not None
    assert (mark.exit_code, mark.terminated) == (7, True)
    assert printed.read_text() == "began\nheard\n"


def test_orders_with_more_than_a_program_and_its_files_are_special(tmp_path: Path) -> None:
    known = "export CROSSDESK_ATTEMPT=j.1\nexport __directory=/d\nexport __box=/b,run,/f,/a,--\n"
    known += "export __jobid=j\nexport __job=/bin/true\nexport __interactive=0\n"
    order = tmp_path / "order"
    order.write_text(f"{known}exec /bin/sh /starter\n")
    assert read_order(str(tmp_path), {}) is not None
    for more in (
        "export __software=/s", "export __mpi=/m", "export __interactive=1", "export __file_limit=9",
        "export __input_source=600", "export __environment=CROSSDESK_BATCH_SCRIPT=1", "touch /tmp/x",
        "export __output_file=a\\0134b", "export __never_heard_of=1",
    ):  # fmt: skip
        order.write_text(f"{known}{more}\nexec /bin/sh /starter\n")
        assert read_order(str(tmp_path), {}) is None, more
