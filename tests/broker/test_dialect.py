"""A broker that is set to gLite's dialect decides by gLite's rules, and its clients check by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.fetch import fetch_output
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BadRequest, DescriptionRefused
from broker_core.settings.settings import load
from tests.broker.jobs import reach, submit
from tests.running import RunningBroker


def test_the_dialect_is_one_of_those_that_are_known() -> None:
    assert load([]).dialect == "crossdesk"
    with pytest.raises(BadRequest) as refused:
        load([], {"dialect": "jsdl"})
    assert "crossdesk, glite, cream" in refused.value.remedy


async def test_a_broker_decides_by_the_dialect_that_it_is_set_to(state_dir: Path) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text('dialect = "glite"\n')
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir)) as client:
            assert (await client.info()).dialect == "glite"
            with pytest.raises(DescriptionRefused) as refused:
                await submit(client, 'Executable = "/bin/true"; InputData = "lfn:/a";')
            assert "DataAccessProtocol" in refused.value.message
            receipt = await submit(client, 'Executable = "/bin/true";')
            job = await reach(client, receipt.ids[0], "Done")
            assert "Production" in (await client.job(receipt.ids[0])).effective, job
    finally:
        broker.close()


async def test_a_broker_that_keeps_to_what_was_published_brings_nothing_that_is_not_named(
    state_dir: Path, tmp_path: Path
) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text('mode = "compatible"\n')
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir)) as client:
            text = """Executable = "/bin/sh"; Arguments = "-c 'echo 1 >made'";"""
            for more in ("", "OutputSandbox = {};"):
                job = (await submit(client, text + more)).ids[0]
                await reach(client, job, "Done")
                assert (await client.job(job)).output_sandbox == []
                assert [one.path for one in (await client.stayed(job)).files] == ["made"]
                fetched = await fetch_output(client, job, tmp_path)
                assert "made" not in {path.name for path in fetched.files}
    finally:
        broker.close()
