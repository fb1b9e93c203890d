"""`crossdesk job attach`, `forward`, `sftp`, `exec` as a shell calls them."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command_line.calling import command, crossdesk
from tests.interactive.keyboard import Keyboard
from tests.running import RunningBroker
from tests.waiting import wait_until


def test_a_pipe_is_attached_and_the_exit_code_is_the_program_s(job: str) -> None:
    told = crossdesk("job", "attach", job, text="echo $((6*7))\nexit 5\n")
    assert told.code == 5
    assert "ready" in told.out
    assert "42" in told.out
    again = crossdesk("job", "attach", job, text="")
    assert (again.code, again.err) == (5, "The job has ended.\n")


def test_commands_and_files_beside_the_program(job: str, tmp_path: Path) -> None:
    told = crossdesk("job", "exec", job, "--", "sh", "-c", "echo $((6 * 7)) > made; exit 9")
    assert (told.code, told.err) == (9, "")
    assert crossdesk("job", "exec", job, "cat; echo ended").out == "ended\n"  # its input is the null device
    listed = crossdesk("job", "sftp", job, "ls", "--json")
    assert {"name": "made", "size": 3} in listed.json
    fetched = tmp_path / "fetched"
    assert crossdesk("job", "sftp", job, "get", "made", str(fetched)).code == 0
    assert fetched.read_text() == "42\n"
    assert crossdesk("job", "sftp", job, "put", str(fetched), "steer").code == 0
    assert crossdesk("job", "exec", job, "cat", "steer").out == "42\n"
    missing = crossdesk("job", "sftp", job, "get", "nothing", str(tmp_path / "none"))
    assert missing.code == 1
    assert "nothing" in missing.err


@pytest.mark.parametrize("agent", ["i2glogin", "bypass"])
def test_a_pipe_with_much_in_it_arrives_whole_before_its_end(
    running_broker: RunningBroker, tmp_path: Path, agent: str
) -> None:
    raw = tmp_path / "raw"
    script = f"stty raw -echo 2>/dev/null; touch {raw}; echo ready; sleep 1; head -c 3000000 | cksum"
    kind = f'Executable = "/bin/sh"; Interactive = true; InteractiveAgent = "{agent}";'
    (tmp_path / "job.jdl").write_text(f"{kind} Arguments = \"-c '{script}'\";")
    (identifier,) = crossdesk("job", "submit", "--json", str(tmp_path / "job.jdl")).json["ids"]
    (tmp_path / "data").write_bytes(b"".join(b"%08d line\n" % number for number in range(300_000)))
    wanted = subprocess.run(
        ["sh", "-c", f"head -c 3000000 {tmp_path / 'data'} | cksum"], capture_output=True, text=True
    ).stdout.strip()
    wait_until(raw.exists, what="the terminal takes bytes as they are")
    with (tmp_path / "data").open("rb") as data:
        done = subprocess.run(
            command("job", "attach", identifier), stdin=data, capture_output=True, text=True, timeout=120
        )
    assert wanted in done.stdout, done.stdout + done.stderr


def test_a_terminal_is_left_and_attached_again(job: str) -> None:
    first = Keyboard("job", "attach", job)
    wait_until(first.shows(b"ready"))
    first.type(b"echo once$((1 + 1))\r")
    wait_until(first.shows(b"once2"))
    first.type(b"\x1d")
    wait_until(first.shows(b"The program runs on"))
    assert first.process.wait(60) == 0
    first.close()
    second = Keyboard("job", "attach", job)
    wait_until(second.shows(b"once2"))
    second.type(b"exit 6\r")
    assert second.process.wait(60) == 6
    second.close()


def test_who_does_not_type_is_told_so_and_can_leave(job: str) -> None:
    first = Keyboard("job", "attach", job)
    wait_until(first.shows(b"ready"))
    second = Keyboard("job", "attach", job)
    wait_until(second.shows(b"another desk types"))
    second.type(b"echo in$((1 + 1))vain\r")
    first.type(b"echo on$((2 + 2))\r")
    wait_until(second.shows(b"on4"))
    second.type(b"\x1d")
    wait_until(second.shows(b"The program runs on"))
    assert second.process.wait(60) == 0
    second.close()
    first.type(b"exit 3\r")
    assert first.process.wait(60) == 3
    first.shows(b"")()
    assert b"in2vain" not in first.seen
    first.close()


def test_a_terminal_whose_desk_is_forgotten_says_so_and_ends(job: str, tmp_path: Path) -> None:
    other = {"XDG_DATA_HOME": str(tmp_path / "other")}
    keyboard = Keyboard("job", "attach", job, **other)
    wait_until(keyboard.shows(b"ready"))
    *_, desk = crossdesk("broker", "desks", "--json").json
    assert crossdesk("broker", "forget-desk", desk["fingerprint"]).code == 0
    wait_until(keyboard.shows(b"This desk was forgotten"))
    assert keyboard.process.wait(60) == 1
    keyboard.close()


def test_a_port_is_forwarded_until_ctrl_c(job: str) -> None:
    process = subprocess.Popen(
        command("job", "forward", job, "-R", "0:127.0.0.1:9"), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("remote  localhost:")
    assert line.endswith("-> 127.0.0.1:9\n")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    process.stdout.close()


def test_files_are_there_after_a_pause_in_which_nothing_was_typed(
    state_dir: Path, request: pytest.FixtureRequest
) -> None:
    state_dir.mkdir(mode=0o700)
    (state_dir / "broker.toml").write_text("agent_keepalive = 1.5\n")
    job = request.getfixturevalue("job")
    keyboard = Keyboard("job", "sftp", job)
    wait_until(keyboard.shows(b"sftp> "))
    assert crossdesk("job", "exec", job, "sleep", "6").code == 0
    keyboard.type(b"ls\nbye\n")
    wait_until(keyboard.shows(b".crossdesk-agent"))
    assert keyboard.process.wait(60) == 0
    keyboard.close()


@pytest.mark.cluster
def test_a_private_network_lasts_until_ctrl_c(job: str) -> None:
    refused = crossdesk("job", "network", job, "--here", "nowhere")
    assert (refused.code, "is no address" in refused.err) == (1, True)
    addresses = ("10.213.5.1", "10.213.5.2")
    words = command("job", "network", job, "--here", addresses[0], "--there", addresses[1])
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    near, here, _, _, far, there, *_ = process.stdout.readline().split()
    assert (here, there) == addresses
    for device, own, other in ((near, here, there), (far, there, here)):
        shown = subprocess.run(["ip", "address", "show", "dev", device], capture_output=True, text=True)
        assert f"inet {own} peer {other}/32" in shown.stdout
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    process.stdout.close()
    wait_until(lambda: not any(Path("/sys/class/net", one).exists() for one in (near, far)))


def test_desks_are_listed_and_forgotten(job: str) -> None:
    *_, desk = crossdesk("broker", "desks", "--json").json
    assert desk["added"] <= time.time()
    assert crossdesk("broker", "forget-desk", desk["fingerprint"], "--json").json == []


@pytest.mark.parametrize("words", [["-L", "80"], []])
def test_a_forward_that_says_too_little_is_refused_before_anything_is_asked(words: list[str]) -> None:
    assert crossdesk("job", "forward", "A" * 22, *words).code == 1
