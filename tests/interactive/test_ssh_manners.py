"""What users of ssh and sftp expect of `crossdesk job`: forms of forwards, batches, exit codes, desks."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.command_line.job.forward_forms import wishes
from broker_core.errors import BadRequest
from tests.command_line.calling import command, crossdesk

FORMS = [
    ("8080:far:80", ("127.0.0.1", 8080), ("far", 80)),
    ("0:localhost:5432", ("127.0.0.1", 0), ("localhost", 5432)),
    ("*:8080:far:80", ("0.0.0.0", 8080), ("far", 80)),
    ("[::1]:8080:[2001:db8::1]:80", ("::1", 8080), ("2001:db8::1", 80)),
    ("8080:/run/there.sock", ("127.0.0.1", 8080), "/run/there.sock"),
    ("::1:8080:far:80", None, None),
    ("/tmp/here:far:80", "/tmp/here", ("far", 80)),
    ("/tmp/here:/run/there", "/tmp/here", "/run/there"),
    ("127.0.0.1:8080:/run/there", ("127.0.0.1", 8080), "/run/there"),
    ("8080:80", None, None),
    ("8080", None, None),
    ("8080:far:0", None, None),
    ("70000:far:80", None, None),
    ("8080::80", None, None),
]


@pytest.mark.parametrize(("text", "listen", "target"), FORMS)
def test_forwards_are_written_as_for_ssh(text: str, listen: object, target: object) -> None:
    if listen is None:
        with pytest.raises(BadRequest):
            wishes([text], None, None)
        return
    assert wishes([text], None, None).local == ((listen, target),)


def test_ports_of_the_node_are_for_the_job_alone() -> None:
    assert wishes(None, ["0:here:80"], None).remote == ((("localhost", 0), ("here", 80)),)
    assert wishes(None, ["in.sock:here:80"], None).remote == (("in.sock", ("here", 80)),)
    with pytest.raises(BadRequest, match="own processes"):
        wishes(None, ["0.0.0.0:80:here:80"], None)
    assert wishes(None, None, ["1080", "[::1]:0"]).dynamic == (("127.0.0.1", 1080), ("::1", 0))
    with pytest.raises(BadRequest):
        wishes(None, None, ["a:b:1080"])


@pytest.fixture
def capitals() -> Iterator[int]:
    """Port of a server that says one line again, in capitals."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    come, _ = server.accept()
                except OSError:
                    return
                with come:
                    come.sendall(come.recv(1000).upper())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def asked(place: tuple[str, int] | str, first: bytes = b"") -> bytes:
    """What a server answers; `first`: a request of SOCKS 5 that is granted before."""
    kind = socket.AF_UNIX if isinstance(place, str) else socket.AF_INET
    with socket.socket(kind, socket.SOCK_STREAM) as connection:
        connection.settimeout(20)
        connection.connect(place)
        if first:
            connection.sendall(b"\5\1\0")
            assert connection.recv(2) == b"\5\0"
            connection.sendall(first)
            if (granted := connection.recv(10)) != b"\5\0\0\1" + bytes(6):
                return granted
        connection.sendall(b"hello")
        return connection.recv(100)


def test_ports_sockets_and_socks_lead_to_the_node(job: str, capitals: int, tmp_path: Path) -> None:
    here = str(tmp_path / "here")
    words = ["-L", f"0:127.0.0.1:{capitals}", "-L", f"{here}:127.0.0.1:{capitals}", "-D", "0"]
    words += ["-R", f"inside.sock:127.0.0.1:{capitals}"]
    with subprocess.Popen(
        command("job", "forward", job, *words), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().split() for _ in range(4)]
        ports = [int(line[1].rpartition(":")[2]) for line in told if ":" in line[1]]
        assert asked(("127.0.0.1", ports[0])) == b"HELLO"
        assert asked(here) == b"HELLO"
        name = b"localhost"
        wanted = b"\5\1\0\3" + bytes([len(name)]) + name + capitals.to_bytes(2, "big")
        assert asked(("127.0.0.1", ports[1]), wanted) == b"HELLO"
        refused = b"\5\1\0\1\x7f\0\0\1" + (1).to_bytes(2, "big")
        assert asked(("127.0.0.1", ports[1]), refused)[1] == 1
        through = crossdesk("job", "exec", job, "python3 -c '\n"
            "import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"inside.sock\")\n"
            "s.sendall(b\"hello\"); print(s.recv(9).decode())'")  # fmt: skip
        assert through.out == "HELLO\n", through.err
        process.terminate()
    left = crossdesk("job", "exec", job, "while ls -A | grep sock; do sleep 0.1; done; echo gone")
    assert left.out.endswith("gone\n")


def test_files_are_carried_by_batches_wildcards_and_by_hand(job: str, tmp_path: Path) -> None:
    for name in ("one.dat", "two.dat", "other"):
        (tmp_path / name).write_text(name)
    (tmp_path / "back").mkdir()
    batch = tmp_path / "batch"
    batch.write_text(
        f"# results\nlcd {tmp_path}\nmkdir into\ncd into\nput *.dat\n-rm nothing\nput other 'an other'\n"
        "rename one.dat first.dat\nls -l\ncd\nget into/*.dat back\nrm into/*\nrmdir into\nls\n"
    )
    done = crossdesk("job", "sftp", job, "-b", str(batch), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "-rw" in done.out
    assert "an other" in done.out
    assert sorted(os.listdir(tmp_path / "back")) == ["first.dat", "two.dat"]
    assert (tmp_path / "back" / "first.dat").read_text() == "one.dat"
    assert "into" not in done.out.splitlines()[-1]
    batch.write_text("get nothing\nmkdir never\n")
    failed = crossdesk("job", "sftp", job, "-b", str(batch))
    assert failed.code == 1
    assert "nothing" in failed.err
    typed = crossdesk("job", "sftp", job, text="frobnicate\npwd\nquit\nmkdir never\n")
    assert (typed.code, typed.out) == (1, "/\n")
    assert "no command" in typed.err
    assert "never" not in crossdesk("job", "sftp", job, "ls").out
    assert crossdesk("job", "sftp", job, "frobnicate").code == 1


def test_commands_end_as_a_shell_tells_it(job: str) -> None:
    assert crossdesk("job", "exec", job, "exit 7").code == 7
    assert crossdesk("job", "exec", job, "--", "sh", "-c", "kill -9 $$").code == 137
    assert crossdesk("job", "exec", job, "no-such-program").code == 127
    words = crossdesk("job", "exec", job, "printf", "<%s>", "a b", "-l", "$HOME", "--", "*")
    assert words.out == "<a b><-l><$HOME><--><*>"
    assert crossdesk("job", "exec", job, "echo one | tr a-z A-Z").out == "ONE\n"
    assert "/dev/pts" in crossdesk("job", "exec", "-t", job, "tty").out
    assert crossdesk("job", "exec", job, "cat", text="fed").out == "fed"
    late = crossdesk("job", "exec", job, "-X", "--", "xterm")
    assert late.code == 1
    assert "before the job" in late.err


def test_a_desk_is_added_by_another_one(job: str, tmp_path: Path) -> None:
    other = {"XDG_DATA_HOME": str(tmp_path / "other")}
    shown = crossdesk("broker", "add-desk", "--show", **other).out.strip()
    assert shown.startswith("ssh-ed25519 ")
    added = crossdesk("broker", "add-desk", shown, "--name", "workstation", "--json").json
    assert [desk["name"] for desk in added][1:] == ["workstation"]
    assert added[1]["added_by"].startswith("desk ")
    fingerprint = added[1]["fingerprint"]
    assert crossdesk("job", "exec", job, "echo in", **other).out == "in\n"
    assert crossdesk("broker", "forget-desk", fingerprint).code == 0
    refused = crossdesk("job", "exec", job, "echo in", **other)
    assert refused.code == 1
    assert "forgotten" in refused.err
    assert crossdesk("broker", "add-desk", **other).code == 0
    assert crossdesk("job", "exec", job, "echo again", **other).out == "again\n"
