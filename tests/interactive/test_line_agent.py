"""The plain agent by itself, in every shell of this machine: what is typed, its end, signals (CB-BYP)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.worker.agent_settings import CONTACT, FAILURE, NO_DESK, VARIABLE, AgentSettings
from broker_core.worker.line_files import CONTROL, FOLDER, HEARD, INPUT, end_line, signal_line
from broker_core.worker.script import line_agent_path
from tests.running import end_all, processes_of
from tests.waiting import wait_until
from tests.worker.starting import SHELLS

CHECKS = [[*words, "-n"] for words in SHELLS]
if shellcheck := shutil.which("shellcheck"):
    CHECKS.append([shellcheck, "-s", "sh"])


@pytest.fixture(params=SHELLS, ids=lambda words: Path(words[0]).name)
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Plain]:
    made = Plain(list(request.param), tmp_path)
    yield made
    end_all(tmp_path)
    made.close()


class Plain:
    """One agent with its program, as a Job Starter runs it."""

    def __init__(self, shell: list[str], folder: Path) -> None:
        self.shell, self.folder = shell, folder
        self.job = folder / "job"
        self.job.mkdir()
        self.script = line_agent_path()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, script: str, why: str = "", **settings: object) -> None:
        given = AgentSettings(token="t" * 64, places=(), keys=(), **settings)
        added = {VARIABLE: given.text(), "CROSSDESK_AGENT_LACKING": why}
        with open(self.job / "out", "wb") as out, open(self.job / "err", "wb") as err:
            self.process = subprocess.Popen(
                [*self.shell, str(self.script), "/bin/sh", "-c", script],
                cwd=self.job,
                env={**os.environ, **added},
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        wait_until(self._is_there, what="the agent is there")

    def _is_there(self) -> bool:
        """Or was, with a program that ends soon."""
        assert self.process is not None
        return (self.job / CONTACT).exists() or self.process.poll() is not None

    def type(self, data: bytes) -> None:
        self._add(INPUT, data)

    def wish(self, line: bytes) -> None:
        self._add(CONTROL, line)

    def shows(self, text: bytes) -> None:
        wait_until(lambda: text in (self.job / "out").read_bytes(), what=f"{text!r} is written")

    def ended(self) -> int:
        """Exit status, of a shell that waited for it."""
        assert self.process is not None
        status = self.process.wait(60)
        return status if status >= 0 else 128 - status

    def close(self) -> None:
        if self.process is not None:
            self.process.wait(60)

    def _add(self, name: str, data: bytes) -> None:
        with open(self.folder / FOLDER / name, "ab") as file:
            file.write(data)


def test_what_is_typed_reaches_the_program_and_its_output_and_status_are_its_own(plain: Plain) -> None:
    plain.start('echo ready; while read -r line; do printf "got %s\\n" "$line"; done; echo bad >&2; exit 42')
    plain.shows(b"ready\n")
    plain.type(b"one\ntwo ")
    plain.shows(b"got one\n")
    plain.type(b"\\t & three\n")
    plain.shows(b"got two \\t & three\n")
    plain.wish(end_line(24 - 5)[:3])
    plain.wish(end_line(24 - 5)[3:])
    assert plain.ended() == 42
    assert (plain.job / "err").read_bytes() == b"bad\n"
    assert not (plain.job / CONTACT).exists()


def test_no_byte_is_lost_or_changed_and_the_end_comes_after_the_last(plain: Plain) -> None:
    plain.start("exec cat")
    data = os.urandom(3_000_000)
    plain.wish(end_line(len(data)))
    plain.type(data[:1_700_000])
    plain.type(data[1_700_000:])
    assert plain.ended() == 0
    assert (plain.job / "out").read_bytes() == data


def test_a_program_that_reads_nothing_more_is_not_held_up(plain: Plain) -> None:
    plain.start("exec <&-; echo closed; until [ -f ../go ]; do sleep 0.1; done; exit 9")
    plain.shows(b"closed\n")
    plain.type(b"x" * 500_000)
    (plain.folder / "go").touch()
    assert plain.ended() == 9
    assert (plain.job / "err").read_bytes() == b""


def test_a_signal_ends_the_program_and_what_it_started_though_it_reads_nothing(plain: Plain) -> None:
    plain.start("sleep 600 & echo ready; sleep 600")
    plain.shows(b"ready\n")
    plain.type(b"y" * 300_000)
    plain.wish(signal_line("TERM"))
    assert plain.ended() == 128 + signal.SIGTERM
    assert (plain.job / "err").read_bytes() == b""


def test_asked_to_end_the_agent_passes_it_on_and_waits(plain: Plain) -> None:
    plain.start("trap 'echo asked; exit 6' TERM; echo ready; while :; do sleep 0.1; done")
    plain.shows(b"ready\n")
    assert plain.process is not None
    os.killpg(plain.process.pid, signal.SIGTERM)
    assert plain.ended() == 6
    assert b"asked\n" in (plain.job / "out").read_bytes()


def test_nothing_begins_before_signals_are_passed_on(plain: Plain) -> None:
    whole, minding = plain.script.read_text(), "__mind() {\n"
    assert whole.count(minding) == 1
    plain.script = plain.folder / "slow.sh"
    plain.script.write_text(whole.replace(minding, f"{minding}    sleep 0.5\n"))
    plain.start("trap 'echo asked; exit 6' TERM; echo ready; while :; do sleep 0.1; done")
    plain.shows(b"ready\n")
    assert plain.process is not None
    os.killpg(plain.process.pid, signal.SIGTERM)
    assert plain.ended() == 6


def test_without_a_desk_the_program_is_killed_with_the_reason_unless_it_is_there_for_a_terminal(
    plain: Plain,
) -> None:
    plain.start("echo ready; sleep 600", mode="lines", retry_interval=1.0, max_retries=1)
    assert plain.ended() == 128 + signal.SIGKILL
    why = (plain.folder / FAILURE).read_text()
    assert why == f"No desk came back after 1 attempts, so the program was ended.\n{NO_DESK}\n"


class Clock:
    """The node's, for an agent that is started next: it stands still until somebody lets time pass."""

    def __init__(self, plain: Plain) -> None:
        self._file, self._looks, self._now = plain.folder / "uptime", plain.folder / "looks", 100
        whole, reading = plain.script.read_text(), "__clock() {\n"
        assert whole.count(reading) == 1
        instead = f"    echo >>{self._looks}; read -r __now <{self._file}; return\n"
        plain.script = plain.folder / "clocked.sh"
        plain.script.write_text(whole.replace(reading, reading + instead))
        self._file.write_text(f"{self._now}\n")

    def let_pass(self, seconds: int) -> None:
        """Returns when the agent has acted on it."""
        self._now += seconds
        part = self._file.with_suffix(".part")
        part.write_text(f"{self._now}\n")
        part.replace(self._file)
        before = self._looks.stat().st_size
        wait_until(lambda: self._looks.stat().st_size >= before + 2, what="the agent looks at its clock")


def test_signs_of_a_desk_keep_the_program_alive(plain: Plain) -> None:
    clock = Clock(plain)
    plain.start("read -r line; exit 3", mode="lines", retry_interval=10.0, max_retries=1)
    for sign in range(3):
        (plain.folder / FOLDER / HEARD).write_text(f"{sign}\n")
        clock.let_pass(9)
    plain.type(b"\n")
    assert plain.ended() == 3


def test_one_attempt_is_over_where_the_machine_slept_for_long(plain: Plain) -> None:
    clock = Clock(plain)
    plain.start("echo ready; sleep 600", mode="lines", retry_interval=10.0, max_retries=3)
    for _ in range(2):
        clock.let_pass(36_000)
        assert plain.process is not None
        assert plain.process.poll() is None
    (plain.folder / FOLDER / HEARD).write_text("back\n")
    clock.let_pass(9)
    plain.wish(signal_line("TERM"))
    assert plain.ended() == 128 + signal.SIGTERM


def test_the_broker_is_told_where_and_why_and_the_program_nothing(plain: Plain) -> None:
    plain.start("env | grep -c 'CROSSDESK_SESSION\\|LACKING'; cat", 'no "agent" for\n\\ppc64le')
    said = json.loads((plain.job / CONTACT).read_text())
    node = os.uname().nodename
    assert said == {"key": "", "fingerprint": "", "node": node, "lines": "no agent for ppc64le"}
    plain.shows(b"0\n")
    plain.wish(end_line(0))
    assert plain.ended() == 0


def open_files(process: str) -> list[str]:
    """None of one that has ended in the meantime, as the short commands of a shell do."""
    try:
        return [os.readlink(one) for one in Path(f"/proc/{process}/fd").iterdir()]
    except FileNotFoundError:
        return []


def test_nothing_listens_and_nothing_connects(plain: Plain) -> None:
    plain.start("echo ready; cat")
    plain.shows(b"ready\n")
    found = processes_of(plain.job)
    assert len(found) > 2
    files = [file for process in found for file in open_files(process)]
    assert len(files) > 6
    assert not [one for one in files if one.startswith("socket:")]
    plain.wish(end_line(0))
    assert plain.ended() == 0


@pytest.mark.parametrize("words", CHECKS, ids=lambda words: Path(words[0]).name)
def test_each_shell_and_checker_accepts_the_script(words: list[str]) -> None:
    checked = subprocess.run([*words, str(line_agent_path())], capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
