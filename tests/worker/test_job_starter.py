"""The Job Starter under each shell, with real processes."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.contract import InputFile
from broker_core.sites.local.processes import send
from broker_core.sites.remote.stage_out import read_outputs
from broker_core.worker.encoding import decode, encode
from broker_core.worker.markers import ended_mark, read_ended, read_started, started_mark
from broker_core.worker.script import starter_path
from tests.running import processes_of
from tests.testbed.disk import small_disk as mounted
from tests.waiting import wait_until
from tests.worker.starting import ATTEMPT, SHELLS, run

SHOW = """
import json, os, sys
words = [os.fsencode(word).hex() for word in sys.argv[1:]]
json.dump([words, {name.hex(): value.hex() for name, value in os.environb.items()}], sys.stdout)
"""


@pytest.fixture(params=SHELLS, ids=lambda words: Path(words[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


def test_a_program_gets_its_words_and_its_end_is_recorded(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "a b", "sh", "-c", 'printf %s "$1"; exit 7', "x", "$HOME * `id`")
    assert (code, mark.exit_code, mark.failure) == (7, 7, "")
    assert (tmp_path / "a b/job/out").read_text() == "$HOME * `id`"
    started = read_started(tmp_path / "a b")
    assert started is not None
    assert started.pid > 0


def test_a_second_start_is_refused(shell: list[str], tmp_path: Path) -> None:
    run(shell, tmp_path / "d", "sh", "-c", "echo once >>seen")
    code, _ = run(shell, tmp_path / "d", "sh", "-c", "echo twice >>seen")
    assert code == 226
    assert (tmp_path / "d/job/seen").read_text() == "once\n"


def test_a_missing_program_has_its_own_code(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "d", "no such program")
    assert (code, mark.failure, mark.exit_code) == (221, "executable-missing", None)
    assert "no such program" in mark.reason
    assert read_started(tmp_path / "d") is None


def test_a_program_may_end_with_127_itself(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "d", "sh", "-c", "exit 127")
    assert (code, mark.exit_code, mark.failure) == (199, 127, "")


def test_a_script_with_a_missing_interpreter_is_told_apart(shell: list[str], tmp_path: Path) -> None:
    script = tmp_path / "d/job/run"
    script.parent.mkdir(parents=True)
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    code, mark = run(shell, tmp_path / "d", "./run")
    assert (code, mark.failure) == (221, "executable-missing")


def test_a_signal_is_told(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "d", "sh", "-c", "kill -9 $$")
    assert (code, mark.exit_code, mark.signal) == (137, None, 9)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGINT, signal.SIGPIPE, signal.SIGUSR1]
)
def test_each_signal_is_told(shell: list[str], tmp_path: Path, number: signal.Signals) -> None:
    code, mark = run(shell, tmp_path / "d", "sh", "-c", f"ulimit -c 0; kill -{number} $$")
    assert (code, mark.exit_code, mark.signal) == (128 + number, None, number)


@pytest.mark.parametrize("status", [137, 143, 147, 192])
def test_a_program_may_end_itself_with_what_looks_like_a_signal(
    shell: list[str], tmp_path: Path, status: int
) -> None:
    code, mark = run(shell, tmp_path / "d", "sh", "-c", f"echo mine >&2; exit {status}")
    assert (code, mark.exit_code, mark.signal) == (199, status, None)
    assert (tmp_path / "d/job/err").read_text() == "mine\n"
    assert not (tmp_path / "d/said").exists()


@pytest.mark.parametrize(("how", "code", "number"), [("exit 143", 143, None), ("kill -15 $$", None, 15)])
def test_bash_under_the_name_of_sh_tells_both_apart_too(
    tmp_path: Path, how: str, code: int | None, number: int | None
) -> None:
    _, mark = run(["bash", "--posix"], tmp_path / "d", "sh", "-c", how)
    assert (mark.exit_code, mark.signal) == (code, number)


def test_a_missing_input_file_is_a_failed_download(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "d", "true", inputs=(InputFile("a,b", Path("a,b"), False),))
    assert (code, mark.failure) == (220, "download")
    assert "a,b" in mark.reason


def test_standard_output_and_error_may_be_one_file(shell: list[str], tmp_path: Path) -> None:
    run(shell, tmp_path / "d", "sh", "-c", "echo one; echo two >&2; echo three", stdout="all", stderr="all")
    assert (tmp_path / "d/job/all").read_text() == "one\ntwo\nthree\n"


def test_standard_input_is_a_file_of_the_job(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "d/job").mkdir(parents=True)
    (tmp_path / "d/job/in put").write_text("hello")
    run(shell, tmp_path / "d", "cat", stdin="in put")
    assert (tmp_path / "d/job/out").read_text() == "hello"


def test_the_wall_limit_ends_the_whole_tree(shell: list[str], tmp_path: Path) -> None:
    tree = "trap '' TERM; (trap '' TERM; sleep 600) & setsid sleep 600 & sleep 600; sleep 600; wait"
    code, mark = run(shell, tmp_path / "d", "sh", "-c", tree, wall_limit=0.3, kill_grace=1)
    assert (code, mark.failure) == (224, "wall-limit")


def test_a_job_below_its_wall_limit_leaves_no_watchdog(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "d", "sleep", "0.2", wall_limit=500)
    assert (code, mark.failure) == (0, "")


def test_an_output_flood_is_kept_up_to_the_limit(shell: list[str], tmp_path: Path) -> None:
    code, mark = run(shell, tmp_path / "d", "yes", file_limit=3_072_000)
    assert (code, mark.failure) == (225, "output-limit")
    assert (tmp_path / "d/job/out").stat().st_size == 3_072_000


def test_output_files_are_matched_and_missing_ones_named(shell: list[str], tmp_path: Path) -> None:
    _, mark = run(
        shell, tmp_path / "d", "sh", "-c", "echo 1 >a.csv; echo 2 >'b c.csv'", outputs=["*.csv", "no $x"]
    )
    assert mark.missing == ("no $x",)
    assert "b c.csv" in (tmp_path / "d/outputs").read_text()


def test_a_folder_is_listed_with_all_its_files(shell: list[str], tmp_path: Path) -> None:
    made = "mkdir -p 'r s/deep/.er' empty; echo 1 >'r s/a b'; echo 22 >'r s/deep/.er/c'; echo 3 >top"
    made += "; ln -s . 'r s/loop'; ln -s / away"
    outputs = ["top", "r s", "empty", "r s/deep/", "away", "away/"]
    _, mark = run(shell, tmp_path / "d", "sh", "-c", made, outputs=outputs)
    proofs = read_outputs((tmp_path / "d/outputs").read_bytes())
    assert {name: proof.size for name, proof in proofs.items()} == {
        "top": 2,
        "r s/a b": 2,
        "r s/deep/.er/c": 3,
    }
    assert proofs["r s/deep/.er/c"].sha256 == hashlib.sha256(b"22\n").hexdigest()
    assert mark.missing == ("empty", "away", "away/")


def test_all_files_that_the_job_made_are_listed_and_its_inputs_are_not(
    shell: list[str], tmp_path: Path
) -> None:
    inputs = ("in.dat", "in [1]?.dat", "-x", "back\\slash")
    (tmp_path / "d/job").mkdir(parents=True)
    for name in inputs:
        (tmp_path / "d/job" / name).write_text("sent")
    made = "mkdir -p 'r s/.er'; echo 1 >'r s/a b'; echo 22 >'r s/.er/c'; echo 3 >in1.dat"
    made += "; ln -s in.dat link; mkfifo f"
    sent = [InputFile(name, Path(name), False) for name in inputs]
    _, mark = run(
        shell,
        tmp_path / "d",
        "sh",
        "-c",
        made,
        outputs=["."],
        inputs=sent,
    )
    proofs = read_outputs((tmp_path / "d/outputs").read_bytes())
    assert {name: proof.size for name, proof in proofs.items()} == {
        "r s/a b": 2, "r s/.er/c": 3, "in1.dat": 2, "out": 0, "err": 0,
    }  # fmt: skip
    assert proofs["r s/.er/c"].sha256 == hashlib.sha256(b"22\n").hexdigest()
    assert mark.missing == ()


def test_output_to_a_folder_makes_the_folder(shell: list[str], tmp_path: Path) -> None:
    run(shell, tmp_path / "d", "echo", "x", stdout="logs/deep/out")
    assert (tmp_path / "d/job/logs/deep/out").read_text() == "x\n"


def test_an_agent_starts_the_program(shell: list[str], tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    given_ = {
        "__directory": str(directory),
        "__job": "echo",
        "__arguments": "a",
        "__interactive": "1",
        "__attempt": ATTEMPT,
        "__interactive_agent": "env",
        "__interactive_agent_args": "AGENT=1",
        "PATH": os.environ["PATH"],
    }
    subprocess.run([*shell, str(starter_path())], env=given_, check=True)
    assert (directory / "job/std.out").read_text() == "a\n"


@pytest.mark.parametrize(
    ("said", "kind", "status"),
    [
        ("No desk came back.\nno-desk\n", "no-desk", 228),
        ("No desk came back.\n", "agent", 222),
        ("No display.\nsome other\n", "agent", 222),
        ("cut off", "agent", 222),
    ],
)
def test_what_an_agent_says_of_its_end_is_told_with_its_kind(
    shell: list[str], tmp_path: Path, said: str, kind: str, status: int
) -> None:
    agent = tmp_path / "agent"
    agent.write_text('#!/bin/sh\nprintf %s "$SAID" >../agent-failure\nexit 9\n')
    agent.chmod(0o755)
    code, mark = run(
        shell,
        tmp_path / "d",
        "echo",
        interactive=True,
        agents=(CachedProgram(str(agent), agent, ""),),
        environment=(("SAID", said),),
    )
    assert (code, mark.failure, mark.exit_code) == (status, kind, 9)
    assert mark.reason == said.partition("\n")[0]


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True).filter(
    lambda n: n not in ("LD_PRELOAD", "PATH")
)


@given(value=texts)
def test_any_text_survives_the_encoding(value: str) -> None:
    assert decode(encode(value)) == value


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(texts, max_size=6), pairs=st.dictionaries(names, texts, max_size=4))
def test_any_argument_and_variable_reaches_the_program(
    shell: list[str], tmp_path_factory: pytest.TempPathFactory, words: list[str], pairs: dict[str, str]
) -> None:
    pairs = {name: value for name, value in pairs.items() if not name.startswith(("PYTHON", "LD_", "MALLOC"))}
    directory = tmp_path_factory.mktemp("n") / "d"
    run(shell, directory, sys.executable, "-c", SHOW, *words, environment=tuple(pairs.items()))
    argv, environ = json.loads((directory / "job/out").read_text())
    assert [bytes.fromhex(word).decode() for word in argv] == words
    for name, value in pairs.items():
        assert bytes.fromhex(environ[name.encode().hex()]).decode() == value


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Where attempts lie: a small file system."""
    with mounted(tmp_path / "disk") as disk:
        (disk / "news").mkdir()
        yield disk


@pytest.mark.root
def test_a_job_that_fills_the_disk_leaves_a_record_of_its_end(shell: list[str], small_disk: Path) -> None:
    text = "cat /dev/zero >fill 2>err; exit 3"
    run(shell, small_disk / ATTEMPT, "sh", "-c", text, news=str(small_disk / "news"))
    ended = read_ended(small_disk / ATTEMPT)
    assert ended is not None
    assert (ended.exit_code, ended.failure) == (3, "")
    assert (small_disk / "news" / f"{ATTEMPT}.e").read_bytes().endswith(b"\n.\n")


@pytest.mark.root
def test_what_cannot_be_recorded_to_have_begun_does_not_begin(shell: list[str], small_disk: Path) -> None:
    """Else the broker takes it for never begun, and has it begun again."""
    with contextlib.suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as fill:
        while True:
            fill.write(bytes(4096))
    os.truncate(small_disk / "fill", (small_disk / "fill").stat().st_size - 8192)
    ran = small_disk.parent / "ran"
    program = ("sh", "-c", f"rm {small_disk}/fill; echo ran >{ran}")
    code, mark = run(shell, small_disk / ATTEMPT, *program, news=str(small_disk / "news"), beat=1)
    assert (code, mark.failure, mark.exit_code) == (227, "starter", None)
    assert not ran.exists()


def uptime() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def test_a_lease_counts_from_its_renewal_and_not_from_when_that_was_seen(tmp_path: Path) -> None:
    """However rarely the starter looks: the broker does not know when it does."""
    lease, place = tmp_path / "lease", tmp_path / ATTEMPT
    lease.write_text("1\n")
    numbers = itertools.count(2)

    def renewed_until(mark: str) -> None:
        def there() -> bool:
            lease.write_text(f"{next(numbers)}\n")
            return (place / mark).exists()

        wait_until(there, what=mark)

    def renew() -> None:
        renewed_until("started")
        everything = processes_of(place)
        send(everything, signal.SIGSTOP)
        end = uptime() + 8.1
        wait_until(lambda: uptime() > end, what="the lease is over")
        send(everything, signal.SIGCONT)
        renewed_until("ended")  # who counts from what is seen now goes on for ever

    broker = threading.Thread(target=renew)
    broker.start()
    more = {"news": str(tmp_path), "beat": 7, "lease": 8, "lease_file": str(lease), "kill_grace": 1}
    _, mark = run(SHELLS[0], place, "sleep", "600", **more)
    broker.join()
    assert mark.failure == "lease"


def test_a_lease_that_says_when_it_was_renewed_needs_no_further_renewal(
    shell: list[str], tmp_path: Path
) -> None:
    """As a glidein writes it, on the same node; what is too old does not count."""
    lease = tmp_path / "lease"
    more = {"news": str(tmp_path), "beat": 1, "lease": 2, "lease_file": str(lease)}
    lease.write_text(f"1 {int(100 * uptime())}\n")
    _, mark = run(shell, tmp_path / "fresh", "true", **more)
    assert (mark.failure, mark.exit_code) == ("", 0)
    lease.write_text(f"1 {int(100 * uptime()) - 201}\n")
    _, mark = run(shell, tmp_path / "old", "true", **more)
    assert mark.failure == "lease"
    assert not (tmp_path / "old" / "started").exists()


WORDS = st.sampled_from(
    ["pid", "exit", "failure", "uptime", "time", "missing", "reason", "terminated", "times"]
)
VALUES = st.one_of(
    st.text(max_size=20),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["9" * 5000, "1m9.9.9s"]),
)


@given(st.lists(st.tuples(WORDS, VALUES), max_size=12))
def test_whatever_a_job_writes_in_the_place_of_a_marker_is_read_or_is_none(
    lines: list[tuple[str, str]],
) -> None:
    raw = "".join(f"{word} {value}\n" for word, value in lines).encode("utf-8", "surrogatepass") + b".\n"
    for text in (raw, raw.replace(b"times ", b"times\n")):
        started, ended = started_mark(text, 5.0), ended_mark(text, 5.0)
        assert started is None or math.isfinite(started.time)
        if ended is not None:
            assert ended.exit_code is None or 0 <= ended.exit_code <= 255
            assert math.isfinite(ended.time)
