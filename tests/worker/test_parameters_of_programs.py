"""Parameters as programs have them in Python, C and sh, without desks: files stand for the agent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from broker_core.jobs.published.parameters import ParameterHistory
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import FILE
from broker_core.worker.agent_settings import PARAMETERS
from broker_core.worker.script import publish_path
from broker_core.worker.scripts.publish import crossdesk_publish as publish

C = """
#include "crossdesk_publish.h"

int main(void)
{
    char line[100], name[100];
    while (fgets(line, sizeof line, stdin) != NULL) {
        double value, low, high;
        if (sscanf(line, "%99s %lf %lf %lf", name, &value, &low, &high) == 4)
            printf("%.10g\\n", crossdesk_parameter(name, value, low, high, ""));
        fflush(stdout);
    }
    return 0;
}
"""


class Job:
    """A directory as a job has it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data, self.changes = folder / FILE, folder / PARAMETERS
        monkeypatch.setenv("CROSSDESK_DATA", str(self.data))
        monkeypatch.setenv("CROSSDESK_PARAMETERS", str(self.changes))
        monkeypatch.setattr(publish, "_sink", publish._Sink())
        monkeypatch.setattr(publish, "_changes", publish._Changes())
        monkeypatch.setattr(publish, "_PAUSE", 0.0)

    def want(self, *lines: str) -> None:
        """Replace the changes, as the agent does."""
        fresh = self.changes.with_name("fresh")
        fresh.write_text("".join(f"{line}\n" for line in lines))
        fresh.replace(self.changes)

    def steering(self) -> ParameterHistory:
        """What the program published of its parameters."""
        made = Recording()
        made.feed(self.data.read_bytes())
        assert made.unreadable == 0, made.reason
        return made.steering

    def values(self) -> dict[str, Any]:
        """What it says that it uses."""
        return {name: one.value for name, one in self.steering().parameters.items()}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    return Job(tmp_path, monkeypatch)


def test_a_parameter_that_is_declared_once_more_keeps_a_value_of_a_desk_within_its_range(job: Job) -> None:
    rate = publish.parameter("rate", 0.5, minimum=0, maximum=1.0)
    job.want("7\tann@desk\trate\t0.75")
    assert rate.value == 0.75
    assert publish.parameter("rate", 0.5, minimum=0, maximum=10.0) is rate
    assert (rate.value, job.values()["rate"]) == (0.75, 0.75)
    publish.parameter("rate", 0.1, minimum=0, maximum=0.2)
    assert (rate.value, job.values()["rate"]) == (0.1, 0.1)
    assert len(job.steering().changes) == 1


def test_what_is_no_change_is_left_out_and_what_does_not_fit_is_refused(job: Job) -> None:
    size = publish.parameter("size", 3, minimum=1, maximum=5)
    mode = publish.parameter("mode", "a", choices=["a", "b"])
    job.want("", "x\ty\tsize\t4", "1\tann\tsize", "2\tann\tother\t4", "3\tann\tsize\t9", "4\tann\tmode\tc")
    assert (size.value, mode.value) == (3, "a")
    assert [one.name for one in job.steering().changes if one.refused] == ["size", "mode"]
    job.want("5\tann\tsize\tnan", "6\tann\tmode\tb")
    assert (size.value, mode.value) == (3, "b")
    job.changes.unlink()
    job.changes.mkdir()
    assert size.value == 3


def test_a_program_that_begins_anew_in_its_job_has_the_values_of_desks(job: Job) -> None:
    job.want("7\tann\trate\t0.75", "8\tann\ton\ttrue")
    assert publish.parameter("rate", 0.5).value == 0.75
    assert publish.parameter("on", False).value is True
    assert sh("rate", "0.5").stdout == "0.75\n"
    assert (sh("on", "false").stdout, sh("rate", "0.5").stdout) == ("true\n", "0.75\n")


@pytest.mark.parametrize(
    "words",
    [
        {"name": "a=b", "value": 1}, {"name": "a" * 81, "value": 1}, {"name": "\t", "value": 1},
        {"name": "a", "value": None}, {"name": "a", "value": float("nan")},
        {"name": "a", "value": 2, "maximum": 1}, {"name": "a", "value": 1.0, "minimum": 1, "maximum": 1},
        {"name": "a", "value": 1, "maximum": float("inf")}, {"name": "a", "value": "c", "choices": ["a"]},
        {"name": "a", "value": "x" * 201}, {"name": "a", "value": 1 << 60},
    ],
)  # fmt: skip
def test_a_declaration_that_cannot_be_is_the_program_s_mistake(job: Job, words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="parameter"):
        publish.parameter(**words)
    assert not job.data.exists()


def test_there_are_not_more_parameters_than_desks_show(job: Job) -> None:
    for number in range(64):
        publish.parameter(f"p{number}", 1.0)
    with pytest.raises(ValueError, match="at most 64"):
        publish.parameter("one more", 1.0)
    assert len(job.values()) == 64


def test_outside_of_a_job_parameters_have_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CROSSDESK_DATA", "CROSSDESK_PARAMETERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(publish, "_sink", publish._Sink())
    monkeypatch.setattr(publish, "_changes", publish._Changes())
    assert publish.parameter("rate", 0.5).value == 0.5
    assert sh("-n", "0", "rate", "0.5").stdout == "0.5\n"


def sh(*words: str) -> subprocess.CompletedProcess[str]:
    """The command for scripts."""
    script = str(publish_path() / "crossdesk-publish")
    return subprocess.run(
        ["sh", script, "parameter", *words], text=True, capture_output=True, check=False, env=os.environ
    )


def test_a_script_declares_takes_over_refuses_and_declares_anew(job: Job) -> None:
    assert sh("-n", "0", "-x", "1", "rate", "0.5").stdout == "0.5\n"
    job.want("7\tann\trate\t0.75", "8\tann\tmode\tc", "9\tann\ttitle\ta \"b\" \\n é")
    assert sh("-n", "0", "-x", "1", "rate", "0.5").stdout == "0.75\n"
    assert sh("-n", "0", "-x", "1", "rate", "0.5").stdout == "0.75\n"
    assert sh("-c", "a|b", "mode", "a").stdout == "a\n"
    assert sh("title", "x").stdout == "a \"b\" \\n é\n"
    assert sh("on", "true").stdout == "true\n"
    assert job.values() == {"rate": 0.75, "mode": "a", "title": "a \"b\" \\n é", "on": True}
    assert sh("-n", "0", "-x", "0.6", "rate", "0.1").stdout == "0.1\n"
    assert job.values()["rate"] == 0.1
    assert [(one.name, bool(one.refused)) for one in job.steering().changes] == [
        ("rate", False), ("mode", True), ("title", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words", [("rate",), ("-t", "matrix", "a", "1"), ("-x", "1", "rate", "2"), ("a=b", "1"), ("a\tb", "1")]
)
def test_wrong_words_of_a_script_are_refused(job: Job, words: tuple[str, ...]) -> None:
    assert sh(*words).returncode == 2
    assert not job.data.exists()


def test_a_c_program_declares_takes_over_refuses_and_declares_anew(job: Job, tmp_path: Path) -> None:
    (tmp_path / "asks.c").write_text(C)
    made = str(tmp_path / "asks")
    words = ["cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{publish_path()}", "-o", made]
    subprocess.run([*words, str(tmp_path / "asks.c"), "-lm"], check=True)
    with subprocess.Popen([made], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:

        def ask(line: str) -> float:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.write(f"{line}\n")
            program.stdin.flush()
            return float(program.stdout.readline())

        assert ask("rate 0.5 0 1") == 0.5
        job.want("7\tann\trate\t0.75")
        assert (ask("rate 0.5 0 1"), ask("rate 0.5 0 1"), ask("rate 0.5 0 9")) == (0.75, 0.75, 0.75)
        assert ask("rate 0.1 0 0.2") == 0.1
        job.want("8\tann\trate\t0.75", "9\tann\tother\t0x3")
        assert (ask("rate 0.1 0 0.2"), ask("other 1 -inf inf")) == (0.1, 3.0)
        assert ask("bad 5 0 1") == 5.0
        assert job.values() == {"rate": 0.1, "other": 3.0}
        assert len(job.steering().changes) == 3
        assert program.stdin is not None
        program.stdin.close()
        assert program.wait() == 0
