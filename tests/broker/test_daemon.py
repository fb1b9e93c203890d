"""The broker as a process: its start, its end, its refusals, and who may talk to it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import orjson
import pytest

from broker_core.broker.api.authentication import Authentication
from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BadRequest
from broker_core.settings.settings import Settings, load
from broker_core.system.paths import places
from tests.broker.jobs import reach, script
from tests.running import RunningBroker, processes_of
from tests.waiting import wait_until


def serve(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "broker_core.broker.daemon", *words],
        capture_output=True,
        timeout=60,
        check=False,
    )


async def test_a_running_job_goes_on_while_the_broker_is_away_and_is_found_again(
    running_broker: RunningBroker, tmp_path: Path
) -> None:
    state_dir, gate = running_broker.state_dir, tmp_path / "gate"
    body = f"while [ ! -e {gate} ]; do sleep 0.05; done; echo survived; exit 4"
    async with BrokerClient(BrokerTransport(state_dir)) as client:
        job = await script(client, body, description='StdOutput = "out";')
        await reach(client, job, "Running")
        running_broker.kill(signal.SIGTERM)
        assert not places(state_dir).socket.exists()
        gate.touch()
        wait_until(lambda: not processes_of(state_dir / "sites"), what="it ends by itself")
        running_broker.start()
    async with BrokerClient(BrokerTransport(state_dir)) as client:
        row = await reach(client, job, "Done")
        assert row["exit_code"] == 4
        assert (await client.read_file(job, "out")).content == b"survived\n"


async def test_stop_and_handover_end_the_broker_cleanly(running_broker: RunningBroker) -> None:
    for ask in ("stop", "handover"):
        async with BrokerClient(BrokerTransport(running_broker.state_dir)) as client:
            await getattr(client, ask)()
        running_broker.kill(signal.SIGCONT)  # changes nothing; waits for the end
        assert not places(running_broker.state_dir).holder.exists()
        running_broker.start()
    async with BrokerClient(BrokerTransport(running_broker.state_dir)) as client:
        assert (await client.info()).epoch == 3


def test_what_the_broker_makes_is_for_its_owner_only(broker: Path) -> None:
    where = places(broker)
    assert stat.S_IMODE(where.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(where.socket.parent.stat().st_mode) == 0o700
    for path in [broker, *broker.rglob("*")]:
        if not path.is_symlink():
            assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize("state", ["/proc/nowhere", "/dev/null/state"])
def test_a_state_directory_that_cannot_be_used_is_named_with_a_remedy(state: str) -> None:
    ended = serve("--state-dir", state)
    said = orjson.loads(ended.stderr.splitlines()[-1])
    assert ended.returncode == 1
    assert state.split("/")[1] in said["place"]
    assert "--state-dir" in said["remedy"]


async def test_another_user_is_refused() -> None:
    async def never(scope: object, receive: object, send: object) -> None:
        raise AssertionError("the application was reached")

    async def stranger(scope: dict[str, object], receive: object, send: object) -> None:
        scope["state"] = {"uid": os.getuid() + 1}
        await Authentication(never, 1000)(scope, receive, send)  # type: ignore[arg-type]

    carrier = httpx.ASGITransport(app=stranger)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=carrier, base_url="http://broker") as http:
        answer = await http.get("/v1/jobs")
    assert (answer.status_code, answer.json()["code"]) == (403, "not_authorised")


def test_the_stronger_settings_file_wins_and_every_value_tells_its_origin(tmp_path: Path) -> None:
    weak, strong = tmp_path / "weak.toml", tmp_path / "strong.toml"
    weak.write_text('mode = "shared"\ncpus = 3\n')
    strong.write_text("cpus = 5\n")
    settings = load([weak, strong, tmp_path / "none.toml"], {"cpus": None})
    assert (settings.cpus, settings.mode, settings.sandbox_limit) == (5, "shared", 10_000_000)
    origins = {name: origin for name, _, origin, _ in settings.table()}
    assert (origins["cpus"], origins["mode"], origins["log_bytes"]) == (str(strong), str(weak), "default")


@pytest.mark.parametrize(
    "text",
    ["cpus = -1", 'cpus = "two"', "nonsense = 1", "cpus = ", 'mode = "secret"',
     "mpi_tags = {a = 1}", "administrators = [1]", 'set_matching = "magic"', "stale_after = inf"],
)  # fmt: skip
def test_a_wrong_setting_is_named_with_its_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broker.toml"
    path.write_text(text)
    with pytest.raises(BadRequest) as refused:
        load([path])
    assert refused.value.place == str(path)


def test_the_sandbox_limit_follows_the_mode() -> None:
    assert [Settings(mode=mode).sandbox_limit for mode in ("embedded", "shared", "compatible")] == [
        1_000_000_000, 10_000_000, 1_000_000
    ]  # fmt: skip


def test_the_name_of_the_socket_fits_even_below_a_long_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    deep = tmp_path / ("long" * 30)
    assert len(os.fsencode(places(deep).new_socket)) <= 107
    assert places(deep).new_socket != places(tmp_path / ("other" * 30)).new_socket
