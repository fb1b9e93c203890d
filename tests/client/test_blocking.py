"""The client of programs without an event loop, and the program of the help page that uses it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client import package_data
from broker_core.client.blocking import BlockingClient, JobReport
from broker_core.errors import BrokerStopped, Conflict, CrossDeskError, DescriptionRefused, NotFound
from broker_core.jobs.outcome import Outcome
from tests.client.one_job import HELLO, TRUE
from tests.running import RunningBroker

SLEEP = 'Executable = "/bin/sleep"; Arguments = "600";'


@pytest.fixture
def client(broker: Path) -> Iterator[BlockingClient]:
    with BlockingClient(broker) as client:
        yield client


def test_the_program_of_the_help_page_runs(broker: Path, tmp_path: Path) -> None:
    page = package_data.text("help/python.md")
    block = re.search(r"\n((?:    .*\n|\n)+)", page.partition("installed in:\n")[2])
    assert block is not None
    program = textwrap.dedent(block[1])
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    environment = os.environ | {"CROSSDESK_STATE_DIR": str(broker)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert sorted(done.stdout.splitlines()) == ["Done 0 hello moon", "Done 0 hello world"]


def test_the_calls_of_the_help_page_are_there() -> None:
    calls = re.findall(r"(?m)^\| `(\w+)\(", package_data.text("help/python.md"))
    assert set(calls) == {name for name in vars(BlockingClient) if not name.startswith("_")} - {"close"}


def test_a_job_is_waited_for_and_its_output_saved(client: BlockingClient, tmp_path: Path) -> None:
    (job,) = client.submit(HELLO, name="greeting")
    (report,) = client.wait(job)
    assert (report.name, report.outcome, report.exit_code) == ("greeting", Outcome.DONE, 0)
    assert client.output(job) == client.output(job, "out.txt") == "hello\n"
    assert (client.fetch(job, tmp_path) / "out.txt").read_text() == "hello\n"


def test_files_lie_beside_the_description(client: BlockingClient, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("inside\n")
    text = 'Executable = "/bin/cat"; Arguments = "data.txt"; InputSandbox = {"data.txt"}; StdOutput = "o";'
    (tmp_path / "job.jdl").write_text(text)
    jobs = client.submit(tmp_path / "job.jdl") + client.submit(text, folder=tmp_path)
    client.wait(jobs)
    assert [client.output(job) for job in jobs] == ["inside\n"] * 2


def test_failures_tell_exit_code_or_signal(client: BlockingClient) -> None:
    (failed,) = client.submit('Executable = "/bin/sh"; Arguments = "-c \'exit 7\'";')
    (report,) = client.wait([failed])
    assert (report.outcome, report.exit_code, report.cause) == (Outcome.FAILED, 7, "exit 7")
    with pytest.raises(DescriptionRefused) as refused:
        client.submit("Executable")
    assert refused.value.diagnostics
    with pytest.raises(NotFound):
        client.status("A" * 22)


def test_waiting_has_an_end_and_the_job_goes_on(client: BlockingClient) -> None:
    (job,) = client.submit(SLEEP)
    with pytest.raises(TimeoutError):
        client.wait(job, timeout=0.05)
    assert client.active() == [job]
    client.cancel(job)
    (report,) = client.wait(job)
    assert (report.outcome, client.active()) == (Outcome.CANCELED, [])
    with pytest.raises(Conflict):
        client.cancel(job)


def test_each_change_is_told_once_and_may_use_the_client(broker: Path) -> None:
    seen: list[JobReport] = []
    over = threading.Event()

    def changed(report: JobReport) -> None:
        seen.append(report)
        assert client.status(report.id)
        if report.ended:
            over.set()

    with BlockingClient(broker, changed=changed) as client:
        (job,) = client.submit(TRUE)
        client.status(job)
        assert over.wait(60)
    assert seen[-1].outcome is Outcome.DONE
    assert len(seen) == len(set(seen))


@pytest.mark.expected_log("What was to be called with a change")
def test_a_function_that_fails_keeps_nothing_from_going_on(broker: Path) -> None:
    def changed(report: JobReport) -> None:
        raise ValueError(report.id)

    with BlockingClient(broker, changed=changed) as client:
        assert client.wait(client.submit(TRUE))[0].outcome is Outcome.DONE


def test_it_waits_on_over_a_broker_that_is_killed(running_broker: RunningBroker, tmp_path: Path) -> None:
    text = f"-c 'while [ ! -e {tmp_path}/go ]; do sleep 0.1; done'"
    with BlockingClient(running_broker.state_dir) as client:
        (job,) = client.submit(f'Executable = "/bin/sh"; Arguments = "{text}";')
        waiting: list[JobReport] = []
        waiter = threading.Thread(target=lambda: waiting.extend(client.wait(job)))
        waiter.start()
        running_broker.kill()
        (tmp_path / "go").touch()
        waiter.join(60)
        assert [report.outcome for report in waiting] == [Outcome.DONE]


def test_a_broker_that_is_stopped_ends_the_wait_with_the_reason(running_broker: RunningBroker) -> None:
    with BlockingClient(running_broker.state_dir) as client:
        (job,) = client.submit(SLEEP)
        client.status(job)
        errors: list[CrossDeskError] = []

        def wait() -> None:
            try:
                client.wait(job)
            except CrossDeskError as error:
                errors.append(error)

        waiter = threading.Thread(target=wait)
        waiter.start()
        words = [sys.executable, "-m", "app.launch", "broker", "stop"]
        subprocess.run(
            [*words, "--state-dir", str(running_broker.state_dir)], check=True, capture_output=True
        )
        waiter.join(60)
        assert [type(error) for error in errors] == [BrokerStopped]
        running_broker.kill(signal.SIGCONT)


def test_a_closed_client_says_so(broker: Path) -> None:
    client = BlockingClient(broker)
    client.close()
    client.close()
    with pytest.raises(CrossDeskError, match="closed"):
        client.active()
