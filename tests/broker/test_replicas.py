"""Files in grid storage: computing close to them comes first, by what the catalogue of the settings says."""

from __future__ import annotations

import json
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from tests.running import RunningBroker
from tests.waiting import eventually

RESOURCE = """
[[resources]]
ce = "{0}.example.org:2119/jobmanager-pbs-long"
site = "{0}"
GlueCEInfoTotalCPUs = 8
GlueCEStateFreeCPUs = 8
GlueCESEBindGroupSEUniqueID = ["se.{0}.example.org"]
"""
WANTED = 'Executable = "/bin/true"; InputData = {"lfn:/data/run1", "lfn:/data/run2"};'


async def test_resources_close_to_the_files_of_a_job_come_first(state_dir: Path) -> None:
    state_dir.mkdir()
    grid = state_dir / "grid.toml"
    grid.write_text("".join(RESOURCE.format(name) for name in ("ant", "bee", "cat")))
    (state_dir / "broker.toml").write_text(f'[[sources]]\nname = "grid"\nkind = "file"\npath = "{grid}"\n')
    copies = {"lfn:/data/run1": ["srm://se.cat.example.org/run1"]}
    copies["lfn:/data/run2"] = [*copies["lfn:/data/run1"], "srm://se.bee.example.org/run2"]
    (state_dir / "replicas.json").write_text(json.dumps(copies))
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir)) as client:

            async def known() -> bool:
                return (await client.resources_page()).total == 4

            await eventually(known)
            report = await client.match(WANTED, only="matching", assume_access=True)
            found = {one.site: one.close_files for one in report.resources}
            assert list(found)[:2] == ["cat", "bee"]
            assert found == {"cat": 2, "bee": 1, "ant": 0, "local": 0}
    finally:
        broker.close()
