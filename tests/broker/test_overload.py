"""More submissions than the scheduler can look at (reliability case 22): refused for now, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import httpx

from broker_core.system.paths import places
from tests.broker.jobs import key
from tests.running import RunningBroker


async def test_what_is_too_much_is_refused_with_the_time_to_try_again_and_nothing_is_kept(
    state_dir: Path,
) -> None:
    state_dir.mkdir(exist_ok=True)
    (state_dir / "broker.toml").write_text("backlog_max = 0\n")
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        carrier = httpx.AsyncHTTPTransport(uds=str(places(state_dir).socket))
        async with httpx.AsyncClient(transport=carrier, base_url="http://broker/v1", timeout=60) as http:
            body = {"key": key(), "items": [{"description": 'Executable = "/bin/true";'}]}
            answer = await http.post("/submissions", json=body)
            told = answer.json()
            assert (answer.status_code, told["code"], answer.headers["Retry-After"]) == (503, "busy", "2")
            assert "Nothing was accepted" in told["remedy"]
            assert (await http.get("/broker")).json()["jobs"] == {}
    finally:
        broker.close()
